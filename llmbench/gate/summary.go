package gate

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// usable reports whether v is finite and small enough for its square to be finite.
func usable(v float64) bool { return math.Abs(v) < 1e150 }

// summarize returns the figures that benchstat shows for values. If a value is not
// usable, only the number of values is set.
func summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 || slices.ContainsFunc(values, func(v float64) bool { return !usable(v) }) {
		return s
	}
	b := benchmath.AssumeNothing.Summary(newSample(values), 0.95)
	s.Median, s.Low, s.High = known(b.Center), known(b.Lo), known(b.Hi)
	return s
}

// newSample returns a benchmath sample with a copy of values, because benchmath sorts
// the values in place.
func newSample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// known returns a pointer to v, or nil if v is not finite.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// halfWidth returns half the width of the median's confidence interval, as a share of
// the median, or NaN if the interval is not known.
func (s Summary) halfWidth() float64 {
	switch {
	case s.Low == nil || s.High == nil:
		return math.NaN()
	case *s.Low == *s.High: // including a median of 0
		return 0
	}
	return (*s.High - *s.Low) / 2 / *s.Median
}
