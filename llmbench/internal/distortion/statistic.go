package distortion

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// minCertain is the least number of values of which anything is certain: a healthy client
// waits for a CPU now and then.
const minCertain = 5

// estimated returns the statistic of sorted values, as near as their number allows.
// Any statistic other than a percentile is taken to be the mean. Without values it is 0.
func estimated(statistic sample.Statistic, sorted []time.Duration) float64 {
	if len(sorted) == 0 {
		return 0
	}
	if percent := statistic.Percent(); percent > 0 {
		return sample.Quantile(sorted, float64(percent)/100)
	}
	mean, _ := moments(sorted)
	return mean
}

// certain returns the lower end of the one-sided 99 % confidence interval of the
// statistic; 0 of fewer than minCertain values. For a percentile that is the order
// statistic given by the normal approximation of the binomial distribution (Hahn and
// Meeker, "Statistical Intervals", 1991, 5.2). The mean of values that are never negative
// is also at least half of their median (Markov's inequality), however large a single value.
func certain(statistic sample.Statistic, sorted []time.Duration) float64 {
	const z = 2.326
	n := float64(len(sorted))
	if n < minCertain {
		return 0
	}
	if percent := statistic.Percent(); percent > 0 {
		q := float64(percent) / 100
		i := int(math.Floor(n*q-z*math.Sqrt(n*q*(1-q)))) - 1
		return float64(sorted[max(0, i)])
	}
	mean, deviation := moments(sorted)
	return max(certain(sample.P50, sorted)/2, mean-z*deviation/math.Sqrt(n))
}

// moments returns the mean and the standard deviation of values.
func moments(values []time.Duration) (mean, deviation float64) {
	for _, d := range values {
		mean += float64(d) / float64(len(values))
	}
	for _, d := range values {
		deviation += (float64(d) - mean) * (float64(d) - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(1, len(values)-1)))
}
