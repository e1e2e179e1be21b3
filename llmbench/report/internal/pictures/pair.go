package pictures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Pair returns a table of two systems of a group at the loads that both have: their values in the first of the units,
// with ratios and intervals if wanted, their TTFT, and the price of their output tokens if it is known. The caption says
// what the intervals are.
func Pair(g *systems.Group, a, b *systems.System, units []string, ratios bool) (t Table, caption string) {
	rows := systems.Shared(a, b)
	load, _ := a.Rows[0].Load()
	places := [2]int{g.Place(a) + 1, g.Place(b) + 1}
	t.Head, t.Systems = []string{loadHead(load)}, []int{0}
	cells := make([][]Cell, len(rows))
	for i, pair := range rows {
		_, x := pair[0].Load()
		cells[i] = []Cell{count(x)}
		if load == "" {
			cells[i] = []Cell{{Text: "single"}}
		}
	}
	all, certain := 0, 0 // the number of intervals, and of those with 95 % confidence
	for m, metric := range []struct {
		name  string
		units []string
	}{{"", units}, {"TTFT", columns.FirstToken}, {"price", []string{sample.TokenPrice}}} {
		largest, unit := 0.0, ""
		for _, pair := range rows {
			for _, r := range pair {
				if v, has := r.Spread(metric.units...); has != "" {
					largest, unit = max(largest, v.Mid), has
				}
			}
		}
		if unit == "" {
			continue
		}
		scale := human.ScaleOf(unit, largest)
		what := scale.Unit
		if metric.name != "" {
			what = strings.TrimSpace(metric.name + " " + what)
		} else if compare.Open(load) {
			what = "latency " + what
		}
		t.Head, t.Systems = append(t.Head, what+", "+a.Name, what+", "+b.Name), append(t.Systems, places[0], places[1])
		higher := m == 0 && !compare.Open(load)
		for i, pair := range rows {
			x, y := middle(pair[0], scale, unit), middle(pair[1], scale, unit)
			switch lead := leads(pair, unit, higher); {
			case !ratios: // they are no rivals
			case lead > 0:
				x.Lead = places[0]
			case lead < 0:
				y.Lead = places[1]
			}
			if m == 0 {
				cells[i][0].Lead = max(x.Lead, y.Lead)
			}
			cells[i] = append(cells[i], x, y)
		}
		if m > 0 || !ratios {
			continue
		}
		t.Head, t.Systems = append(t.Head, "ratio"), append(t.Systems, 0)
		for i, pair := range rows {
			if x, y := pair[0].Values[unit], pair[1].Values[unit]; len(x) > 1 && len(y) > 1 && positive(x) && positive(y) {
				if all++; compare.RatioOf(x, y).Confident {
					certain++
				}
			}
			cells[i] = append(cells[i], ratioCell(pair[0], pair[1], unit))
		}
	}
	for _, row := range cells {
		t.Add(row...)
	}
	if ratios {
		caption = fmt.Sprintf("Ratios are of %s to %s.", a.Name, b.Name)
	}
	if slices.ContainsFunc(t.Head, func(head string) bool { return strings.HasPrefix(head, "price, ") }) {
		caption = strings.TrimSpace(caption + " Prices are of a million output tokens.")
	}
	switch {
	case all == 0:
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

// leads returns 1 if the first row of a pair has the better median of a unit, -1 if the second one has, and 0 if they are
// about equal, if their runs do not say which one is better, or if one is in doubt.
func leads(pair [2]*results.Row, unit string, higher bool) int {
	x, has := pair[0].Spread(unit)
	y, also := pair[1].Spread(unit)
	if has == "" || also == "" || pair[0].Doubt(unit) != "" || pair[1].Doubt(unit) != "" || x.Mid <= 0 || y.Mid <= 0 {
		return 0
	}
	if a, b := pair[0].Values[unit], pair[1].Values[unit]; len(a) > 0 && len(b) > 0 && positive(a) && positive(b) && compare.RatioOf(a, b).Undecided() {
		return 0
	}
	sign := 1
	if !higher {
		sign = -1
	}
	switch {
	case x.Mid > compare.Equal*y.Mid:
		return sign
	case y.Mid > compare.Equal*x.Mid:
		return -sign
	}
	return 0
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
