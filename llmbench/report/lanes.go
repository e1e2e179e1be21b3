package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// maxLanes is the largest number of lanes in a picture.
const maxLanes = 40

// lanes draws a lane for each of some requests: the time to the first token, the time of the
// rest of the answer, and the outcome.
func (s *samples) lanes() (*Picture, error) {
	run := s.runs[0]
	sent := slices.SortedStableFunc(run.Pass(0), func(a, b *records.Request) int { return cmp.Compare(a.Start, b.Start) })
	n := len(sent)
	step := max(1, float64(n)/maxLanes)
	var shown []*records.Request
	var end time.Duration
	for i, q := range sent {
		if float64(i) >= math.Ceil(float64(len(shown))*step-1e-9) && len(shown) < maxLanes {
			shown = append(shown, q)
			end = max(end, q.End)
		}
	}
	x := axisOf("time-ns", float64(end))
	waits := &chart.Series{Name: "until the first token", Kind: chart.Bars, Bare: true, Look: chart.LookOf(3)}
	answers := &chart.Series{Name: "answer", Kind: chart.Bars, Bare: true, Look: chart.LookOf(0)}
	broken := &chart.Series{Name: "failed", Kind: chart.Bars, Look: chart.Look{Color: 1, Mark: chart.Cross}}
	plane := &chart.Panel{Y: x, Lanes: make([]string, len(shown)), Series: []*chart.Series{waits, answers, broken}}
	plane.Y.Both = false
	p := &Picture{ID: slug("lanes", s.name), Title: s.name + ": requests", panels: []*chart.Panel{plane}}
	p.Table.Head = []string{"line", "start (" + x.Unit + ")", "first token", "end", "output tokens", "outcome", "error"}
	at := func(d time.Duration) float64 { return float64(d) * x.Scale }
	for i, q := range shown {
		first := q.End // not streamed: the whole time is a wait
		if q.Deltas > 0 {
			first = q.First
		}
		switch {
		case q.Failed():
			broken.Points = append(broken.Points, bar(i, float64(q.Start), float64(q.End)))
		case first < q.End:
			answers.Points = append(answers.Points, bar(i, float64(first), float64(q.End)))
			fallthrough
		default:
			waits.Points = append(waits.Points, bar(i, float64(q.Start), float64(first)))
		}
		token := ""
		if q.Deltas > 0 {
			token = brief(at(q.First))
		}
		p.Table.add(fmt.Sprint(q.Line), brief(at(q.Start)), token, brief(at(q.End)), fmt.Sprint(q.Output), string(q.Outcome), q.Error)
	}
	p.Caption = fmt.Sprintf("%d of %d requests of the first pass of the first sample, evenly chosen in the order in which they were sent.", len(shown), n)
	return p, nil
}

// bar returns a bar in a lane, whose value is its end.
func bar(lane int, from, to float64) chart.Point {
	return chart.Point{X: float64(lane), Value: to, Low: from, High: to}
}
