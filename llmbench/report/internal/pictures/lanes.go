package pictures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// maxLanes is the largest number of requests that have a lane.
const maxLanes = 24

// Lanes draws some requests of the first pass of a row's first run, one in each lane. It shows the
// time to the first token, the time of the rest of the answer, and whether the request failed.
func Lanes(id, title string, r *results.Row) *Picture {
	run := r.Runs[0]
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
	x := human.ScaleOf("time-ns", float64(end))
	waits := &chart.Series{Name: "until the first token", Kind: chart.Bars, Bare: true, Look: chart.LookOf(3)}
	answers := &chart.Series{Name: "answer", Kind: chart.Bars, Bare: true, Look: chart.LookOf(0)}
	broken := &chart.Series{Name: "failed", Kind: chart.Bars, Look: chart.Look{Color: 1, Mark: chart.Cross}}
	plane := &chart.Panel{Y: axisOf("time", x), Lanes: make([]string, len(shown))}
	plane.Y.Both = false
	p := &Picture{ID: id, Title: title}
	p.Table.Head = []string{"line", headed("start", x), headed("first token", x), headed("end", x), "output tokens", "outcome", "error"}
	for i, q := range shown {
		first := q.End // without streaming, the whole time is a wait
		token := Cell{}
		if q.Deltas > 0 {
			first = q.Seen()
			token = brief(x, float64(first))
		}
		switch {
		case q.Failed():
			broken.Points = append(broken.Points, bar(i, float64(q.Start), float64(q.End)))
		default:
			waits.Points = append(waits.Points, bar(i, float64(q.Start), float64(first)))
			if first < q.End {
				answers.Points = append(answers.Points, bar(i, float64(first), float64(q.End)))
			}
		}
		p.Table.Add(count(float64(q.Line)), brief(x, float64(q.Start)), token, brief(x, float64(q.End)), count(float64(q.OutputTokens)),
			Cell{Text: string(q.Outcome)}, Cell{Text: q.Error})
	}
	for _, s := range []*chart.Series{waits, answers, broken} {
		if len(s.Points) > 0 {
			plane.Series = append(plane.Series, s)
		}
	}
	p.panels = []*chart.Panel{plane}
	p.Caption = fmt.Sprintf("%d of %d requests of the first pass of the first sample, evenly chosen in the order in which they were sent.", len(shown), n)
	return p
}
