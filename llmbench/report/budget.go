package report

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// budget draws the errors of the client itself: its errors by the log of the mock server, how
// late an open loop was, and by how much the client distorted figures. It returns nil if no
// result has such units.
func budget(rows []*Row) (*Picture, error) {
	p := &Picture{ID: "error-budget", Title: "The client's own error"}
	p.Table.Head = []string{"benchmark", "unit", "value"}
	bars := &chart.Series{Kind: chart.Bars, Bare: true, Look: chart.LookOf(3)}
	plane := &chart.Panel{Series: []*chart.Series{bars}}
	most, n := 0.0, 0
	for _, r := range rows {
		for _, unit := range r.Units {
			if unit == "client-err-%" { // no time: only in the table
				p.Table.add(r.Name, unit, r.cell(unit))
			}
			if !strings.HasSuffix(unit, "-err-ns") && unit != "p99-lag-ns" && unit != "p99-read-lag-ns" {
				continue
			}
			v, _ := r.spread(unit)
			p.Table.add(r.Name, unit, r.cell(unit))
			most = max(most, v.mid)
			if n++; n <= maxLanes {
				bars.Points = append(bars.Points, bar(n-1, 0, v.mid))
				plane.Lanes = append(plane.Lanes, unit+" "+short(r.Name))
			}
		}
	}
	if n == 0 {
		return nil, nil
	}
	p.Caption = "The part of the latencies that the client causes: their error against the mock server's own log, how late requests were sent, and how late the client read what had arrived."
	if n > maxLanes {
		p.Caption += fmt.Sprintf(" The picture has the first %d of %d.", maxLanes, n)
	}
	plane.Y = axisOf("time-ns", most)
	p.panels = []*chart.Panel{plane}
	return p, nil
}
