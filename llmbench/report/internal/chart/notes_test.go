package chart

import (
	"bytes"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// pointsOf returns a chart of a line, whose axes end below outliers.
func pointsOf(clip bool, points ...Point) *Chart {
	return &Chart{ID: "x", Title: "X", Half: true, Panels: []*Panel{{X: Axis{Label: "one user", Zero: true, Clip: clip}, Y: Axis{Label: "all users", Zero: true, Both: true, Clip: clip}, Series: []*Series{{Name: "a", Points: points}}}}}
}

// TestOutliers checks that one outlier does not flatten a picture, and that an arrow with its number says so. The data and
// the logarithmic drawing have all numbers.
func TestOutliers(t *testing.T) {
	points := []Point{At(1, 10), At(2, 20), At(3, 30), At(4, 4321), At(5, 25)}
	html, err := pointsOf(true, points...).HTML()
	assert.NilError(t, err)
	drawings := strings.SplitAfter(html, "</svg>")
	assert.Assert(t, strings.Contains(drawings[0], "↑ 4321") && strings.Contains(drawings[0], ">30<") && !strings.Contains(drawings[0], ">4000<"), drawings[0])
	assert.Assert(t, strings.Contains(drawings[2], "logarithmic") && !strings.Contains(drawings[2], "↑"), drawings[2])
	assert.Assert(t, strings.Contains(html, "4321]"), "not in the data")
	var table bytes.Buffer
	assert.NilError(t, pointsOf(true, points...).CSV(&table))
	assert.Assert(t, strings.Contains(table.String(), ",4321,"), table.String())

	html, err = pointsOf(false, points...).HTML()
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(html, "↑") && strings.Contains(html, ">4000<"))

	// A run that is an outlier is told although the median is none. An outlier in the places has an arrow to the right.
	points[3] = Point{X: 4, Value: 22, Low: 20, High: 999}
	points[4].X = 5000
	html, err = pointsOf(true, points...).HTML()
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(html, "↑ 999") && strings.Contains(html, "→ 5000"), html)
}

// TestUsual checks which numbers are outliers.
func TestUsual(t *testing.T) {
	var many []float64
	for i := range 40 {
		many = append(many, float64(100+i))
	}
	for _, c := range []struct {
		numbers []float64
		want    float64 // 0 if there are no outliers
	}{
		{nil, 0}, {[]float64{1, 100}, 0}, {[]float64{1, 2, 100}, 0}, {[]float64{1, 2, 3, 100}, 3}, {[]float64{1, 4, 16, 64}, 0},
		{[]float64{0, 0, 0, 5}, 0}, {[]float64{1, 1, 100, 100}, 0}, {append(many, 9000, 9001), 139}, {append(many, 9000, 9001, 9002), 0},
	} {
		limit := usual(c.numbers)
		for _, v := range c.numbers {
			assert.Equal(t, v > limit, c.want > 0 && v > c.want, "%v: %v", c.numbers, v)
		}
	}
}

// TestLabels checks that labels are written where there is room, and left out where there is none.
func TestLabels(t *testing.T) {
	label := func(p Point, text string) Point { p.Label = text; return p }
	html, err := pointsOf(false, label(At(1, 1), "one"), label(At(100, 100), "two")).HTML()
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(html, ">one</text>") && strings.Contains(html, ">two</text>"), html)
	var crowd []Point
	for range 60 {
		crowd = append(crowd, label(At(50, 50), "crowded"))
	}
	html, err = pointsOf(false, append(crowd, At(100, 100))...).HTML()
	assert.NilError(t, err)
	n := strings.Count(strings.Split(html, "</svg>")[0], ">crowded</text>")
	assert.Assert(t, n > 0 && n < 20, "%d labels", n)
}
