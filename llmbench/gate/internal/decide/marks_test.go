package decide

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

// marks returns a cell of pairs with a mark for each b of old and new.
func marks(old, new string) Cell {
	c := pairs(marksOf(old), marksOf(new), 0)
	c.Marks, c.InTurns = true, true
	return c
}

func marksOf(s string) []float64 {
	return each(len(s), func(i int) float64 { return map[byte]float64{'b': 1}[s[i]] })
}

// TestMarks checks after how many rounds a mark of new alone is found.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		planned, most int
		cells         []Cell
		found         []bool
		spent         bool
	}{
		{10, 0, []Cell{marks(".......", "bbbbbbb")}, []bool{false}, true},
		{10, 0, []Cell{marks("........", "bbbbbbbb")}, []bool{true}, true},
		{100, 0, []Cell{marks("........", "bbbbbbbb")}, []bool{true}, true},
		{10, 50, []Cell{marks("........", "bbbbbbbb")}, []bool{true}, true},
		{10, 50, []Cell{marks("..b..b....", "bbbbbbbbbb")}, []bool{true}, true},
		{10, 50, []Cell{marks("b.........", ".bbbbbbbbb")}, []bool{false}, true},
		{10, 50, []Cell{marks("bbbbbbbb", "........")}, []bool{false}, true},
		{10, 50, []Cell{marks("bbbbbbbb", "bbbbbbbb")}, []bool{false}, true},
		{7, 0, []Cell{marks(".......", "bbbbbbb")}, []bool{false}, false}, // eight rounds will never be there
		{10, 50, []Cell{marks("............", "bbbbbbbbbbb."), marks("............", "bbbbbbbbbbbb")}, []bool{true, true}, true},
		{10, 50, []Cell{marks("........", "bbbbbbbb"), marks("........", "bbbbbbbb")}, []bool{true, false}, true},
		{10, 50, []Cell{marks("............", ".bbbbbbbbbbb"), marks("............", "b...........")}, []bool{true, false}, true},
	} {
		p := NewPlan(c.planned, c.most, alpha)
		rest, found := p.Marks(c.cells)
		assert.DeepEqual(t, found, c.found)
		want := p.Final()
		if c.spent {
			want *= 0.8
		}
		assert.Equal(t, rest.Final(), want)
	}
}

// TestFisher compares p-values with R's fisher.test(matrix(c(…), 2), alternative="greater").
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		old, new    string
		worse, less float64
	}{
		{"..........", "bbbbbbbbbb", 1 / 184756., 1},
		{"bbbbbbbbbb", "..........", 1, 1 / 184756.},
		{"b...", "bbb.", 17 / 70., 69 / 70.},
		{"bbbb", "bbbb", 1, 1},
		{".........", "b", 0.1, 1},
	} {
		worse, less := Cell{Old: marksOf(c.old), New: marksOf(c.new), Marks: true}.fisher()
		assert.Assert(t, math.Abs(worse-c.worse) < 1e-9 && math.Abs(less-c.less) < 1e-9, "%q %q: %v %v", c.old, c.new, worse, less)
	}
}

// TestLimit checks the sign test of a budget.
func TestLimit(t *testing.T) {
	limit := 2.
	for _, c := range []struct {
		better      int
		new         []float64
		worse, less float64
	}{
		{-1, flat(10, 3), 1. / 1024, 1},
		{-1, flat(10, 2), 1, 1. / 1024},
		{+1, flat(10, 1), 1. / 1024, 1},
		{+1, flat(10, 2), 1, 1. / 1024},
		{-1, []float64{1, 3, 3, 3}, 5. / 16, 15. / 16},
	} {
		worse, less := Cell{New: c.new, Better: c.better, Limit: &limit}.overLimit()
		assert.Assert(t, math.Abs(worse-c.worse) < 1e-9 && math.Abs(less-c.less) < 1e-9, "%v: %v %v", c.new, worse, less)
	}
	assert.Equal(t, MinForLimit(1, false, alpha), 6)
	assert.Equal(t, MinForLimit(1, true, alpha), 8)
	assert.Equal(t, MinForLimit(3, true, alpha), 10)
}
