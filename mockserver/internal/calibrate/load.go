package calibrate

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// A load describes the output lengths of a point.
type load struct {
	output        float64 // mean length, in tokens, of the outputs that end by themselves
	runaway       []int   // indexes of the requests whose output does not end by itself
	runawayTokens int     // output length of these if they ended before the timeout, otherwise 0
}

// expected estimates the load of a point that was not measured from the measured points of the same workload. A
// request is expected to run away (its output does not end by itself) if it did so at more than half of the
// points. Its output is expected to end before the timeout if it did so at more than half of the points at
// which it ran away.
func expected(pt profiles.Point, measured []profiles.Point) load {
	if len(pt.Asked) > 0 {
		return expectedOf(pt, measured)
	}
	l := load{output: meanOutput(measured)}
	times, ended := map[int]int{}, map[int][]float64{}
	for _, q := range measured {
		for _, j := range q.Runaway {
			times[j]++
			if q.RunawayTokens > 0 {
				ended[j] = append(ended[j], float64(q.RunawayTokens))
			}
		}
	}
	for j, n := range times {
		if 2*n > len(measured) && j < pt.Requests {
			l.runaway = append(l.runaway, j)
			if 2*len(ended[j]) > n {
				l.runawayTokens = int(mean(ended[j]))
			}
		}
	}
	slices.Sort(l.runaway)
	return l
}

// meanOutput returns the mean output length over all requests of the points, or 0 if there are no points. At
// censored points, timeouts removed long outputs from the mean. Censored points are used only if there are no
// others.
func meanOutput(points []profiles.Point) float64 {
	for _, censored := range []bool{false, true} {
		sum, requests := 0.0, 0.0
		for _, p := range points {
			if p.Censored == censored {
				sum += p.Output * float64(p.Requests)
				requests += float64(p.Requests)
			}
		}
		if requests > 0 {
			return sum / requests
		}
	}
	return 0
}

// expectedOf estimates the load of a point whose client asked for certain lengths. It treats the measured
// points as a table: a row per asked prompt length, a column per asked output length. Each estimate assumes
// that rows and columns act independently: the mean of the point's row times the mean of its column, divided by
// the mean of all points. The mean output length and the share of runaway requests are estimated in this way.
func expectedOf(pt profiles.Point, measured []profiles.Point) load {
	estimate := func(f func(profiles.Point) float64) float64 {
		var row, column, all []float64
		for _, q := range measured {
			v := f(q)
			all = append(all, v)
			if q.Asked[0] == pt.Asked[0] {
				row = append(row, v)
			}
			if q.Asked[1] == pt.Asked[1] {
				column = append(column, v)
			}
		}
		if len(row) == 0 {
			row = all
		}
		if len(column) == 0 {
			column = all
		}
		if len(all) == 0 || mean(all) == 0 {
			return 0
		}
		return mean(row) * mean(column) / mean(all)
	}
	l := load{output: estimate(func(q profiles.Point) float64 { return q.Output })}
	share := estimate(func(q profiles.Point) float64 { return float64(len(q.Runaway)) / float64(q.Requests) })
	n := min(int(math.Round(share*float64(pt.Requests))), pt.Requests)
	for k := range n { // spread evenly, because it is unknown which requests run away
		l.runaway = append(l.runaway, (2*k+1)*pt.Requests/(2*n))
	}
	return l
}
