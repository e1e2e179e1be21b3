package pictures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Budget draws the errors of the client itself: its errors according to the log of the mock server,
// how late the requests of an open loop were, and by how much the client distorted values. It
// returns nil if no result has such units.
func Budget(rows []*results.Row) *Picture {
	own := func(unit string) bool {
		return strings.HasSuffix(unit, "-err-ns") || unit == sample.P99Lag || unit == sample.P99ReadLag
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *results.Row) bool {
		return !slices.ContainsFunc(r.Units, func(u string) bool { return own(u) || u == sample.ClientError })
	})
	labels := systems.Labels(rows)
	var units []string
	most := 0.0
	for _, r := range rows {
		for _, u := range r.Units {
			if own(u) {
				most = max(most, results.SpreadOf(r.Values[u]).Mid)
			}
			if (own(u) || u == sample.ClientError) && !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	scale := human.ScaleOf("time-ns", most)
	p := &Picture{ID: "error-budget", Title: "The client's own error"}
	p.Table.Head, p.Table.Units = []string{"benchmark"}, append([]string{""}, units...)
	for _, u := range units {
		p.Table.Head = append(p.Table.Head, columns.Name(u))
	}
	bars := &chart.Series{Name: "error", Kind: chart.Bars, Look: chart.LookOf(3), Bare: true}
	plane := &chart.Panel{Y: axisOf("time", scale), Series: []*chart.Series{bars}}
	left := 0
	for _, unit := range units {
		for i, r := range rows {
			v, has := r.Spread(unit)
			if has == "" || unit == sample.ClientError {
				continue
			}
			if len(plane.Lanes) == maxBars {
				left++
				continue
			}
			bars.Points = append(bars.Points, bar(len(plane.Lanes), 0, v.Mid))
			plane.Lanes = append(plane.Lanes, strings.TrimSpace(columns.Name(unit)+" "+labels[i]))
		}
	}
	if len(plane.Lanes) == 0 {
		return nil
	}
	for i, r := range rows {
		cells := []Cell{{Text: labels[i]}}
		for _, u := range units {
			cells = append(cells, textual(r, u))
		}
		p.Table.Add(cells...)
	}
	p.Caption = "The part of the latencies that the client causes: " + enumerate(units) + "."
	if left > 0 {
		p.Caption += fmt.Sprintf(" The picture has the first %d of %d.", maxBars, maxBars+left)
	}
	p.panels = []*chart.Panel{plane}
	return p
}

// enumerate says what units of the client's own error mean. Only a mock server has a log to compare with.
func enumerate(units []string) string {
	var parts []string
	for _, part := range []struct{ suffix, means string }{
		{"-err-ns", "their error against the mock server's own log"}, {sample.P99Lag, "how late requests were sent"}, {sample.P99ReadLag, "how late the client read what had arrived"},
	} {
		if slices.ContainsFunc(units, func(u string) bool { return strings.HasSuffix(u, part.suffix) }) {
			parts = append(parts, part.means)
		}
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return parts[0]
}

// textual returns the cell for a unit of a row: the median with its unit. It is for columns whose
// values differ much in size.
func textual(r *results.Row, unit string) Cell {
	v, has := r.Spread(unit)
	if has == "" {
		return Cell{}
	}
	return Figure(r, human.ScaleOf(unit, v.Mid), unit).withUnit(human.ScaleOf(unit, v.Mid))
}
