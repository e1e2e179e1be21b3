package pictures

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

const (
	// maxBins is the largest number of bins of equal length into which a pass is divided.
	maxBins = 100
	// gapsPerBin is the smallest number of median token gaps that a bin must be long. The streams
	// of a batch get their tokens at the same instants. If a bin contained about one such instant,
	// the bins with one more or one less would look like a rhythm that the server does not have.
	gapsPerBin = 10
)

// A course says what happened in each bin of a pass.
type course struct {
	width                      time.Duration
	gaps                       float64   // the length of a bin in median token gaps; 0 if there are no gaps
	tokens, inFlight, failures []float64 // the tokens of successful requests, the mean number of requests in flight, and the number of failed requests
	failed                     bool
}

// courseOf returns the course of the first pass of a run.
func courseOf(run *records.Run) course {
	var end time.Duration
	var gaps records.Dist
	for q := range run.Pass(0) {
		end = max(end, q.End)
		if q.OK() {
			gaps.AddGaps(q)
		}
	}
	gap := 0.0
	if gaps.N > 0 {
		gap = gaps.Sketch(0.5)[0]
	}
	bins := maxBins
	if gap > 0 {
		bins = min(maxBins, max(1, int(float64(end)/(gapsPerBin*gap))))
	}
	c := course{width: max(1, (end+time.Duration(bins)-1)/time.Duration(bins)), tokens: make([]float64, bins), inFlight: make([]float64, bins), failures: make([]float64, bins)}
	if gap > 0 {
		c.gaps = float64(c.width) / gap
	}
	bin := func(at time.Duration) int { return min(bins-1, int(at/c.width)) }
	for q := range run.Pass(0) {
		if q.Failed() {
			c.failures[bin(q.End)]++
			c.failed = true
		}
		switch {
		case !q.OK(): // as in output-tok/s, the tokens of a failed request do not count as output
		case q.Deltas > 0: // the tokens are spread evenly over the deltas
			each := float64(q.OutputTokens) / float64(q.Deltas)
			at := q.First
			c.tokens[bin(at)] += each
			for gap := range q.Gaps() {
				at += gap
				c.tokens[bin(at)] += each
			}
		default:
			c.tokens[bin(q.End)] += float64(q.OutputTokens)
		}
		for b := bin(q.Start); b <= bin(q.End); b++ {
			from, to := max(q.Start, time.Duration(b)*c.width), min(q.End, time.Duration(b+1)*c.width)
			c.inFlight[b] += float64(to-from) / float64(c.width)
		}
	}
	return c
}

// tableRows is the approximate number of rows in the table of a course.
const tableRows = 12

// Timeline draws the course of the first pass of a row's first run. It shows the tokens, the
// requests in flight, the failures if there are any, and the steady part that [sample.SteadyStates]
// finds. It returns nil if the pass is so short that it has a single bin.
func Timeline(id, title string, r *results.Row) *Picture {
	run := r.Runs[0]
	c, steady := courseOf(run), run.Steady(0)
	bins := len(c.tokens)
	if bins < 2 {
		return nil
	}
	per := c.width.Seconds()
	x := human.ScaleOf("time-ns", float64(c.width)*float64(bins))
	at := func(bin int) float64 { return float64(bin) * float64(c.width) }
	p := &Picture{ID: id, Title: title, columns: 2}
	p.Table.Head = []string{headed("time", x), "output tok/s", "requests in flight"}
	parts := partsOf(&run.Head)
	for i, of := range []struct {
		title, unit string
		values      []float64
		scale       float64
	}{{"output tokens per second", "tok/s", c.tokens, 1 / per}, {"requests in flight", "", c.inFlight, 1}, {"failures per second", "1/s", c.failures, 1 / per}} {
		if i == 2 && !c.failed {
			continue
		}
		l := &chart.Series{Kind: chart.Steps, Look: chart.LookOf([]int{0, 2, 1}[i]), Bare: true}
		l.Look.Dash = 0
		for b, v := range of.values {
			l.Points = append(l.Points, chart.At(at(b), numbers.Rounded(v*of.scale, 4)))
		}
		l.Points = append(l.Points, chart.At(at(bins), numbers.Rounded(of.values[bins-1]*of.scale, 4)))
		series := []*chart.Series{l}
		if i == 1 && run.Head.Users != "" {
			l.Name = "requests in flight"
			series = append(series, usersOf(parts))
		}
		plane := &chart.Panel{Title: of.title, X: chart.Axis{Unit: x.Unit, Base: x.Base, Scale: x.Factor, To: at(bins)},
			Y: chart.Axis{Unit: of.unit, Zero: true}, Series: series}
		if steady.Why == "" {
			plane.Shades = []chart.Shade{{From: float64(steady.Begin), To: float64(steady.End)}}
		}
		p.panels = append(p.panels, plane)
	}
	step := max(1, bins/tableRows)
	if c.failed {
		p.Table.Head = append(p.Table.Head, "failures/s")
	}
	p.Table.Head = append(p.Table.Head, "")
	for i := 0; i < bins; i += step {
		var tokens, inFlight, failed float64
		to := min(bins, i+step)
		within := steady.Why == "" && at(i) >= float64(steady.Begin) && at(to) <= float64(steady.End)
		for b := i; b < to; b++ {
			tokens, inFlight, failed = tokens+c.tokens[b], inFlight+c.inFlight[b], failed+c.failures[b]
		}
		n := float64(to - i)
		cells := []Cell{brief(x, at(i)), count(numbers.Rounded(tokens/n/per, 4)), count(numbers.Rounded(inFlight/n, 4))}
		if c.failed {
			cells = append(cells, count(numbers.Rounded(failed/n/per, 4)))
		}
		where := nameOf(parts, time.Duration(at(i)))
		if within {
			where = strings.TrimPrefix(where+", steady", ", ")
		}
		p.Table.Add(append(cells, Cell{Text: where})...)
	}
	p.Caption = fmt.Sprintf("Output tokens per second of the successful requests, and requests in flight, over the first pass of the first sample, in %d steps of %s", bins, human.Text("step-ns", float64(c.width)))
	if c.gaps > 0 {
		p.Caption += fmt.Sprintf(", which is %s median gaps between tokens", chart.Brief(c.gaps))
	}
	p.Caption += "."
	if steady.Why == "" {
		p.Caption += " The shaded part is that in which output came at a steady rate."
	} else {
		p.Caption += " No steady state: " + steady.Why + "."
	}
	if len(parts) > 0 {
		p.Caption += " " + describe(parts)
	}
	return p
}
