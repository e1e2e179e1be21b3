package pictures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Frontier draws the throughput over the token rate of each user. More load raises the throughput
// and lowers that rate. The picture marks the knee and the highest load that meets the SLO.
func Frontier(g *systems.Group, slo systems.SLO) *Picture {
	load, all, _ := swept(g)
	if load == "" {
		return nil
	}
	p := &Picture{ID: Slug("frontier", g.Title), Title: g.Title + ": throughput against speed"}
	plane := &chart.Panel{
		ByText: true,
		X:      chart.Axis{Label: "speed for each user", Unit: "tok/s", Zero: true},
		Y:      chart.Axis{Label: "throughput of all users", Unit: "tok/s", Zero: true, Both: true},
	}
	knees := &chart.Series{Name: "knee", Kind: chart.Dots, Look: chart.Look{Color: chart.Ink, Ring: true, Size: 8}}
	kept := &chart.Series{Name: "highest load that keeps the SLO", Kind: chart.Dots, Look: chart.Look{Color: chart.Ink, Mark: chart.Square, Ring: true, Size: 10}}
	p.Table.Head = append(systemHead(all), load, "of each user (tok/s)", "of all (tok/s)", "")
	points := 0
	least, most, judged := math.Inf(1), 0.0, false
	for _, s := range all {
		l := &chart.Series{Name: s.Name, Look: lookOf(all, s)}
		knee, _ := s.Knee() // without a knee the line has no ring
		carried := s.Carries(slo)
		judged = judged || carried != nil
		for _, r := range s.Rows {
			x, ok := userSpeed(r)
			y, unit := r.Spread(columns.Output...)
			if !ok || unit == "" {
				continue
			}
			_, at := r.Load()
			q := chart.At(x, y.Mid)
			q.Text, q.Doubt = compare.Load(load, at), r.Doubt(unit)
			l.Points = append(l.Points, q)
			points++
			least, most = min(least, y.Low), max(most, y.High)
			said := ""
			if r == knee {
				said = "knee"
				knees.Points = append(knees.Points, q)
			}
			if carried != nil && r == carried.Met {
				kept.Points = append(kept.Points, q)
				if said != "" {
					said += " and "
				}
				said += "keeps the SLO"
			}
			tokens := human.Scale{Unit: "tok/s", Base: "tok/s", Factor: 1}
			p.Table.Add(append(systemCell(all, s), count(at), Number(tokens, "tok/s", x), Figure(r, tokens, unit), Cell{Text: said})...)
		}
		if len(l.Points) > 0 {
			plane.Series = append(plane.Series, l)
		}
	}
	if points < 2 {
		return nil
	}
	p.Caption = fmt.Sprintf("Output tokens per second of all users against output tokens per second of one user, with a point for each load%s.", forSystems(all))
	if len(knees.Points) > 0 {
		plane.Series = append(plane.Series, knees)
		p.Caption += " A ring is the knee: the greatest throughput / latency."
	}
	if len(kept.Points) > 0 {
		plane.Series = append(plane.Series, kept)
		p.Caption += fmt.Sprintf(" A box is the highest load that keeps %s.", slo)
	}
	if limit := slo.Limits.TPOT; limit > 0 && judged {
		at := 1 / limit.Seconds()
		plane.Series = append(plane.Series, &chart.Series{Name: fmt.Sprintf("SLO: %v a token", limit), Look: chart.Look{Color: chart.Ink, Dash: chart.Dotted}, Bare: true,
			Points: []chart.Point{chart.At(at, max(least, 0)), chart.At(at, most)}})
		p.Caption += " The dotted line is the SLO's limit of the time per token: speeds to its right keep it."
	}
	p.Caption += " The speed of a user is 1 / mean TPOT; without it user-tok/s, or output tokens per request / latency."
	p.panels = []*chart.Panel{plane}
	return p
}

// userSpeed returns the tokens per second that each user receives.
func userSpeed(r *results.Row) (float64, bool) {
	if v, has := r.Spread(sample.MeanTPOT); has != "" && v.Mid > 0 {
		return 1e9 / v.Mid, true
	}
	if v, has := r.Spread(sample.UserRate); has != "" {
		return v.Mid, true
	}
	e2e, has := r.Spread(sample.MeanE2E, sample.P50E2E)
	tokens, also := r.Spread(sample.OutputLength)
	if has == "" || also == "" || e2e.Mid <= 0 {
		return 0, false
	}
	return 1e9 * tokens.Mid / e2e.Mid, true
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
