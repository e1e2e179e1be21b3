package chart

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// hostile is a text that must not become an HTML element.
const hostile = `</script><img src=x onerror="alert(1)">&` + "\x00"

// sweep returns a chart that has two panels with all kinds of series.
func sweep() *Chart {
	c := &Chart{ID: "sweep", Title: "A sweep " + hostile, Columns: 3}
	for i := range 2 {
		a, b := &Series{Name: "a " + hostile, Look: LookOf(0)}, &Series{Name: "b", Look: LookOf(1)}
		for _, x := range []float64{1, 2, 4, 8, 16, 32} {
			a.Points = append(a.Points, Point{X: x, Value: 1e6 * x, Low: 0.9e6 * x, High: 1.2e6 * x, Text: "3 samples"})
			b.Points = append(b.Points, At(x, 2e6+x))
		}
		b.Points[5].Doubt = "the client was busy"
		c.Panels = append(c.Panels, &Panel{Title: fmt.Sprint("latency ", i), X: Axis{Label: "concurrency", Log: true, Ticks: []float64{1, 2, 4, 8, 16, 32}},
			Y: Axis{Label: "TTFT", Unit: "ms", Base: "ns", Scale: 1e-6, Zero: true, Both: true}, Series: []*Series{a, b}})
	}
	c.Panels = append(c.Panels, &Panel{Title: "empty", Series: []*Series{{Name: "nothing"}}})
	return c
}

// laned returns a chart with lanes.
func laned() *Chart {
	bars := func(name string, by float64) *Series {
		return &Series{Name: name, Kind: Bars, Points: []Point{{X: 0, Value: 2 * by, Low: by, High: 3 * by}, {X: 1, Value: -by, Low: -2 * by, High: 0}}}
	}
	return &Chart{ID: "lanes", Title: "Lanes", Panels: []*Panel{{Lanes: []string{strings.Repeat("a long label ", 30), "short"}, Beside: true,
		Y: Axis{Unit: "%"}, Series: []*Series{bars("old", 1), bars("new", 2), {Name: "limit", Kind: Limits, Points: []Point{At(0, 5), At(1, 5)}}}}}}
}

// texts returns the texts in an SVG. The SVG must be well-formed.
func texts(t *testing.T, svg string) (all []string) {
	t.Helper()
	in := xml.NewDecoder(strings.NewReader(svg))
	for within := false; ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		assert.NilError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			assert.Assert(t, token.Name.Local != "img")
			within = token.Name.Local == "text"
		case xml.EndElement:
			within = false
		case xml.CharData:
			if within {
				all = append(all, string(token))
			}
		}
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []*Chart{sweep(), laned()} {
		var svg, img, data bytes.Buffer
		assert.NilError(t, c.SVG(&svg))
		found := texts(t, svg.String())
		assert.Assert(t, len(found) > 6 && !strings.Contains(svg.String(), "NaN") && !strings.Contains(svg.String(), "var("), "%q", found)
		for _, s := range c.legend() {
			assert.Assert(t, strings.Contains(strings.Join(found, "\n"), strings.Fields(s.Name)[0]), s.Name)
		}
		assert.NilError(t, c.PNG(&img))
		_, err := png.Decode(&img)
		assert.NilError(t, err)
		assert.NilError(t, c.CSV(&data))
		n := 0
		for _, p := range c.Panels {
			for _, s := range p.Series {
				n += len(s.Points)
			}
		}
		assert.Equal(t, strings.Count(data.String(), "\n"), n+1)
	}
	var data bytes.Buffer
	assert.NilError(t, sweep().CSV(&data))
	assert.Assert(t, strings.Contains(data.String(), "latency 0,b,32,concurrency,2.000032e+06,2.000032e+06,2.000032e+06,ns,the client was busy\n"), data.String())
	data.Reset()
	named := sweep()
	named.Panels[0].Series[0].Name = "=1+1"
	named.Panels[0].Series[0].Points[0].Value = -1.5
	assert.NilError(t, named.CSV(&data))
	assert.Assert(t, strings.Contains(data.String(), ",'=1+1,") && strings.Contains(data.String(), ",-1.5,"), data.String())
}

// TestHTML checks the drawings and the data that a page contains.
func TestHTML(t *testing.T) {
	text, err := sweep().HTML()
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(text, `<div class="panel"`), 2)
	assert.Equal(t, strings.Count(text, `class="linear"`), 2)
	assert.Equal(t, strings.Count(text, `class="logarithmic"`), 2)
	assert.Equal(t, strings.Count(text, "<script"), 1)
	assert.Equal(t, strings.Count(text, "</script"), 1)
	assert.Assert(t, !strings.Contains(text, "<img") && !strings.Contains(text, "style=") && !regexp.MustCompile(`"#[0-9a-f]{6}"`).MatchString(text), text)
	for _, svg := range regexp.MustCompile(`<svg.*?</svg>`).FindAllString(text, -1) {
		texts(t, svg)
	}
	_, script, _ := strings.Cut(text, `json">`)
	script, _, _ = strings.Cut(script, "</script>")
	var data figure
	assert.NilError(t, json.Unmarshal([]byte(script), &data))
	assert.Equal(t, len(data.Panels), 2)
	assert.Assert(t, data.Names[0] == "a "+hostile && data.Names[1] == "b")
	assert.DeepEqual(t, data.Panels[1].Series[1].Points[5], []any{32., 2000032., 2000032., 2000032., "", "the client was busy"})
	assert.Equal(t, strings.Count(text, "in doubt</li>"), 1)

	text, err = laned().HTML()
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(text, `class="wide"`), 1)
	assert.Equal(t, strings.Count(text, `class="narrow"`), 1)

	_, err = (&Chart{ID: "x", Panels: []*Panel{{Series: []*Series{{Points: []Point{At(math.NaN(), 1), At(1, math.Inf(1))}}}}}}).HTML()
	assert.Error(t, err, "picture x: no point to draw: want one")
}

