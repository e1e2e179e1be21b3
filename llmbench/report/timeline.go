package report

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// bins is the number of equal times that a pass is divided into.
const bins = 240

// A course is what happened in each bin of a pass.
type course struct {
	width                      time.Duration
	tokens, inFlight, failures []float64 // tokens of successful requests; mean requests in flight; failed requests
}

// courseOf returns the course of the first pass of a run.
func courseOf(run *records.Run) course {
	var end time.Duration
	for q := range run.Pass(0) {
		end = max(end, q.End)
	}
	c := course{width: max(1, (end+bins-1)/bins), tokens: make([]float64, bins), inFlight: make([]float64, bins), failures: make([]float64, bins)}
	bin := func(at time.Duration) int { return min(bins-1, int(at/c.width)) }
	for q := range run.Pass(0) {
		if q.Failed() {
			c.failures[bin(q.End)]++
		}
		switch {
		case !q.OK(): // the tokens of a failed request are no output, as in output-tok/s
		case q.Deltas > 0: // the tokens are spread evenly over the deltas
			each := float64(q.Output) / float64(q.Deltas)
			at := q.First
			c.tokens[bin(at)] += each
			for gap := range q.Gaps() {
				at += gap
				c.tokens[bin(at)] += each
			}
		default:
			c.tokens[bin(q.End)] += float64(q.Output)
		}
		for b := bin(q.Start); b <= bin(q.End); b++ {
			from, to := max(q.Start, time.Duration(b)*c.width), min(q.End, time.Duration(b+1)*c.width)
			c.inFlight[b] += float64(to-from) / float64(c.width)
		}
	}
	return c
}

// timeline draws the course of a pass: tokens, requests in flight and failures over time, and
// the steady part that [sample.SteadyStates] finds.
func (s *samples) timeline() (*Picture, error) {
	run := s.runs[0]
	c, steady := courseOf(run), run.Steady(0)
	p := &Picture{ID: slug("timeline", s.name), Title: s.name + ": over time", columns: 3}
	per := c.width.Seconds()
	x := axisOf("time-ns", float64(c.width)*bins)
	width := float64(c.width) * x.Scale
	p.Table.Head = []string{"time (" + x.Unit + ")", "output tok/s", "requests in flight", "failures/s", ""}
	for i, of := range []struct {
		title  string
		values []float64
		scale  float64
	}{{"output tok/s", c.tokens, 1 / per}, {"requests in flight", c.inFlight, 1}, {"failures/s", c.failures, 1 / per}} {
		l := &chart.Series{Kind: chart.Steps, Bare: true, Look: chart.Look{Color: []chart.Color{0, 2, 1}[i]}}
		for b, v := range of.values {
			l.Points = append(l.Points, chart.At(float64(b)*float64(c.width), v*of.scale))
		}
		plane := &chart.Panel{Title: of.title, X: x, Y: chart.Axis{Zero: true}, Series: []*chart.Series{l}}
		plane.X.To = float64(c.width) * bins
		if steady.Why == "" {
			plane.Shades = []chart.Shade{{From: float64(steady.Begin), To: float64(steady.End)}}
		}
		p.panels = append(p.panels, plane)
	}
	const rows = 24 // in the table
	for i := 0; i < bins; i += bins / rows {
		var tokens, inFlight, failed float64
		from, to := time.Duration(i)*c.width, time.Duration(i+bins/rows)*c.width
		within := steady.Why == "" && from >= steady.Begin && to <= steady.End
		for b := i; b < i+bins/rows; b++ {
			tokens, inFlight, failed = tokens+c.tokens[b], inFlight+c.inFlight[b], failed+c.failures[b]
		}
		n := float64(bins / rows)
		p.Table.add(brief(float64(i)*width), brief(tokens/n/per), brief(inFlight/n), brief(failed/n/per), map[bool]string{true: "steady"}[within])
	}
	p.Caption = fmt.Sprintf("Output tokens per second of the successful requests, requests in flight and failures per second over the first pass of the first sample, in %d steps of %v.", bins, c.width)
	if steady.Why == "" {
		p.Caption += " The shaded part is that in which output came at a steady rate."
	} else {
		p.Caption += " No steady state: " + steady.Why + "."
	}
	return p, nil
}
