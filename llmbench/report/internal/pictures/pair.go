package pictures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Pair returns a table of two systems at the loads that both have: their values in the first of the
// units, their TTFT, the price of their output tokens if it is known, and, if wanted, the ratios with intervals. The caption says what the intervals are.
func Pair(a, b *systems.System, units []string, ratios bool) (t Table, caption string) {
	rows := systems.Shared(a, b)
	load, _ := a.Rows[0].Load()
	t.Head = []string{loadHead(load)}
	cells := make([][]Cell, len(rows))
	for i, pair := range rows {
		_, x := pair[0].Load()
		cells[i] = []Cell{count(x)}
		if load == "" {
			cells[i] = []Cell{{Text: "single"}}
		}
	}
	all, certain := 0, 0 // the number of intervals, and of those with 95 % confidence
	for _, m := range []struct {
		name  string
		units []string
	}{{"", units}, {"TTFT", columns.FirstToken}, {sample.TokenPrice, []string{sample.TokenPrice}}} {
		largest, unit := 0.0, ""
		for _, pair := range rows {
			for _, r := range pair {
				if v, has := r.Spread(m.units...); has != "" {
					largest, unit = max(largest, v.Mid), has
				}
			}
		}
		if unit == "" {
			continue
		}
		scale := human.ScaleOf(unit, largest)
		what := scale.Unit
		if m.name != "" {
			what = strings.TrimSpace(m.name + " " + what)
		} else if compare.Open(load) {
			what = "latency " + what
		}
		t.Head = append(t.Head, what+", "+a.Name, what+", "+b.Name)
		if ratios {
			t.Head = append(t.Head, "ratio")
		}
		for i, pair := range rows {
			if x, y := pair[0].Values[unit], pair[1].Values[unit]; len(x) > 1 && len(y) > 1 && positive(x) && positive(y) {
				if all++; compare.RatioOf(x, y).Confident {
					certain++
				}
			}
			cells[i] = append(cells[i], middle(pair[0], scale, unit), middle(pair[1], scale, unit))
			if ratios {
				cells[i] = append(cells[i], ratioCell(pair[0], pair[1], unit))
			}
		}
	}
	for _, row := range cells {
		t.Add(row...)
	}
	if ratios {
		caption = fmt.Sprintf("Ratios are of %s to %s.", a.Name, b.Name)
	}
	switch {
	case all == 0 || !ratios:
	case certain == all:
		caption += " Brackets hold the ratio with 95 % confidence, if each run is a fresh start."
	case certain == 0:
		caption += " Brackets hold the ratios of all pairs of runs, which are no 95 % intervals: these need more runs with a sound figure, and four of each suffice."
	default:
		caption += " Brackets hold the ratio with 95 % confidence, if each run is a fresh start. Where too few runs have a sound figure, they hold the ratios of all pairs of runs: four runs of each suffice."
	}
	if slices.ContainsFunc(slices.Concat(cells...), func(c Cell) bool { return c.Doubt != "" && c.Text != "" }) {
		caption += " " + Mark + ": in doubt, see the warnings."
	}
	return t, strings.TrimSpace(caption)
}

// Loads returns a table of what matters most of a system at each load.
func Loads(s *systems.System) (t Table) {
	t.Head = []string{loadHead(s.Load)}
	cells := make([][]Cell, len(s.Rows))
	for i, r := range s.Rows {
		_, x := r.Load()
		cells[i] = []Cell{count(x)}
	}
	for _, c := range columns.Loads {
		largest, unit := 0.0, ""
		for _, r := range s.Rows {
			if v, has := r.Spread(c.Units...); has != "" {
				largest, unit = max(largest, v.Mid), has
			}
		}
		if unit == "" || largest == 0 && (unit == sample.FailShare || unit == sample.ShedShare) {
			continue
		}
		scale := human.ScaleOf(unit, largest)
		t.Head = append(t.Head, headed(columns.Name(unit), scale))
		for i, r := range s.Rows {
			cells[i] = append(cells[i], middle(r, scale, unit))
		}
	}
	for _, row := range cells {
		t.Add(row...)
	}
	return t
}