// TestInside checks that texts and points stay within their panels, and that texts at an axis do
// not overlap.
func TestInside(t *testing.T) {
	place := regexp.MustCompile(`<text x="([-0-9.]+)" y="([-0-9.]+)" textLength="([0-9.]+)"(?: font-size="([0-9.]+)")?`)
	number := func(s string) float64 { v, err := strconv.ParseFloat(s, 64); assert.NilError(t, err); return v }
	for _, numbers := range [][]float64{{1, 2}, {1, 1}, {0, 0}, {-5, 7}, {1e-99, 1e99}, {1e99, 1e100}, {12345678, 12345679}, {3, 3.0000001}, {0.001, 1000000}, {-3, -3}} {
		for _, log := range []bool{false, true} {
			for _, turned := range []bool{false, true} {
				p := &Panel{Title: strings.Repeat("title ", 40), X: Axis{Label: strings.Repeat("x", 200)}, Y: Axis{Label: "y", Unit: "µs", Log: log}, Turned: turned,
					Series: []*Series{{Name: "a", Points: []Point{At(numbers[0], numbers[1]), At(numbers[1], numbers[0])}}}}
				text, err := (&Chart{ID: "x", Panels: []*Panel{p}}).HTML()
				assert.NilError(t, err, "%v", numbers)
				assert.Assert(t, !strings.Contains(text, "NaN") && !strings.Contains(text, "Inf"), "%v: %s", numbers, text)
				svg := regexp.MustCompile(`<svg class="[a-z]*narrow".*?</svg>`).FindString(text)
				type box struct{ left, right, low, high float64 }
				var all []box
				for _, m := range place.FindAllStringSubmatch(svg, -1) {
					x, y, wide, size := number(m[1]), number(m[2]), number(m[3]), float64(narrow.text)
					if m[4] != "" {
						size = number(m[4])
					}
					b := box{x, x + wide, y - 0.7*size, y}
					assert.Check(t, b.left >= -0.5 && b.right <= float64(narrow.width)+0.5 && b.low >= 0 && b.high <= float64(narrow.height), "%v: %+v", numbers, b)
					for _, o := range all {
						apart := b.left >= o.right || o.left >= b.right || b.low >= o.high || o.low >= b.high
						assert.Check(t, apart, "%v: %+v overlaps %+v", numbers, b, o)
					}
					all = append(all, b)
				}
				assert.Check(t, len(all) >= 5, "%v: %d texts in %s", numbers, len(all), svg)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		n      int
		want   string
	}{
		{0, 10, false, 5, "0 2 4 6 8 10"},
		{0, 1, false, 5, "0 0.2 0.4 0.6 0.8 1.0"},
		{0.0002, 0.0009, false, 4, "0.0002 0.0004 0.0006 0.0008"},
		{1000000, 1000500, false, 5, "1000000 1000100 1000200 1000300 1000400 1000500"},
		{1, 1000, true, 4, "1 10 100 1000"},
		{0.5, 40, true, 8, "0.5 1 2 5 10 20"},
		{1e-90, 1e90, true, 5, "1e-62 1e-31 1 1e+31 1e+62"},
		{80, 95, true, 4, "80 85 90 95"},
	} {
		s := scale{lo: c.lo, hi: c.hi, log: c.log}
		var got []string
		for _, tick := range s.ticks(&Axis{}, c.n) {
			got = append(got, tick.label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ticks from %v to %v (logarithmic: %v): %q, want %q", c.lo, c.hi, c.log, got, c.want)
		}
	}
}

func TestBrief(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 1234: "1234", 123456: "123000", 12.3456: "12.3", 0.5: "0.5", 0.0014996: "0.0015", 1e-9: "1e-09", 999.96: "1000", -2.345: "-2.35"} {
		if got := Brief(v); got != want {
			t.Errorf("Brief(%v) = %q, want %q", v, got, want)
		}
	}
}

// TestLooks checks that many series can be told apart even without colours.
func TestLooks(t *testing.T) {
	seen := map[string]bool{}
	for i := range 24 {
		l := LookOf(i)
		seen[fmt.Sprint(l.Dash, l.Mark)] = true
	}
	assert.Equal(t, len(seen), 24)

	dashes, lines := map[int]bool{}, map[Look]bool{}
	for i := range 36 {
		l := LineLookOf(i)
		lines[l] = true
		if i < 6 {
			dashes[l.Dash] = true
		}
	}
	assert.Equal(t, len(dashes), 6)
	assert.Equal(t, len(lines), 36)
}

// TestLeastTicks checks that an axis of any range has at least three marks that can be told apart.
func TestLeastTicks(t *testing.T) {
	for _, lo := range []float64{1e-3, 0.7, 1, 3, 61.5, 999, 1e6} {
		for _, by := range []float64{1.01, 1.1, 1.5, 2, 3, 7, 30, 1000, 1e5} {
			for _, log := range []bool{false, true} {
				for n := 2; n < 8; n++ {
					s := scale{lo: lo, hi: lo * by, log: log}
					marks := s.ticks(&Axis{}, n)
					seen := map[string]bool{}
					for _, m := range marks {
						seen[m.label] = true
					}
					assert.Assert(t, len(seen) >= leastTicks && len(seen) == len(marks) && len(marks) <= 6*n, "%v to %v, logarithmic %v, %d: %v", s.lo, s.hi, log, n, marks)
				}
			}
		}
	}
}
