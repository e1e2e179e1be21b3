package pictures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// Leaders returns a table with a row for each group: the two systems that its sentences name as the fastest, by what
// they were compared, at a load that both have. Of a group without a comparison it shows the system with the greatest
// throughput. A gateway is no rival of the server behind it. The first columns are those by which a reader chooses.
func Leaders(groups []answer.Told) (t Table) {
	t.Head = []string{"benchmark", "model", "workload", "hardware", "fastest", "value", "at", "next", "value of the next", "ratio"}
	for _, told := range groups {
		g := told.Group
		var best *results.Row
		var of *systems.System
		most := 0.0
		for _, s := range g.Systems {
			if p := s.Peak(); p != nil && !s.Found {
				if v, _ := p.Spread(columns.Throughput...); v.Mid > most {
					best, of, most = p, s, v.Mid
				}
			}
		}
		var next *systems.System
		var row *results.Row
		unit := ""
		if len(told.Compared) > 1 && !told.Adds {
			of, next = told.Compared[0], told.Compared[1]
			best, row, unit = systems.Leading(of, next, told.By, nil)
		} else if best != nil {
			_, unit = best.Spread(columns.Throughput...)
		}
		cells := []Cell{{Text: g.Rows[0].Base}, {Text: values(g, "model")}, {Text: values(g, "workload")}, {Text: values(g, "hardware", "hw")}}
		if best == nil {
			t.Add(append(cells, make([]Cell, 6)...)...)
			continue
		}
		name := func(s *systems.System) string { return cmp.Or(s.Name, s.Rows[0].Key("backend")) }
		cells = append(cells, Cell{Text: name(of)}, spoken(best, unit), Cell{Text: best.LoadText()})
		if next == nil {
			t.Add(append(cells, Cell{Text: "no rival"}, Cell{}, Cell{})...)
			continue
		}
		t.Add(append(cells, Cell{Text: name(next)}, spoken(row, unit), ratioCell(best, row, unit))...)
	}
	return t
}

// values returns the different values of keys of a group's rows, in names or configurations.
func values(g *systems.Group, keys ...string) string {
	return strings.Join(results.Stated(g.Rows, systems.Unstated, keys...), ", ")
}

// spoken returns the cell of the median of a unit, with its unit.
func spoken(r *results.Row, unit string) Cell {
	v, _ := r.Spread(unit)
	scale := human.ScaleOf(unit, v.Mid)
	return middle(r, scale, unit).withUnit(scale)
}

// Ranks returns a table of the systems that are the fastest at each load, and of the next ones.
func Ranks(g *systems.Group, load string, units []string) (t Table) {
	t.Head = []string{loadHead(load), "fastest", "value", "next", "value of the next", "ratio"}
	sign := 1.0
	if compare.Open(load) {
		sign = -1
	}
	type entry struct {
		*systems.System
		row   *results.Row
		value float64
	}
	all := slices.DeleteFunc(slices.Clone(g.Systems), func(s *systems.System) bool { return s.Found || s.Load != load })
	for _, x := range loadsOf(all) {
		var at []entry
		unit := ""
		for _, s := range all {
			for _, r := range s.Rows {
				if _, its := r.Load(); its != x {
					continue
				}
				if v, has := r.Spread(units...); has != "" && (unit == "" || has == unit) && r.Doubt(has) == "" {
					unit = has
					at = append(at, entry{s, r, v.Mid})
				}
			}
		}
		if len(at) < 2 {
			continue
		}
		slices.SortStableFunc(at, func(a, b entry) int { return cmp.Compare(sign*b.value, sign*a.value) })
		first, lead := count(x), 0
		if leads([2]*results.Row{at[0].row, at[1].row}, unit, sign > 0) > 0 {
			lead = g.Place(at[0].System) + 1
		}
		first.Lead = lead
		t.Add(first, Cell{Text: at[0].Name, Lead: lead}, spoken(at[0].row, unit), Cell{Text: at[1].Name}, spoken(at[1].row, unit), ratioCell(at[0].row, at[1].row, unit))
	}
	return t
}

// fewLines is the largest number of lines that can be told apart in one panel.
const fewLines = 6

// Multiples draws the throughput of each of many systems over the load, in a panel of its own. All
// panels have one scale. It returns nil if a single panel shows the systems as well.
func Multiples(g *systems.Group) *Picture {
	load, all, _ := g.Swept()
	all = slices.DeleteFunc(slices.Clone(all), func(s *systems.System) bool { return len(s.Rows) < 2 })
	if len(all) <= fewLines {
		return nil
	}
	p := &Picture{ID: Slug("multiples", g.Title), Title: g.Title + ": throughput of each", columns: 3}
	most, unit := 0.0, ""
	for _, s := range all {
		l := &chart.Series{Name: "output", Look: lookOf(all, all[0])}
		for _, r := range s.Rows {
			if q, has := pointOf(r, columns.Output...); has != "" {
				l.Points = append(l.Points, q)
				most, unit = max(most, q.High), has
			}
		}
		p.panels = append(p.panels, &chart.Panel{Title: s.Name, X: loadAxis(load, all), Series: []*chart.Series{l}})
	}
	if unit == "" {
		return nil
	}
	for _, panel := range p.panels {
		panel.Y = axisOf("", human.ScaleOf(unit, most))
		panel.Y.To = most
	}
	p.Caption = fmt.Sprintf("Output tokens per second of each of %d systems over the load, on one scale.", len(all))
	return p
}
