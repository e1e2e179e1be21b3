// Package robust has statistics on which outliers have little influence.
package robust

import (
	"math"
	"slices"
)

// Median returns the median of xs, or 0 if xs is empty. It does not change xs.
func Median(xs []float64) float64 {
	n := len(xs)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(xs))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// normal is the standard deviation of a normal distribution / its median absolute deviation.
const normal = 1.4826

// Spread returns the median of xs, and the scale of their noise: the median distance from the median, times the
// factor with which it is the standard deviation of normal noise
// (https://en.wikipedia.org/wiki/Median_absolute_deviation). Both are 0 if xs is empty.
func Spread(xs []float64) (median, sd float64) {
	median = Median(xs)
	far := make([]float64, len(xs))
	for i, x := range xs {
		far[i] = math.Abs(x - median)
	}
	return median, normal * Median(far)
}
