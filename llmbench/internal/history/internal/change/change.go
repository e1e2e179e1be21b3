// Package change finds the points at which the level of a series changed. It implements the method of Hunter
// (https://arxiv.org/abs/2301.03034), as Apache Otava does
// (https://github.com/apache/otava/blob/master/docs/MATH.md).
//
// The series is covered by overlapping windows. Each window is split at the point whose two sides differ most,
// measured by the energy distance of Matteson and James (https://arxiv.org/abs/1306.4933). The parts are split
// again as long as Student's t-test finds a difference between the two sides at a relaxed significance level.
// Then the weakest points are removed one by one, until every remaining point is significant at the strict
// level and its change is large enough. The method is deterministic.
package change

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Options are the parameters of [Points].
type Options struct {
	Window int     // the length of the windows, 2 or more
	P      float64 // the largest p-value of a change point
	Min    float64 // the change must be larger than this share of either level: 0.01 is 1 %
}

// A Point is a change point: an index at which the level of the series changes.
type Point struct {
	Index         int     // index of the first value with the new level
	First, Last   int     // range of indexes with a likelihood of at least exp(-2) times the likelihood of Index
	P             float64 // p-value of the t-test that compares the values before and after Index, up to the neighboring points
	Before, After float64 // mean of the values before and after Index
	Error         float64 // the standard error of After - Before
	Free          int     // the degrees of freedom of the t-test
}

// Width returns half the width of the confidence interval of After - Before. The confidence is between 0 and 1.
func (p Point) Width(confidence float64) float64 {
	return p.Error * stats.InvCDF(stats.TDist{V: float64(p.Free)})((1+confidence)/2)
}

// magnitude returns |After - Before| as a share of Before or of After, whichever share is larger.
func (p Point) magnitude() float64 {
	d := math.Abs(p.After - p.Before)
	return max(d/math.Abs(p.Before), d/math.Abs(p.After))
}

// Points returns the change points of xs, sorted by index.
func Points(xs []float64, o Options) []Point {
	relaxed := o.P
	switch {
	case o.P < 0.05:
		relaxed *= 10
	case o.P < 0.5:
		relaxed *= 2
	}
	var all []int
	for start := 0; start < len(xs); {
		end := min(start+o.Window, len(xs))
		found := divide(xs[start:end], relaxed)
		next := start + o.Window/2
		for i, at := range found {
			found[i] = start + at
			next = max(next, start+at)
		}
		all = append(all, found...)
		start = next
	}
	slices.Sort(all)
	return merge(xs, slices.Compact(all), o)
}

// divide returns the change points within a window. It repeatedly splits the part that has the most distant
// sides, until a split is not significant at level p.
func divide(xs []float64, p float64) []int {
	var points []int
	e := newEnergy(xs)
	for {
		best, bestQ := -1, math.Inf(-1)
		for i := range len(points) + 1 {
			start, end := part(points, i, len(xs))
			if at, q := e.divide(start, end); at > 0 && q > bestQ {
				best, bestQ = at, q
			}
		}
		if best < 0 {
			return points
		}
		i, _ := slices.BinarySearch(points, best)
		start, end := part(points, i, len(xs))
		if compare(xs[start:best], xs[best:end]).P > p {
			return points
		}
		points = slices.Insert(points, i, best)
	}
}

// part returns the bounds of part i, counted from 0. The points divide n values into len(points)+1 parts.
func part(points []int, i, n int) (start, end int) {
	end = n
	if i > 0 {
		start = points[i-1]
	}
	if i < len(points) {
		end = points[i]
	}
	return start, end
}

// merge removes points until all are significant and large enough. It removes the point with the largest
// p-value first; once all are significant, it removes the one with the smallest change. As in Otava, a removal
// updates the p-values of the next two points, but not of the point before. So a point can stay although it was
// significant only beside a removed point. The returned p-values are recomputed from the final points.
func merge(xs []float64, at []int, o Options) []Point {
	points := make([]Point, len(at))
	update := func(i int) {
		if i < 0 || i >= len(points) {
			return
		}
		start, _ := part(at, i, len(xs))
		_, end := part(at, i+1, len(xs))
		points[i] = compare(xs[start:at[i]], xs[at[i]:end])
		points[i].Index = at[i]
	}
	for i := range points {
		update(i)
	}
	for len(points) > 0 {
		weakest, smallest := 0, 0
		for i, p := range points {
			if p.P > points[weakest].P {
				weakest = i
			}
			if p.magnitude() < points[smallest].magnitude() {
				smallest = i
			}
		}
		if points[weakest].P < o.P {
			weakest = smallest
			if points[weakest].magnitude() > o.Min {
				break
			}
		}
		points, at = slices.Delete(points, weakest, weakest+1), slices.Delete(at, weakest, weakest+1)
		update(weakest)
		update(weakest + 1)
	}
	for i := range points {
		update(i)
		start, _ := part(at, i, len(xs))
		_, end := part(at, i+1, len(xs))
		points[i].locate(xs, start, end)
	}
	return points
}

// locate sets First and Last. It looks in [start, end) for the indexes around p.Index that split the values
// nearly as well.
func (p *Point) locate(xs []float64, start, end int) {
	p.First, p.Last = p.Index, p.Index
	cost := func(i int) float64 {
		_, left := moments(xs[start:i])
		_, right := moments(xs[i:end])
		return left*float64(i-start) + right*float64(end-i)
	}
	n, best := float64(end-start), cost(p.Index)
	near := func(i int) bool { return n/2*math.Log(cost(i)/best) <= 2 }
	for p.First-1 > start && near(p.First-1) {
		p.First--
	}
	for p.Last+1 < end && near(p.Last+1) {
		p.Last++
	}
}

// compare compares two samples by a two-sided Student's t-test with pooled variance. As in Otava, the variance
// of a sample of n values is the sum of squares divided by n, not by n-1, so that the variance of short samples
// is underestimated.
func compare(left, right []float64) Point {
	mean1, var1 := moments(left)
	mean2, var2 := moments(right)
	n1, n2 := float64(len(left)), float64(len(right))
	p := Point{P: 1, Before: mean1, After: mean2, Free: len(left) + len(right) - 2}
	if p.Free <= 0 {
		return p
	}
	pooled := ((n1-1)*var1 + (n2-1)*var2) / float64(p.Free)
	p.Error = math.Sqrt(pooled * (1/n1 + 1/n2))
	switch {
	case mean1 == mean2:
	case p.Error == 0:
		p.P = 0
	default:
		p.P = 2 * stats.TDist{V: float64(p.Free)}.CDF(-math.Abs(mean2-mean1)/p.Error)
	}
	return p
}

func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(xs))
}
