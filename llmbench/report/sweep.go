package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// A panel is a plot of a figure over the load: of the first of units that a row has, unless
// the row has the unit that is drawn instead.
type panel struct {
	title   string
	units   []string
	instead string // or ""
}

// of returns the panel's figure of a row, and its unit.
func (p *panel) of(r *Row) (unit string, v spread, has bool) {
	if p.instead != "" && len(r.Values[p.instead]) > 0 {
		return "", spread{}, false
	}
	for _, u := range p.units {
		if v, has := r.spread(u); has {
			return u, v, true
		}
	}
	return "", spread{}, false
}

// panels are the panels of a sweep: those of published studies, then those of streams.
var panels = []panel{
	{"run time", []string{"run-ns"}, ""},
	{"requests per second", []string{"req/s"}, ""},
	{"latency, mean", []string{"mean-e2e-ns"}, ""},
	{"output tokens per second", outputUnits, ""},
	{"latency, p50", []string{"p50-e2e-ns"}, ""},
	{"latency, p90", []string{"p90-e2e-ns"}, ""},
	{"time to first token, p50", []string{"p50-ttft-ns"}, ""},
	{"time to first token, mean", []string{"mean-ttft-ns"}, "p50-ttft-ns"},
	{"time per output token, mean", []string{"mean-tpot-ns"}, ""},
	{"inter-token latency, p99", []string{"p99-itl-ns"}, ""},
	{"requests within the SLO per second", []string{"good-req/s"}, ""},
	{"failed requests", []string{"fail-%"}, ""},
}

// outputUnits are the units of output tokens per second, of llmbench and of studies.
var outputUnits = []string{"output-tok/s", "tok/s"}

// sweep draws the group's figures over the load: a plot for each figure, with a line for each
// system.
func (g *group) sweep() (*Picture, error) {
	load, systems, left := g.swept()
	if load == "" {
		return nil, nil
	}
	p, err := g.overLoad("sweep", "Over "+load, load, systems, panels, 3)
	if p != nil && left > 0 {
		p.Caption += fmt.Sprintf(" %s of one %s each: see all figures.", plural(left, "further system"), load)
	}
	return p, err
}

// versus compares systems in the four figures of published studies.
func (g *group) versus() (*Picture, error) {
	load, systems, _ := g.swept()
	many := 0
	for _, s := range systems {
		if len(s.rows) > 1 {
			many++
		}
	}
	if many < 2 {
		return nil, nil
	}
	return g.overLoad("versus", "Compared", load, systems, []panel{
		{"requests per second", []string{"req/s"}, ""},
		{"latency, mean", []string{"mean-e2e-ns"}, ""}, {"latency, p50", []string{"p50-e2e-ns"}, "mean-e2e-ns"},
		{"output tokens per second", outputUnits, ""}, {"failed requests", []string{"fail-%"}, ""},
	}, 2)
}

func (g *group) overLoad(kind, title, load string, systems []*system, panels []panel, columns int) (*Picture, error) {
	p := &Picture{ID: slug(kind, g.title), Title: g.title + ": " + strings.ToLower(title[:1]) + title[1:]}
	var shown []panel
	p.Table.Head = []string{"system", load}
	var xs []float64
	for _, s := range systems {
		for _, r := range s.rows {
			_, x, _ := r.load()
			xs = append(xs, x)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	for _, panel := range panels {
		var lines []*chart.Series
		largest, points := 0.0, 0
		var units []string // their names
		for _, s := range systems {
			l := s.line(func(r *Row) (spread, bool) {
				unit, v, has := panel.of(r)
				if has && !slices.Contains(units, unit) {
					units = append(units, unit)
				}
				return v, has
			})
			for _, p := range l.Points {
				largest = max(largest, p.High)
				points++
			}
			lines = append(lines, l)
		}
		if points < 2 {
			continue
		}
		p.panels = append(p.panels, &chart.Panel{Title: panel.title, X: loadAxis(load, xs), Y: axisOf(units[0], largest), Series: lines})
		shown = append(shown, panel)
		p.Table.Head = append(p.Table.Head, panel.title+" ("+strings.Join(units, ", ")+")")
	}
	if len(p.panels) == 0 {
		return nil, nil
	}
	banded := false
	for _, s := range systems {
		for _, r := range s.rows {
			_, x, _ := r.load()
			cells := []string{s.name, exactly(x)}
			for _, panel := range shown {
				unit, v, _ := panel.of(r)
				cells = append(cells, r.cell(unit))
				banded = banded || v.n > 1
			}
			p.Table.add(cells...)
		}
	}
	p.columns = columns
	var titles []string
	for _, panel := range shown {
		titles = append(titles, panel.title)
	}
	p.Caption = fmt.Sprintf("%s over %s from %s to %s, for %s.", strings.ToUpper(titles[0][:1])+strings.Join(titles, ", ")[1:], load, exactly(xs[0]), exactly(xs[len(xs)-1]), names(systems))
	if banded {
		p.Caption += " Lines are medians of samples, bands reach from the smallest to the largest sample."
	}
	return p, nil
}

// names returns the names of systems.
func names(systems []*system) string {
	var all []string
	for _, s := range systems {
		all = append(all, s.name)
	}
	if len(all) == 1 && all[0] == "all" {
		return "one system"
	}
	return strings.Join(all, "; ")
}
