package pictures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Frontier draws the throughput over the token rate of each user. More load raises the throughput
// and lowers that rate. The picture marks the knee and the highest load that meets the SLO.
func Frontier(g *systems.Group, slo systems.SLO) *Picture {
	p := against(g, slo, "frontier", "all users", columns.Output...)
	if p != nil {
		p.Title = g.Title + ": throughput against speed"
		p.half = true
	}
	return p
}

// Prices draws the price of output tokens over the token rate of each user. It returns nil if no price is known.
func Prices(g *systems.Group, slo systems.SLO) *Picture {
	p := against(g, slo, "prices", "price of a million output tokens", sample.TokenPrice)
	if p != nil {
		p.Title = g.Title + ": price against speed"
	}
	return p
}

// against draws a figure of each load over the token rate of each user, with a line for each system. It returns nil if
// there are fewer than two points.
func against(g *systems.Group, slo systems.SLO, kind, label string, units ...string) *Picture {
	load, all, _ := g.Swept()
	if load == "" {
		return nil
	}
	p := &Picture{ID: Slug(kind, g.Title)}
	scale := human.ScaleOf(units[0], 1)
	plane := &chart.Panel{
		ByText: true,
		X:      chart.Axis{Label: "one user", Unit: "tok/s", Zero: true, Clip: true},
		Y:      axisOf(label, scale),
	}
	knees := &chart.Series{Name: "knee", Kind: chart.Dots, Look: chart.Look{Color: chart.Ink, Ring: true, Size: 8}}
	kept := &chart.Series{Name: "highest load within the SLO", Kind: chart.Dots, Look: chart.Look{Color: chart.Ink, Mark: chart.Square, Ring: true, Size: 10}}
	p.Table.Head = append(systemHead(all), load, "one user (tok/s)", headed(label, scale), "")
	points := 0
	var without []string
	least, most, judged := math.Inf(1), 0.0, false
	for _, s := range all {
		l := &chart.Series{Name: s.Name, Look: lookOf(all, s)}
		knee, _ := s.Knee() // without a knee the line has no ring
		carried := s.Carries(slo)
		judged = judged || carried != nil
		for _, r := range s.Rows {
			x, doubt, ok := systems.UserSpeed(r)
			y, unit := r.Spread(units...)
			_, at := r.Load()
			if text := compare.Load(load, at); doubt && !ok && !slices.Contains(without, text) {
				without = append(without, text)
			}
			if !ok || unit == "" {
				continue
			}
			q := chart.At(x, y.Mid)
			q.Text, q.Doubt = compare.Load(load, at), r.Doubt(unit)
			if doubt && q.Doubt == "" {
				q.Doubt = "the speed for one user"
			}
			if len(all) <= fewLines {
				q.Label = chart.Brief(at)
			}
			l.Points = append(l.Points, q)
			q.Label = ""
			points++
			least, most = min(least, y.Low), max(most, y.High)
			var said []string
			if r == knee {
				said = append(said, "knee")
				knees.Points = append(knees.Points, q)
			}
			if carried != nil && r == carried.Met {
				kept.Points = append(kept.Points, q)
				said = append(said, "keeps the SLO")
			}
			tokens := human.Scale{Unit: "tok/s", Base: "tok/s", Factor: 1}
			speed := Number(tokens, "tok/s", x)
			if doubt {
				speed.Doubt = "see the warnings"
			}
			p.Table.Add(append(systemCell(all, s), count(at), speed, Figure(r, scale, unit), Cell{Text: strings.Join(said, " and ")})...)
		}
		if len(l.Points) > 0 {
			plane.Series = append(plane.Series, l)
		}
	}
	if points < 2 {
		return nil
	}
	p.Caption = fmt.Sprintf("A point for each load; the numbers are %s.", loadNumbers(load))
	if len(knees.Points) > 0 {
		plane.Series = append(plane.Series, knees)
		p.Caption += " Ring: the knee, the greatest throughput / latency."
	}
	if len(kept.Points) > 0 {
		plane.Series = append(plane.Series, kept)
		p.Caption += fmt.Sprintf(" Box: the highest load that keeps %s.", slo)
	}
	if limit := slo.Limits.TPOT; limit > 0 && judged {
		at := 1 / limit.Seconds()
		plane.Series = append(plane.Series, &chart.Series{Name: fmt.Sprintf("SLO: %v a token", limit), Look: chart.Look{Color: chart.Ink, Dash: chart.Dotted}, Bare: true,
			Points: []chart.Point{chart.At(at, max(least, 0)), chart.At(at, most)}})
		p.Caption += " Right of the dotted line the time per token is within the SLO."
	}
	if len(without) > 0 {
		p.Caption += " Without a point, because the time per token is withheld: " + strings.Join(without, ", ") + "."
	}
	p.Caption += " One user: 1 / mean TPOT; without it user-tok/s, or output tokens per request / latency."
	p.panels = []*chart.Panel{plane}
	return p
}

