package pictures

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// pointIn returns the value of a row that a plot shows, and its unit. If there is none, the unit is "".
func pointIn(c columns.Column, r *results.Row) (chart.Point, string) {
	if c.Without != "" && len(r.Values[c.Without]) > 0 {
		return chart.Point{}, ""
	}
	return pointOf(r, c.Units...)
}

// Headline draws what matters most over the load: the throughput, and how long users wait. It
// returns nil if the group has no load.
func Headline(g *systems.Group) *Picture {
	load, all, _ := g.Swept()
	if load == "" {
		return nil
	}
	p := overLoad("answer", g, load, all, columns.Headline, 2)
	if p != nil {
		p.Title = g.Title
		p.Table = Table{} // the table of the sweep has the same values
	}
	return p
}

// Sweep draws the metrics of a group over the load. Each metric has a plot, with a line for each
// system. It returns nil if the group has no load.
func Sweep(g *systems.Group) *Picture {
	load, all, left := g.Swept()
	if load == "" {
		return nil
	}
	p := overLoad("sweep", g, load, all, columns.Sweep, 3)
	if p != nil {
		p.Title = g.Title + ": over " + load
		if left > 0 {
			p.Caption += fmt.Sprintf(" %s of one %s each: see all figures.", numbers.Count(left, "further system"), load)
		}
	}
	return p
}

// overLoad draws panels over the load, with a line for each system.
func overLoad(kind string, g *systems.Group, load string, all []*systems.System, plots []columns.Column, columns int) *Picture {
	p := &Picture{ID: Slug(kind, g.Title), columns: columns}
	var shown []column
	xs := loadsOf(all)
	for _, of := range plots {
		var lines []*chart.Series
		largest, points := 0.0, 0
		unit := "" // the unit of the first point
		for _, s := range all {
			l := &chart.Series{Name: s.Name, Look: lookOf(all, s)}
			for _, r := range s.Rows {
				v, its := pointIn(of, r)
				if its == "" {
					continue
				}
				if unit == "" {
					unit = its
				}
				l.Points = append(l.Points, v)
				largest = max(largest, v.High)
				points++
			}
			lines = append(lines, l)
		}
		if points < 2 || of.Units[0] == sample.FailShare && largest == 0 {
			continue
		}
		c := column{of, human.ScaleOf(unit, largest)}
		plane := &chart.Panel{Title: of.Title, X: loadAxis(load, all), Y: axisOf("", c.scale), Series: lines}
		plane.Y.Both = len(all) <= manyLines
		if of.Units[0] == sample.RequestRate && compare.Open(load) {
			if len(all) == 1 && all[0].Name == "" {
				lines[0].Name = "measured"
			}
			plane.Series = append(plane.Series, offered(all))
		}
		p.panels = append(p.panels, plane)
		shown = append(shown, c)
	}
	if len(p.panels) == 0 {
		return nil
	}
	banded, doubted := p.figures(load, all, shown)
	var titles []string
	for _, c := range shown {
		titles = append(titles, c.Title)
	}
	p.Caption = fmt.Sprintf("%s over %s from %s to %s%s.", human.Capital(strings.Join(titles, ", ")), load, chart.Brief(xs[0]), chart.Brief(xs[len(xs)-1]), forSystems(all))
	if banded {
		p.Caption += " Lines are medians of samples, bands reach from the smallest to the largest sample."
	}
	if doubted {
		p.Caption += " Hollow marks, and figures with a " + Mark + " in tables, are in doubt: see the warnings."
	}
	return p
}

// A column is a metric in a table over the load.
type column struct {
	columns.Column
	scale human.Scale
}

// figures fills the table of a picture over the load. It reports whether samples differ, and
// whether values are in doubt.
func (p *Picture) figures(load string, all []*systems.System, shown []column) (banded, doubted bool) {
	p.Table.Head = append(systemHead(all), load)
	for _, c := range shown {
		p.Table.Head = append(p.Table.Head, headed(c.Title, c.scale))
	}
	for _, s := range all {
		for _, r := range s.Rows {
			_, x := r.Load()
			cells := append(systemCell(all, s), count(x))
			for _, c := range shown {
				v, unit := pointIn(c.Column, r)
				cell := Cell{}
				if unit != "" {
					cell = Figure(r, c.scale, unit)
				}
				cells = append(cells, cell)
				banded = banded || v.Low != v.High
				doubted = doubted || v.Doubt != ""
			}
			p.Table.Add(cells...)
		}
	}
	return banded, doubted
}

// offered returns the line that shows the rate of an open loop's schedule.
func offered(all []*systems.System) *chart.Series {
	l := &chart.Series{Name: "offered rate", Look: chart.Look{Color: chart.Soft, Dash: chart.Dotted}, Bare: true}
	seen := map[float64]bool{}
	for _, x := range loadsOf(all) {
		for _, s := range all {
			for _, r := range s.Rows {
				if _, load := r.Load(); load != x || seen[x] {
					continue
				}
				seen[x] = true
				rate := x
				if v, has := r.Spread(sample.OfferedRate); has != "" {
					rate = v.Mid
				}
				l.Points = append(l.Points, chart.At(x, rate))
			}
		}
	}
	return l
}

// systemHead returns the head of the column that names the systems. If there is only one system and
// it has no name, there is no such column.
func systemHead(all []*systems.System) []string {
	if len(all) == 1 && all[0].Name == "" {
		return nil
	}
	return []string{"system"}
}

// systemCell returns the cell of a system in the column that names the systems.
func systemCell(all []*systems.System, s *systems.System) []Cell {
	if systemHead(all) == nil {
		return nil
	}
	return []Cell{{Text: s.Name}}
}

// forSystems returns " for" followed by the names of the systems.
func forSystems(all []*systems.System) string {
	var names []string
	for _, s := range all {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", for " + strings.Join(names, "; ")
}
