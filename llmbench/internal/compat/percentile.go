package compat

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// A series holds the values of a tool's formula, in nanoseconds.
type series struct {
	whole  records.Dist // values that are whole nanoseconds
	parts  []float64    // all other values; a series has values of one kind only
	sorted bool
}

func (s *series) n() int { return s.whole.N + len(s.parts) }

func (s *series) add(v float64) {
	s.parts = append(s.parts, v)
	s.sorted = false
}

func (s *series) mean() float64 {
	if len(s.parts) == 0 {
		return s.whole.Mean()
	}
	sum := 0.0
	for _, v := range s.parts {
		sum += v
	}
	return sum / float64(len(s.parts))
}

// std returns the standard deviation of the population, as numpy.std does.
func (s *series) std() float64 {
	if len(s.parts) == 0 {
		return s.whole.Std()
	}
	mean, ss := s.mean(), 0.0
	for _, v := range s.parts {
		ss += (v - mean) * (v - mean)
	}
	return math.Sqrt(ss / float64(len(s.parts)))
}

// rank returns the value at index i of the sorted values.
func (s *series) rank(i int) float64 {
	if len(s.parts) == 0 {
		return s.whole.Ranks(i)[0]
	}
	if !s.sorted {
		slices.Sort(s.parts)
		s.sorted = true
	}
	return s.parts[i]
}

// A percentile is a tool's rule for the p-th percentile of a series. p is in [0,100], and the series is not
// empty.
type percentile func(s *series, p float64) float64

// linear is the rule of numpy.percentile: type 7, linear interpolation
// (https://numpy.org/doc/stable/reference/generated/numpy.percentile.html).
func linear(s *series, p float64) float64 {
	h := p / 100 * float64(s.n()-1)
	i := int(h)
	if i+1 >= s.n() {
		return s.rank(s.n() - 1)
	}
	lo, hi := s.rank(i), s.rank(i+1)
	return lo + (h-float64(i))*(hi-lo)
}

// floorIndex is EvalScope's rule: sorted[int(n*p/100)]. The 99th percentile of 100 values is the largest
// value
// (https://github.com/modelscope/evalscope/blob/main/evalscope/perf/utils/db_util.py).
func floorIndex(s *series, p float64) float64 {
	return s.rank(min(int(float64(s.n())*p/100), s.n()-1))
}

// locust is the rule of locust's histogram, whose values are milliseconds with two digits: the value at
// index int(n*p) of the sorted values
// (https://github.com/locustio/locust/blob/master/locust/stats.py).
func locust(s *series, p float64) float64 {
	n := s.n()
	// Locust walks from the largest bucket down until n - count <= int(n*p). It stops at the bucket of the
	// sorted value at index int(n*p), or at the smallest bucket.
	i := min(int(float64(n)*p/100), n-1)
	return locustBucket(s.rank(i)/1e6) * 1e6
}

// locustBucket rounds milliseconds as locust does. Halves are rounded to even, as in Python.
func locustBucket(ms float64) float64 {
	switch {
	case ms < 100:
		return math.RoundToEven(ms)
	case ms < 1000:
		return math.RoundToEven(ms/10) * 10
	case ms < 10000:
		return math.RoundToEven(ms/100) * 100
	}
	return math.RoundToEven(ms/1000) * 1000
}

// weighted holds values with weights, as GuideLLM summarizes them: the p-th percentile is the smallest
// value whose cumulative share reaches p
// (https://github.com/vllm-project/guidellm/blob/main/src/guidellm/schemas/statistics.py).
type weighted struct {
	pairs   []pair
	settled bool // pairs are sorted and merged, and weights are shares
}

type pair struct{ value, weight float64 }

func (w *weighted) add(v, weight float64) {
	if weight > 0 {
		w.pairs, w.settled = append(w.pairs, pair{v, weight}), false
	}
}

// settle sorts the values, merges equal values, and divides the weights by their sum.
func (w *weighted) settle() {
	if w.settled {
		return
	}
	w.settled = true
	slices.SortFunc(w.pairs, func(a, b pair) int { return cmp.Compare(a.value, b.value) })
	n, total := 0, 0.0
	for _, p := range w.pairs {
		total += p.weight
		if n > 0 && w.pairs[n-1].value == p.value {
			w.pairs[n-1].weight += p.weight
			continue
		}
		w.pairs[n] = p
		n++
	}
	w.pairs = w.pairs[:n]
	for i := range w.pairs {
		w.pairs[i].weight /= total
	}
}

func (w *weighted) mean() float64 {
	w.settle()
	sum := 0.0
	for _, p := range w.pairs {
		sum += p.value * p.weight
	}
	return sum
}

func (w *weighted) std() float64 {
	mean, sum := w.mean(), 0.0
	for _, p := range w.pairs {
		sum += (p.value - mean) * (p.value - mean) * p.weight
	}
	return math.Sqrt(sum)
}

func (w *weighted) percentile(p float64) float64 {
	w.settle()
	cum := 0.0
	for _, v := range w.pairs {
		if cum += v.weight; cum >= p/100 {
			return v.value
		}
	}
	return w.pairs[len(w.pairs)-1].value
}
