package pictures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// Versus draws the metrics of systems as multiples of one system's values at the same load. It
// returns nil unless two systems have several loads.
func Versus(g *systems.Group) *Picture {
	load, all, _ := g.Swept()
	all = slices.DeleteFunc(slices.Clone(all), func(s *systems.System) bool { return len(s.Rows) < 2 })
	if len(all) < 2 {
		return nil
	}
	base, most := all[0], 0
	for _, s := range all {
		n := 0
		for _, o := range all {
			if o != s {
				n += len(systems.Shared(s, o))
			}
		}
		if n > most {
			base, most = s, n
		}
	}
	p := &Picture{ID: Slug("versus", g.Title), Title: g.Title + ": relative to " + base.Name, columns: 2}
	p.Table.Head = []string{"system", load}
	var titles []string
	cells := map[string][]Cell{} // a cell for each panel, by system and load
	var order []string
	for _, of := range columns.Relative {
		plane := &chart.Panel{Title: of.Title, X: loadAxis(load, all), Y: chart.Axis{Unit: "times", Both: len(all) <= manyLines}}
		for _, s := range all {
			l := ratios(of, base, s)
			l.Look = lookOf(all, s)
			if len(l.Points) > 0 {
				plane.Series = append(plane.Series, l)
			}
		}
		if len(plane.Series) < 2 {
			continue
		}
		plane.Y.Log = spans(plane.Series, 4)
		p.panels = append(p.panels, plane)
		titles = append(titles, of.Title)
		p.Table.Head = append(p.Table.Head, of.Title)
		for _, l := range plane.Series {
			for _, q := range l.Points {
				key := fmt.Sprintf("%s\x00%v", l.Name, q.X)
				if cells[key] == nil {
					order = append(order, key)
					cells[key] = []Cell{{Text: l.Name}, count(q.X)}
				}
				for len(cells[key]) < len(p.Table.Head)-1 {
					cells[key] = append(cells[key], Cell{})
				}
				c := count(q.Value)
				c.Doubt = q.Doubt
				cells[key] = append(cells[key], c)
			}
		}
	}
	if len(p.panels) == 0 {
		return nil
	}
	slices.SortStableFunc(order, results.Natural)
	for _, key := range order {
		p.Table.Add(append(cells[key], make([]Cell, len(p.Table.Head)-len(cells[key]))...)...)
	}
	p.Caption = fmt.Sprintf("%s, divided by those of %s at the same %s. Bands are the widest that the samples allow.", human.Capital(strings.Join(titles, ", ")), base.Name, load)
	return p
}

// ratios returns the metric of a system divided by the metric of the base, at each load that both have.
func ratios(of columns.Column, base, s *systems.System) *chart.Series {
	l := &chart.Series{Name: s.Name}
	for _, rows := range systems.Shared(base, s) {
		b, unit := pointIn(of, rows[0])
		v, its := pointIn(of, rows[1])
		if unit != its || unit == "" || b.Low <= 0 || v.Low <= 0 {
			continue
		}
		q := chart.Point{X: v.X, Value: v.Value / b.Value, Low: v.Low / b.High, High: v.High / b.Low, Doubt: cmp.Or(v.Doubt, b.Doubt)}
		if s == base {
			q.Low, q.High = 1, 1
		}
		l.Points = append(l.Points, q)
	}
	return l
}

// spans reports whether the largest value of all lines is more than factor times the smallest.
func spans(lines []*chart.Series, factor float64) bool {
	least, most := lines[0].Points[0].Value, 0.0
	for _, l := range lines {
		for _, q := range l.Points {
			least, most = min(least, q.Value), max(most, q.Value)
		}
	}
	return most > factor*least
}

