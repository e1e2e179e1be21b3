package scenarios

import (
	"math"
	"slices"
	"time"
)

// A shift is by how much the values of one sample are larger than the values of another.
type shift struct {
	Of        time.Duration // the estimate: the median of all differences (Hodges and Lehmann)
	Low, High time.Duration // a confidence interval of 95 %
}

// shiftOf returns the shift from the values from to the values to. It sorts both. The interval is the one
// of the Mann-Whitney test, which supposes nothing about the distribution except that the two differ by the
// shift, and that the values are independent (Hollander and Wolfe, "Nonparametric Statistical Methods",
// section 4.3; https://en.wikipedia.org/wiki/Hodges–Lehmann_estimator). It returns false if there are too
// few values for the interval.
func shiftOf(from, to []time.Duration) (shift, bool) {
	m, n := float64(len(from)), float64(len(to))
	outside := int64(math.Floor(m*n/2 - 1.96*math.Sqrt(m*n*(m+n+1)/12)))
	if len(from) == 0 || len(to) == 0 || outside < 1 {
		return shift{}, false
	}
	slices.Sort(from)
	slices.Sort(to)
	pairs := int64(len(from)) * int64(len(to))
	lower, upper := difference(from, to, (pairs+1)/2), difference(from, to, pairs/2+1)
	return shift{lower + (upper-lower)/2, difference(from, to, outside), difference(from, to, pairs-outside+1)}, true
}

// difference returns the k-th smallest of all differences between a value of to and a value of from, k from
// 1. Both are sorted. It searches by halves for the smallest number that at least k differences do not
// exceed, so that it needs no list of all differences.
func difference(from, to []time.Duration, k int64) time.Duration {
	low, high := to[0]-from[len(from)-1], to[len(to)-1]-from[0]
	for low < high {
		middle := low + (high-low)/2
		if count := differencesUpTo(from, to, middle); count >= k {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// differencesUpTo returns the number of differences of at most d.
func differencesUpTo(from, to []time.Duration, d time.Duration) (count int64) {
	j := 0
	for _, x := range from { // as x grows, more values of to are at most x + d
		for j < len(to) && to[j] <= x+d {
			j++
		}
		count += int64(j)
	}
	return count
}
