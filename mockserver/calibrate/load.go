package calibrate

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

// A load is how long the outputs of a point are.
type load struct {
	output        float64 // mean length of the outputs that end, in tokens
	runaway       []int   // ordinals of requests whose output does not end by itself
	runawayTokens int     // their length if it ended within the timeout, otherwise 0
}

// expected returns the load to be expected at a point that has not been measured, from
// measured points of its workload. A request runs away if it did so at more than half
// of them, and its output ends if it did so at more than half of those.
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

// meanOutput returns the mean output length over the requests of points. It leaves out
// points from whose mean timeouts have removed long outputs, if there are others. It is
// 0 without points.
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

// expectedOf returns the load of a point whose client asked for certain lengths. The
// mean output and the share of runaway requests are those of a table of asked lengths
// without interaction: the mean over the points of the same asked prompt, times the
// mean over those of the same asked output, over the mean of all.
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
	for k := range n { // spread evenly, because nobody knows which requests they are
		l.runaway = append(l.runaway, (2*k+1)*pt.Requests/(2*n))
	}
	return l
}
