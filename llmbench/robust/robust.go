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

// A Trend is by how much ys grow with each unit of xs, and the interval in which that is with a probability of 99 %.
type Trend struct{ Slope, Low, High float64 }

// TrendOf returns the trend of ys over xs: the median of the slopes between any two points (P. K. Sen,
// https://doi.org/10.1080/01621459.1968.10480934). Single points that are far off have little influence. There must be at
// least eight points, with different xs.
func TrendOf(xs, ys []float64) Trend {
	var slopes []float64
	for i := range xs {
		for j := range i {
			slopes = append(slopes, (ys[i]-ys[j])/(xs[i]-xs[j]))
		}
	}
	slices.Sort(slopes)
	const z = 2.576 // of the normal distribution, for 99 %
	n, m := float64(len(xs)), len(slopes)
	away := int(z * math.Sqrt(n*(n-1)*(2*n+5)/18) / 2)
	return Trend{(slopes[(m-1)/2] + slopes[m/2]) / 2, slopes[max((m-1)/2-away, 0)], slopes[min(m/2+away, m-1)]}
}
