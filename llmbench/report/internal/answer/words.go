package answer

import (
	"cmp"
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// at returns a load in words, such as "8 users".
func at(r *results.Row) string { return cmp.Or(r.LoadText(), "this load") }

// figure returns the median of the first of the units that a row has, as text. If the row has none
// of them, it returns "".
func figure(r *results.Row, units ...string) string {
	v, unit := r.Spread(units...)
	if unit == "" {
		return ""
	}
	return human.Text(unit, v.Mid)
}

// chance returns a p-value as text.
func chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}
