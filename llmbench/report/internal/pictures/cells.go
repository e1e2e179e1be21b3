package pictures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// middle returns the cell for a unit of a row, without the range of the samples, which is under the
// pointer.
func middle(r *results.Row, scale human.Scale, unit string) Cell {
	c := Figure(r, scale, unit)
	if v := r.Values[unit]; len(v) > 0 {
		c.Text = scale.Number(results.SpreadOf(v).Mid)
	}
	return c
}

// positive reports whether there are values, all of which are above 0.
func positive(values []float64) bool { return len(values) > 0 && slices.Min(values) > 0 }

// ratioCell returns the ratio of two rows' values.
func ratioCell(a, b *results.Row, unit string) (c Cell) {
	x, y := a.Values[unit], b.Values[unit]
	if !positive(x) || !positive(y) {
		return c
	}
	of := compare.RatioOf(x, y)
	c.Text, c.Exact = fmt.Sprintf("%.2f", of.Mid), Exactly(of.Mid)
	if len(x) > 1 && len(y) > 1 {
		c.Text += fmt.Sprintf(" [%.2f, %.2f]", of.Low, of.High)
		c.Exact += fmt.Sprintf(" [%v, %v]", of.Low, of.High)
	}
	if a.Doubt(unit) != "" || b.Doubt(unit) != "" {
		c.Doubt = "see the values"
	}
	return c
}

// withUnit returns the cell with its unit.
func (c Cell) withUnit(s human.Scale) Cell {
	c.Text = strings.TrimSpace(c.Text + " " + s.Unit)
	return c
}
