package pictures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// maxBars is the largest number of lanes with bars in a picture.
const maxBars = 40

// Failures draws how many requests failed with each outcome, according to the records of the rows.
// It returns nil if no request failed.
func Failures(rows []*results.Row) *Picture {
	p := &Picture{ID: "failures", Title: "Failures by outcome"}
	p.Table.Head = []string{"benchmark", "outcome", "requests", "of", "its most frequent error"}
	bars := &chart.Series{Name: "failed", Kind: chart.Bars, Look: chart.LookOf(1), Bare: true, Values: true}
	plane := &chart.Panel{Y: chart.Axis{Label: "requests", Zero: true, Both: true}, Series: []*chart.Series{bars}}
	labels := systems.Labels(rows)
	left := 0
	order := make([]int, len(rows))
	for i := range rows {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return results.Natural(labels[a], labels[b]) })
	for _, i := range order {
		counts, words := map[sample.Outcome]int{}, map[sample.Outcome]map[string]int{}
		requests := 0
		for _, run := range rows[i].Runs {
			requests += run.Len()
			for q := range run.All() {
				if !q.Failed() {
					continue
				}
				counts[q.Outcome]++
				if words[q.Outcome] == nil {
					words[q.Outcome] = map[string]int{}
				}
				if len(words[q.Outcome]) < 1000 || words[q.Outcome][q.Error] > 0 {
					words[q.Outcome][q.Error]++
				}
			}
		}
		outcomes := slices.SortedFunc(maps.Keys(counts), func(a, b sample.Outcome) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
		for _, o := range outcomes {
			often, text := 0, ""
			for _, w := range slices.Sorted(maps.Keys(words[o])) {
				if n := words[o][w]; n > often {
					often, text = n, w
				}
			}
			n := counts[o]
			p.Table.Add(Cell{Text: labels[i]}, Cell{Text: string(o)}, count(float64(n)), count(float64(requests)), Cell{Text: text})
			if len(plane.Lanes) == maxBars {
				left++
				continue
			}
			q := bar(len(plane.Lanes), 0, float64(n))
			q.Text = fmt.Sprintf("of %d", requests)
			bars.Points = append(bars.Points, q)
			plane.Lanes = append(plane.Lanes, strings.TrimSpace(labels[i]+" "+string(o)))
		}
	}
	if len(plane.Lanes) == 0 {
		return nil
	}
	p.panels = []*chart.Panel{plane}
	p.Caption = "Requests that did not end well, by benchmark and outcome. They enter no latency and no throughput."
	if left > 0 {
		p.Caption += fmt.Sprintf(" The picture has the first %d of %d.", maxBars, maxBars+left)
	}
	return p
}
