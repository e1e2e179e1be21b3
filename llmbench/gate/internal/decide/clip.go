package decide

import "slices"

// clipAt is the multiple of the median of the differences at which differences are clipped. In
// simulations, 3 finds a few more changes under normal noise, and 2 many more if processes are
// disturbed.
const clipAt = 2

// clipLimit returns the limit of the differences: clipAt times the median of their absolute
// values, without those that are 0. It does not depend on the signs of the differences. It is
// 0 if all differences are 0.
func clipLimit(differences []float64) float64 {
	sizes := make([]float64, 0, len(differences))
	for _, d := range differences {
		if d != 0 {
			sizes = append(sizes, max(d, -d))
		}
	}
	return clipAt * median(sizes)
}

// median returns the median of xs, which it sorts, and 0 for none.
func median(xs []float64) float64 {
	n := len(xs)
	if n == 0 {
		return 0
	}
	slices.Sort(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// clipped returns d, or the limit with the sign of d if d is larger.
func clipped(d, limit float64) float64 { return min(max(d, -limit), limit) }
