package report

import (
	"fmt"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
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
	p := &Picture{ID: slug("timeline", s.name), Title: s.name + ": over time", height: 120}
	per := c.width.Seconds()
	x := axisOf("time-ns", float64(c.width)*bins)
	width := float64(c.width) * x.scale
	p.Table.Head = []string{x.label, "output tok/s", "requests in flight", "failures/s", ""}
	for i, of := range []struct {
		title  string
		values []float64
		scale  float64
	}{{"output tok/s", c.tokens, 1 / per}, {"requests in flight", c.inFlight, 1}, {"failures/s", c.failures, 1 / per}} {
		plt := newPlot("", "", of.title)
		if i == 2 {
			plt.X.Label.Text = x.label
		}
		l := line{look: lookOf([]int{0, 2, 1}[i]), bare: true, steps: true}
		l.look.dashes = nil
		top := 0.0
		for b, v := range of.values {
			l.xs, l.ys = append(l.xs, float64(b)*width), append(l.ys, v*of.scale)
			top = max(top, v*of.scale)
		}
		if top == 0 {
			top = 1
		}
		if steady.Why == "" {
			if err := window(plt, float64(steady.Begin)*x.scale, float64(steady.End)*x.scale, top*1.05); err != nil {
				return nil, err
			}
		}
		if err := l.draw(plt); err != nil {
			return nil, err
		}
		plt.X.Min, plt.X.Max, plt.Y.Max = 0, bins*width, top*1.05
		p.plots = append(p.plots, []*plot.Plot{plt})
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

// window shades the part of a plot between two instants.
func window(p *plot.Plot, from, to, top float64) error {
	poly, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: 0}, {X: from, Y: top}, {X: to, Y: top}, {X: to, Y: 0}})
	if err != nil {
		return err
	}
	shade := grid
	shade.A = 0x70
	poly.Color, poly.LineStyle.Width = shade, 0
	p.Add(poly)
	return nil
}
