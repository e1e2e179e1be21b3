package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// maxLanes is the largest number of requests that have a lane.
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
	wait, answer, broken := lookOf(3), lookOf(0), lookOf(1)
	p := &Picture{ID: slug("lanes", s.name), Title: s.name + ": requests", height: vg.Length(60 + 8*len(shown))}
	p.legend = []line{{name: "until the first token", look: look{color: wait.color}, bare: true}, {name: "answer", look: look{color: answer.color}, bare: true}, {name: "failed", look: broken, bare: true}}
	plt := newPlot("", x.label, "request")
	p.Table.Head = []string{"line", "start (" + unitOf(x) + ")", "first token", "end", "output tokens", "outcome", "error"}
	at := func(d time.Duration) float64 { return float64(d) * x.scale }
	for i, q := range shown {
		y := float64(i)
		first := q.End // not streamed: the whole time is a wait
		if q.Deltas > 0 {
			first = q.First
		}
		c := wait.color
		if q.Failed() {
			c, first = broken.color, q.End
		}
		if err := bar(plt, y, at(q.Start), at(first), c, 4); err != nil {
			return nil, err
		}
		if first < q.End {
			if err := bar(plt, y, at(first), at(q.End), answer.color, 4); err != nil {
				return nil, err
			}
		}
		if q.Failed() {
			if err := ring(plt, at(q.End), y, ink, draw.CrossGlyph{}, 3); err != nil {
				return nil, err
			}
		}
		token := ""
		if q.Deltas > 0 {
			token = brief(at(q.First))
		}
		p.Table.add(fmt.Sprint(q.Line), brief(at(q.Start)), token, brief(at(q.End)), fmt.Sprint(q.Output), string(q.Outcome), q.Error)
	}
	plt.Y.Min, plt.Y.Max, plt.X.Min = -1, float64(len(shown)), 0
	plt.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	plt.Y.Tick.Marker = plot.ConstantTicks(nil)
	p.plots = [][]*plot.Plot{{plt}}
	p.Caption = fmt.Sprintf("%d of %d requests of the first pass of the first sample, evenly chosen in the order in which they were sent.", len(shown), n)
	return p, nil
}

// unitOf returns the unit in the label of an axis.
func unitOf(a axis) string {
	switch a.scale {
	case 1e-9:
		return "s"
	case 1e-6:
		return "ms"
	}
	return "µs"
}

// bar draws part of a lane.
func bar(p *plot.Plot, y, from, to float64, c color.Color, width vg.Length) error {
	l, err := plotter.NewLine(plotter.XYs{{X: from, Y: y}, {X: to, Y: y}})
	if err != nil {
		return err
	}
	l.Color, l.Width = c, width
	p.Add(l)
	return nil
}
