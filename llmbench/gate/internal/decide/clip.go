package decide

import "slices"

// clipAt times the median of the differences is the limit at which differences are clipped. In simulations,
// a factor of 3 finds slightly more changes under normal noise, but 2 finds many more if processes are
// disturbed.
const clipAt = 2

// clipLimit returns the limit of the differences: clipAt times the median of their absolute values, without
// zeros. It does not depend on the signs of the differences. It is 0 if all differences are 0.
func clipLimit(differences []float64) float64 {
	sizes := make([]float64, 0, len(differences))
	for _, d := range differences {
		if d != 0 {
			sizes = append(sizes, max(d, -d))
		}
	}
	return clipAt * median(sizes)
}

// median sorts xs and returns its median, or 0 if xs is empty.
func median(xs []float64) float64 {
	n := len(xs)
	if n == 0 {
		return 0
	}
	slices.Sort(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// clipped returns d, limited to the range from -limit to limit.
func clipped(d, limit float64) float64 { return min(max(d, -limit), limit) }
