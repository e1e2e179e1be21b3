package gate

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// usable reports whether v is finite and small enough for its square to be finite.
func usable(v float64) bool { return math.Abs(v) < 1e150 }

// summarize returns the statistics that benchstat shows for values. If a value is not usable, only the
// number of values is set.
func summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 || slices.ContainsFunc(values, func(v float64) bool { return !usable(v) }) {
		return s
	}
	b := benchmath.AssumeNothing.Summary(newSample(values), 0.95)
	s.Median, s.Low, s.High = known(b.Center), known(b.Lo), known(b.Hi)
	return s
}

// newSample returns a benchmath sample with a copy of values, because benchmath sorts its values in place.
func newSample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// known returns a pointer to a value for a report, or nil if v is not finite. The value is rounded to 12
// significant digits, because further digits are floating-point errors, as in 0.005000000000000001.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = numbers.Rounded(v, 12)
	return &v
}

// One in maxLacking results of a side may lack the value of a gated unit. The results that lack it may be
// the worst ones of the side, so the more of them there are, the better the side may look. Up to a fifth of
// the results, they matter as little as disturbed processes, whose differences the test limits.
const maxLacking = 5

// lacksMany reports whether too many of n results lack a value; missing is the number of results that lack
// it.
func lacksMany(missing, n int) bool { return maxLacking*missing > n }
