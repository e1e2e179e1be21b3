package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// budget draws the errors of the client itself: its errors by the log of the mock server, how
// late an open loop was, and by how much the client distorted figures. It returns nil if no
// result has such units.
func budget(rows []*Row) (*Picture, error) {
	p := &Picture{ID: "error-budget", Title: "The client's own error"}
	p.Table.Head = []string{"benchmark", "unit", "value"}
	var lanes []lane
	most := 0.0
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
			lanes = append(lanes, lane{label: unit + " " + short(r.Name), to: v.mid, color: 3})
			most = max(most, v.mid)
		}
	}
	if len(lanes) == 0 {
		return nil, nil
	}
	p.Caption = "The part of the latencies that the client causes: their error against the mock server's own log, how late requests were sent, and how late the client read what had arrived."
	if len(lanes) > 40 {
		p.Caption += fmt.Sprintf(" The picture has the first 40 of %d.", len(lanes))
		lanes = lanes[:40]
	}
	a := axisOf("time-ns", most)
	for i := range lanes {
		lanes[i].to *= a.scale
	}
	plt := newPlot("", a.label, "")
	plt.X.Min = 0
	if err := laned(plt, lanes); err != nil {
		return nil, err
	}
	p.plots, p.height = [][]*plot.Plot{{plt}}, vg.Length(50+16*len(lanes))
	return p, nil
}