// loadNumbers says what the numbers of a load are.
func loadNumbers(load string) string {
	switch {
	case compare.Open(load):
		return "requests a second"
	case load == "streams":
		return load
	}
	return "users"
}

// Ranking draws the highest load at which each system meets the SLO, the highest first. It returns
// nil if fewer than two systems have such a load. It also returns nil if no system misses the SLO,
// because then the bars would only show the highest load of the benchmark.
func Ranking(g *systems.Group, slo systems.SLO) *Picture {
	load, all, _ := g.Swept()
	type entry struct {
		*systems.System
		*systems.Carried
		met float64
	}
	var entries []entry
	for _, s := range all {
		if c := s.Carries(slo); c != nil {
			e := entry{s, c, 0}
			if c.Met != nil {
				_, e.met = c.Met.Load()
			}
			entries = append(entries, e)
		}
	}
	if len(entries) < 2 || !slices.ContainsFunc(entries, func(e entry) bool { return e.Missed != nil }) {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.met, a.met) })
	p := &Picture{ID: Slug("ranking", g.Title), Title: fmt.Sprintf("%s: load within %s", g.Title, slo)}
	kept := &chart.Series{Name: "keeps the SLO", Kind: chart.Bars, Bare: true, Values: true}
	missed := &chart.Series{Name: "misses it", Kind: chart.Limits, Look: chart.Look{Color: 1}}
	plane := &chart.Panel{Y: chart.Axis{Label: load, Zero: true}, Series: []*chart.Series{kept, missed}}
	p.Table.Head = []string{"system", load + " that keeps it", "share", "requests/s", load + " that misses it", "share"}
	for i, e := range entries {
		plane.Lanes = append(plane.Lanes, e.Name)
		q := bar(i, 0, e.met)
		cells := []Cell{{Text: e.Name}, {Text: "none"}, {}, {}, {Text: "none"}, {}}
		if e.Met != nil {
			q.Text = fmt.Sprintf("%.3g %% within the SLO", 100*e.Shares[e.Met])
			cells[1], cells[2] = count(e.met), shareCell(e.Shares[e.Met])
			cells[3] = Figure(e.Met, human.Scale{Factor: 1}, "req/s")
		}
		kept.Points = append(kept.Points, q)
		if e.Missed != nil {
			_, x := e.Missed.Load()
			m := chart.At(float64(i), x)
			m.Text = fmt.Sprintf("%.3g %% within the SLO", 100*e.Shares[e.Missed])
			missed.Points = append(missed.Points, m)
			cells[4], cells[5] = count(x), shareCell(e.Shares[e.Missed])
		}
		p.Table.Add(cells...)
	}
	p.Caption = fmt.Sprintf("The highest %s up to which each load keeps %s, and the lowest that misses it. The limit is between them.", load, slo)
	p.panels = []*chart.Panel{plane}
	return p
}

func shareCell(share float64) Cell {
	return Cell{Text: fmt.Sprintf("%.3g %%", 100*share), Exact: Exactly(100*share) + " %"}
}
