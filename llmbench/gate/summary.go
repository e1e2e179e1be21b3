package gate

import (
	"math"
	"slices"
	"strconv"

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

// known returns a pointer to a figure for a report, or nil if v is not finite. The figure
// has 12 significant digits: the digits after these are errors of floating-point numbers,
// as in 0.005000000000000001.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = rounded(v, 12)
	return &v
}

// rounded returns v with a number of significant digits.
func rounded(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return v
}

// maxLacking is the part of the results of a side, one of maxLacking, that may lack a value of a
// gated unit. The results that lack the value may be those in which the unit was worst, so the more
// of them there are, the more the others may flatter a side. Up to a fifth they count as little as
// disturbed processes, whose differences the test limits.
const maxLacking = 5

// lacksMany reports whether more of n results than allowed lack a value, if so many are missing.
func lacksMany(missing, n int) bool { return maxLacking*missing > n }