// Standing draws a bar for each system. The bar shows the first of the units that a row has, at the
// load that the largest number of systems share with the first one. Standing returns nil if the
// picture over the load already shows the first two systems.
func Standing(g *systems.Group, compared []*systems.System, units []string) *Picture {
	_, swept, _ := g.Swept()
	swept = slices.DeleteFunc(slices.Clone(swept), func(s *systems.System) bool { return len(s.Rows) < 2 })
	if len(compared) < 2 || slices.Contains(swept, compared[0]) && slices.Contains(swept, compared[1]) {
		return nil
	}
	type result struct {
		name string
		*results.Row
	}
	var rows []result
	for _, first := range compared[0].Rows {
		var at []result
		for _, s := range compared {
			for _, pair := range systems.Shared(compared[0], s) {
				if _, unit := pointOf(pair[1], units...); pair[0] == first && unit != "" {
					at = append(at, result{s.Name, pair[1]})
				}
			}
		}
		if len(at) > len(rows) {
			rows = at
		}
	}
	if len(rows) < 2 {
		return nil
	}
	_, unit := pointOf(rows[0].Row, units...)
	load, x := rows[0].Load()
	largest := 0.0
	for _, r := range rows {
		v, _ := pointOf(r.Row, unit)
		largest = max(largest, v.High)
	}
	scale := human.ScaleOf(unit, largest)
	what := "output tokens per second"
	switch {
	case strings.HasSuffix(unit, "e2e-ns"):
		what = "latency"
	case !slices.Contains(columns.Output, unit):
		what = unit
	}
	bars := &chart.Series{Name: what, Kind: chart.Bars, Bare: true, Values: true}
	plane := &chart.Panel{Y: axisOf(what, scale), Series: []*chart.Series{bars}}
	plane.Y.Both, plane.Y.To = false, 1.08*largest // leaves room for the values behind the bars
	p := &Picture{ID: Slug("standing", g.Title), Title: g.Title}
	p.Table.Head = []string{"system", headed(what, scale)}
	for _, r := range rows {
		v, its := pointOf(r.Row, unit)
		if its == "" {
			continue
		}
		q := bar(len(plane.Lanes), 0, v.Value)
		q.Text, q.Doubt = v.Text, v.Doubt
		plane.Lanes = append(plane.Lanes, r.name)
		bars.Points = append(bars.Points, q)
		p.Table.Add(Cell{Text: r.name}, Figure(r.Row, scale, unit))
	}
	p.Caption = human.Capital(what) + " of the systems that the answer compares"
	if load != "" {
		p.Caption += fmt.Sprintf(", at %s %s", load, chart.Brief(x))
	}
	p.Caption += "."
	p.panels = []*chart.Panel{plane}
	return p
}

// overlaid holds the latencies whose distributions are drawn for each load. The first two that the
// systems have are drawn.
var overlaid = []string{"ttft-ns", "itl-ns", "e2e-ns"}

// Overlaid draws the distributions of systems over each other. It returns a picture for each of two
// latencies. A picture has a panel for each load of which at least two systems have records. If
// there is no such load, Overlaid returns nothing. Only the given systems are drawn, unless none is given.
func Overlaid(g *systems.Group, only []*systems.System) (all []*Picture) {
	load, swept, _ := g.Swept()
	if load == "" {
		return nil
	}
	if only != nil {
		swept = slices.DeleteFunc(slices.Clone(swept), func(s *systems.System) bool { return !slices.Contains(only, s) })
	}
	for _, unit := range overlaid {
		l := latencies[slices.IndexFunc(latencies, func(l latency) bool { return l.unit == unit })]
		if p := overlay(g, load, swept, l); p != nil {
			all = append(all, p)
		}
		if len(all) == 2 {
			break
		}
	}
	return all
}

// overlay draws the distributions of one latency, or returns nil.
func overlay(g *systems.Group, load string, swept []*systems.System, l latency) *Picture {
	p := &Picture{ID: Slug("overlaid", l.unit, g.Title), Title: fmt.Sprintf("%s: %s at each %s", g.Title, l.title, load), columns: 3}
	d := &distributions{Picture: p}
	for _, s := range swept {
		d.labels = append(d.labels, s.Name)
	}
	for _, x := range loadsOf(swept) {
		panel := newPlane(fmt.Sprintf("%s %s", load, chart.Brief(x)), l)
		for i, s := range swept {
			at := slices.IndexFunc(s.Rows, func(r *results.Row) bool { _, its := r.Load(); return its == x })
			if at < 0 || len(s.Rows[at].Runs) == 0 {
				continue
			}
			panel.add(d, i, s.Rows[at], l)
		}
		if len(panel.Series) > 1 {
			panel.finish(l)
			p.panels = append(p.panels, panel.Panel)
		}
	}
	if len(p.panels) == 0 {
		return nil
	}
	p.Caption = fmt.Sprintf("Cumulative distributions of the %s of successful requests%s. The tables of each system have the percentiles.", l.title, forSystems(swept))
	if d.banded {
		p.Caption += " Lines are all samples together, bands reach from the smallest to the largest sample."
	}
	return p
}
