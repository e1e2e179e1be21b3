package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// failures draws the numbers of failed requests by outcome, of all runs of the report. It
// returns nil if none failed.
func failures(all []*samples) (*Picture, error) {
	type cell struct {
		name    string
		outcome sample.Outcome
	}
	counts := map[cell]int{}
	requests := map[string]int{}
	words := map[cell]map[string]int{}
	for _, s := range all {
		for _, run := range s.runs {
			requests[s.name] += run.Len()
			for q := range run.All() {
				if !q.Failed() {
					continue
				}
				c := cell{s.name, q.Outcome}
				counts[c]++
				if words[c] == nil {
					words[c] = map[string]int{}
				}
				if len(words[c]) < 1000 || words[c][q.Error] > 0 {
					words[c][q.Error]++
				}
			}
		}
	}
	if len(counts) == 0 {
		return nil, nil
	}
	cells := make([]cell, 0, len(counts))
	for c := range counts {
		cells = append(cells, c)
	}
	slices.SortFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(counts[b], counts[a]), cmp.Compare(a.outcome, b.outcome))
	})
	p := &Picture{ID: "failures", Title: "Failures by outcome"}
	p.Table.Head = []string{"benchmark", "outcome", "requests", "of", "its most frequent error"}
	bars := &chart.Series{Kind: chart.Bars, Bare: true, Look: chart.LookOf(1)}
	plane := &chart.Panel{Y: chart.Axis{Unit: "requests", Zero: true}, Series: []*chart.Series{bars}}
	for _, c := range cells {
		often, text := 0, ""
		for _, w := range sortedKeys(words[c]) {
			if n := words[c][w]; n > often {
				often, text = n, w
			}
		}
		p.Table.add(c.name, string(c.outcome), fmt.Sprint(counts[c]), fmt.Sprint(requests[c.name]), text)
		if n := len(plane.Lanes); n < maxLanes {
			plane.Lanes = append(plane.Lanes, string(c.outcome))
			bars.Points = append(bars.Points, bar(n, 0, float64(counts[c])))
		}
	}
	p.panels = []*chart.Panel{plane}
	p.Caption = "Requests that did not end well, by benchmark and outcome. They enter no latency and no throughput."
	if len(cells) > maxLanes {
		p.Caption += fmt.Sprintf(" The picture has the first %d of %d.", maxLanes, len(cells))
	}
	return p, nil
}
