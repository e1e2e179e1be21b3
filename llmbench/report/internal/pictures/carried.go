package pictures

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// Carried draws what a gateway adds to the first token over the rate of arrivals, with the bounds within which the scenario
// Gateway searched for the highest rate, and has a table of these rates. It returns nil if the group has no such rate.
func Carried(g *systems.Group) *Picture {
	p := &Picture{ID: Slug("carried", g.Title), Title: g.Title + ": what is added, over the rate"}
	p.Table.Head = []string{"added to the first token, p99 (ms)", "req/s", "missed at (req/s)"}
	measured := &chart.Series{Name: "measured", Look: chart.LookOf(0)}
	kept := &chart.Series{Name: "highest rate within a bound", Look: chart.LookOf(1), Kind: chart.Dots}
	series := []*chart.Series{measured, kept}
	scale := human.Scale{Factor: 1}
	for _, r := range g.Rows {
		if v, unit := pointOf(r, "added-p99-ttft-ms"); unit != "" && r.Key("rate") != "" {
			measured.Points = append(measured.Points, v)
		}
		rate, unit := r.Spread("tail-req/s")
		bound, err := strconv.ParseFloat(r.Key("tail-ms"), 64)
		if unit == "" || err != nil {
			continue
		}
		p.Table.Add(count(bound), Figure(r, scale, "tail-req/s"), Figure(r, scale, "tail-missed-req/s"))
		kept.Points = append(kept.Points, chart.At(rate.Mid, bound))
		series = append(series, &chart.Series{Look: chart.Look{Color: chart.Soft, Dash: chart.Dotted}, Bare: true, Name: "bounds", Points: []chart.Point{chart.At(0, bound), chart.At(rate.Mid, bound)}})
	}
	if len(kept.Points) == 0 {
		return nil
	}
	for _, s := range series[2:] { // from the lowest rate on
		s.Points[0].X = kept.Points[0].X
		for _, v := range append(measured.Points, kept.Points...) {
			s.Points[0].X = min(s.Points[0].X, v.X)
		}
	}
	p.panels = []*chart.Panel{{
		X: chart.Axis{Label: "requests that arrive", Unit: "req/s", Log: true},
		Y: chart.Axis{Label: "added to the first token, p99", Unit: "ms", Log: true}, Series: series,
	}}
	p.Caption = "What the gateway adds to the first token of 99 of 100 requests, over the rate at which requests arrive, and the highest rates within each bound."
	return p
}
