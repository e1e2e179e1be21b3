package answer

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// at returns a load in words, such as "8 users", or "8 users at most" if users come and leave.
func at(r *results.Row) string {
	load, x := r.Load()
	if load == "" {
		return "this load"
	}
	if r.Key("stages") != "" && !compare.Open(load) {
		return compare.Load(load, x) + " at most"
	}
	return compare.Load(load, x)
}

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
