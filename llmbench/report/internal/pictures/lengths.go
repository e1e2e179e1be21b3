package pictures

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// inputLength finds the input length in the name of a workload, such as
// "continuation-in500-gen100".
var inputLength = regexp.MustCompile(`-in(\d+)(?:-|$)`)

// gridKeys holds the keys that differ within a grid of lengths.
var gridKeys = []string{"workload", "concurrency", "output", "gomaxprocs", "stream"}

// Lengths draws the output tokens per second over the output length, with a line for each input
// length, as published studies did. It returns a picture for each system for which a grid of
// lengths was measured.
func Lengths(rows []*results.Row) (all []*Picture) {
	type grid struct {
		first  *results.Row
		inputs map[int][]*results.Row
	}
	var grids []*grid
	by := map[string]*grid{}
	for _, r := range rows {
		m := inputLength.FindStringSubmatch(r.Key("workload"))
		if m == nil || len(r.Values[sample.OutputLength]) == 0 {
			continue
		}
		in, err := strconv.Atoi(m[1])
		if err != nil {
			continue // the number is too large for an int
		}
		id := fmt.Sprintf("%q %q %q", r.File, r.Base, results.Identity(r.Config))
		for _, s := range r.Keys {
			if !slices.Contains(gridKeys, s.Key) {
				id += fmt.Sprintf("%q", s)
			}
		}
		if by[id] == nil {
			by[id] = &grid{r, map[int][]*results.Row{}}
			grids = append(grids, by[id])
		}
		by[id].inputs[in] = append(by[id].inputs[in], r)
	}
	grids = slices.DeleteFunc(grids, func(g *grid) bool { return len(g.inputs) < 2 })
	var first []*results.Row
	for _, g := range grids {
		first = append(first, g.first)
	}
	for i, label := range systems.Labels(first, gridKeys...) {
		title := grids[i].first.Base
		if label != "" && !strings.HasPrefix(label, title) {
			title += " " + label
		}
		if p := lengthsOf(title, grids[i].inputs); p != nil {
			all = append(all, p)
		}
	}
	return all
}

func lengthsOf(title string, inputs map[int][]*results.Row) *Picture {
	p := &Picture{ID: Slug("lengths", title), Title: title + ": over the length of the output"}
	tokens, length := human.Scale{Unit: "tok/s", Base: "tok/s", Factor: 1}, human.Scale{Unit: "tok/req", Base: "tok/req", Factor: 1}
	plane := &chart.Panel{X: chart.Axis{Label: "output tokens per request"}, Y: axisOf("output tokens per second", tokens)}
	p.Table.Head = []string{"input", headed("output", length), headed("throughput", tokens)}
	for i, in := range slices.Sorted(maps.Keys(inputs)) {
		l := &chart.Series{Name: fmt.Sprintf("input %d", in), Look: chart.LookOf(i)}
		mean := func(r *results.Row) float64 { s, _ := r.Spread(sample.OutputLength); return s.Mid }
		slices.SortStableFunc(inputs[in], func(a, b *results.Row) int { return cmp.Compare(mean(a), mean(b)) })
		for _, r := range inputs[in] {
			q, unit := pointOf(r, columns.Output...)
			if unit == "" {
				continue
			}
			q.X = mean(r)
			l.Points = append(l.Points, q)
			p.Table.Add(count(float64(in)), Figure(r, length, sample.OutputLength), Figure(r, tokens, unit))
		}
		plane.Series = append(plane.Series, l)
	}
	if len(p.Table.Rows) < 2 {
		return nil
	}
	p.panels = []*chart.Panel{plane}
	p.Caption = fmt.Sprintf("Output tokens per second over output tokens per request; a line for each of %d input lengths, as the workload's name has them.", len(inputs))
	return p
}
