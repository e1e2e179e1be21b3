package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// inputLength finds the input length in the name of a workload: "continuation-in500-gen100".
var inputLength = regexp.MustCompile(`-in(\d+)(?:-|$)`)

// lengths draws output tokens per second over the output length, with a line for each input
// length. There is a picture for each system of which a grid of lengths was measured.
func lengths(rows []*Row) (all []*Picture, err error) {
	type place struct {
		title  string
		inputs map[int][]*Row
	}
	var places []*place
	by := map[string]*place{}
	for _, r := range rows {
		m := inputLength.FindStringSubmatch(r.key("workload"))
		if m == nil || len(r.Values["out-tok/req"]) == 0 {
			continue
		}
		title := r.Base
		for _, s := range append(without(r.Keys, "workload", "concurrency", "output", "gomaxprocs", "stream"), benchfile.Setting{Value: benchfile.Lookup(r.Config, "hardware")}) {
			if s.Value != "" {
				title += " " + s.Value
			}
		}
		p := by[r.File+title]
		if p == nil {
			p = &place{title, map[int][]*Row{}}
			by[r.File+title] = p
			places = append(places, p)
		}
		in, err := strconv.Atoi(m[1])
		if err != nil {
			continue // too large for an int
		}
		p.inputs[in] = append(p.inputs[in], r)
	}
	for _, place := range places {
		if len(place.inputs) < 2 {
			continue
		}
		pic := &Picture{ID: slug("lengths", place.title), Title: place.title + ": over the length of the output"}
		plane := &chart.Panel{X: chart.Axis{Label: "output tokens per request"}, Y: axisOf("output tok/s", 0)}
		pic.Table.Head = []string{"input", "out-tok/req", "output tok/s"}
		inputs := make([]int, 0, len(place.inputs))
		for in := range place.inputs {
			inputs = append(inputs, in)
		}
		slices.Sort(inputs)
		for i, in := range inputs {
			l := &chart.Series{Name: fmt.Sprintf("input %d", in), Look: chart.LookOf(i)}
			at := place.inputs[in]
			length := func(r *Row) float64 { s, _ := r.spread("out-tok/req"); return s.mid }
			slices.SortStableFunc(at, func(a, b *Row) int { return cmp.Compare(length(a), length(b)) })
			for _, r := range at {
				v, has := r.spread(outputUnits...)
				if !has {
					continue
				}
				l.Points = append(l.Points, v.point(length(r)))
				unit := outputUnits[0]
				if len(r.Values[unit]) == 0 {
					unit = outputUnits[1]
				}
				pic.Table.add(fmt.Sprint(in), r.cell("out-tok/req"), r.cell(unit))
			}
			plane.Series = append(plane.Series, l)
		}
		if len(pic.Table.Rows) < 2 {
			continue
		}
		pic.panels = []*chart.Panel{plane}
		pic.Caption = fmt.Sprintf("Output tokens per second over output tokens per request; a line for each of %d input lengths, as the workload's name has them.", len(inputs))
		all = append(all, pic)
	}
	return all, nil
}
