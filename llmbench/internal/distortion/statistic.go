package distortion

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// minCertain is the least number of values of which anything is certain: a healthy client
// waits for a CPU now and then.
const minCertain = 5

// percentiles are the statistics other than the mean.
var percentiles = map[string]float64{"p50": 0.50, "p90": 0.90, "p99": 0.99}

// estimated returns the named statistic of sorted values, as near as their number allows.
// Any other name than that of a percentile is the mean. Without values it is 0.
func estimated(statistic string, sorted []time.Duration) float64 {
	if len(sorted) == 0 {
		return 0
	}
	if q, known := percentiles[statistic]; known {
		return sample.Quantile(sorted, q)
	}
	mean, _ := moments(sorted)
	return mean
}

// certain returns the lower end of the one-sided 99 % confidence interval of the named
// statistic; 0 of fewer than minCertain values. For a percentile that is the order
// statistic given by the normal approximation of the binomial distribution (Hahn and
// Meeker, "Statistical Intervals", 1991, 5.2). The mean of values that are never negative
// is also at least half of their median (Markov's inequality), however large a single value.
func certain(statistic string, sorted []time.Duration) float64 {
	const z = 2.326
	n := float64(len(sorted))
	if n < minCertain {
		return 0
	}
	if q, known := percentiles[statistic]; known {
		i := int(math.Floor(n*q-z*math.Sqrt(n*q*(1-q)))) - 1
		return float64(sorted[max(0, i)])
	}
	mean, deviation := moments(sorted)
	return max(certain("p50", sorted)/2, mean-z*deviation/math.Sqrt(n))
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
