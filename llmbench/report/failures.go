package report

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

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
	var rows []lane
	for _, c := range cells {
		often, text := 0, ""
		for _, w := range sortedKeys(words[c]) {
			if n := words[c][w]; n > often {
				often, text = n, w
			}
		}
		p.Table.add(c.name, string(c.outcome), fmt.Sprint(counts[c]), fmt.Sprint(requests[c.name]), text)
		rows = append(rows, lane{label: string(c.outcome), from: 0, to: float64(counts[c]), color: 1})
	}
	shown := rows[:min(len(rows), 40)]
	plt := newPlot("", "requests", "")
	if err := laned(plt, shown); err != nil {
		return nil, err
	}
	p.plots, p.height = [][]*plot.Plot{{plt}}, vg.Length(50+16*len(shown))
	p.Caption = "Requests that did not end well, by benchmark and outcome. They enter no latency and no throughput."
	if len(shown) < len(rows) {
		p.Caption += fmt.Sprintf(" The picture has the first %d of %d.", len(shown), len(rows))
	}
	return p, nil
}
