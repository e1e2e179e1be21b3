package pictures

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// axisOf returns an axis for the values of a scale. It begins at 0. A reader can switch it to
// logarithmic.
func axisOf(label string, s human.Scale) chart.Axis {
	return chart.Axis{Label: label, Unit: s.Unit, Base: s.Base, Scale: s.Factor, Zero: true, Both: true, Clip: true}
}

// loadAxis returns the axis of a load, with marks at the loads of the systems. If the loads differ
// by more than a factor of ten, the axis is logarithmic.
func loadAxis(load string, all []*systems.System) chart.Axis {
	xs := loadsOf(all)
	a := chart.Axis{Label: loadHead(load), Ticks: xs}
	if compare.Open(load) {
		a.Label, a.Unit = "requests that arrive", "req/s"
	}
	if n := len(xs); n > 0 && xs[0] > 0 {
		a.Log = xs[n-1] > 10*xs[0]
	}
	return a
}

// loadHead returns the head of the column of the load.
func loadHead(load string) string {
	switch {
	case load == "":
		return "load"
	case compare.Open(load):
		return "req/s"
	case load == "streams":
		return load
	}
	return "users"
}

// manyLines is the largest number of lines of a picture that is drawn on both scales. Two drawings of more
// lines would make a page too large.
const manyLines = 8

// loadsOf returns the different loads of the systems, the smallest first.
func loadsOf(all []*systems.System) (xs []float64) {
	for _, s := range all {
		for _, r := range s.Rows {
			_, x := r.Load()
			xs = append(xs, x)
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// pointOf returns the value of a row at its load, and the unit of the value. The unit is the first
// of the given units that the row has. If it has none of them, the unit is "".
func pointOf(r *results.Row, units ...string) (p chart.Point, unit string) {
	s, unit := r.Spread(units...)
	_, x := r.Load()
	p = chart.Point{X: x, Value: s.Mid, Low: s.Low, High: s.High}
	if unit != "" {
		p.Doubt = r.Doubt(unit)
	}
	if s.N > 1 {
		p.Text = fmt.Sprintf("median of %d samples", s.N)
	}
	return p, unit
}

// lookOf returns the look of a system of a group. The look is the same in all pictures.
func lookOf(all []*systems.System, s *systems.System) chart.Look {
	return chart.LookOf(max(0, slices.Index(all, s)))
}

// bar returns a bar in a lane. Its value is its end.
func bar(lane int, from, to float64) chart.Point {
	return chart.Point{X: float64(lane), Value: to, Low: min(from, to), High: max(from, to)}
}
