package decide

import (
	"math"
	"slices"
)

// pairedBound returns the upper confidence bound of the center of the differences, with a confidence of
// 1-alpha. It inverts the test of pairs: a value is beyond the bound if the test rejects it. The bound is
// NaN if there are too few differences. Apart from floating-point rounding, it is negative if and only if
// the test rejects 0.
func (c Cell) pairedBound(alpha float64) float64 {
	differences := c.differences()
	if !AtMost(1/float64(flips(len(differences)).ways), alpha) {
		return math.NaN()
	}
	f := flips(len(c.NewFirst))
	lowest, highest := slices.Min(differences), slices.Max(differences)
	if lowest == highest {
		return lowest
	}
	rest, flipped := make([]float64, len(differences)), make([]float64, f.ways)
	rejects := func(center float64) bool {
		for i, d := range differences {
			rest[i] = d - center
		}
		t := newPairedTest(rest)
		f.sums(c.place(t.differences), flipped)
		return AtMost(shareBelow(flipped, t.statistic+rounding), alpha)
	}
	lo, hi := lowest, highest+(highest-lowest)
	if lo < 0 && 0 < hi {
		if rejects(0) {
			hi = 0
		} else {
			lo = 0
		}
	}
	for range 50 {
		if mid := lo + (hi-lo)/2; rejects(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
