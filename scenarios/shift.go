package scenarios

import (
	"math"
	"slices"
	"time"
)

// shiftOf returns by how much the values to are larger than the values from: the median of all differences
// between a value of to and a value of from (https://en.wikipedia.org/wiki/Hodges–Lehmann_estimator). It
// sorts both. Neither may be empty.
func shiftOf(from, to []time.Duration) time.Duration {
	slices.Sort(from)
	slices.Sort(to)
	upTo := func(d time.Duration) int64 { return differencesUpTo(from, to, d) }
	low, high := to[0]-from[len(from)-1], to[len(to)-1]-from[0]
	pairs := int64(len(from)) * int64(len(to))
	below, above := smallest(low, high, (pairs+1)/2, upTo), smallest(low, high, pairs/2+1, upTo)
	return below + (above-below)/2
}

// An estimate is what a number of observations say about the middle of their distribution.
type estimate struct {
	Of        time.Duration // the median of the means of all pairs of observations, each also with itself
	Low, High time.Duration // a confidence interval of 95 %
	HasRange  bool          // Low and High are known: there are at least [minObservations]
}

// minObservations is the lowest number of observations for which estimateOf has an interval.
const minObservations = 6

// estimateOf estimates the middle of the distribution of which all are independent observations. It sorts
// all, which must not be empty. The interval comes from Wilcoxon's signed-rank test, with the normal
// approximation and a correction for continuity. It supposes of the distribution only that it is symmetric
// (Hollander and Wolfe, "Nonparametric Statistical Methods", section 3.3).
func estimateOf(all []time.Duration) estimate {
	slices.Sort(all)
	n := int64(len(all))
	means := n * (n + 1) / 2
	upTo := func(sum time.Duration) int64 { return sumsUpTo(all, sum) }
	sum := func(k int64) time.Duration { return smallest(2*all[0], 2*all[n-1], k, upTo) }
	e := estimate{Of: (sum((means+1)/2) + sum(means/2+1)) / 4}
	if outside := outsideOf(n); n >= minObservations {
		e.Low, e.High, e.HasRange = sum(outside)/2, sum(means-outside+1)/2, true
	}
	return e
}

// outsideOf returns the number k for which the interval of n observations goes from the k-th smallest to the
// k-th largest of their n(n+1)/2 means. It is less than 1 for fewer than [minObservations].
func outsideOf(n int64) int64 {
	m := float64(n)
	return int64(math.Floor(m*(m+1)/4 + 0.5 - 1.96*math.Sqrt(m*(m+1)*(2*m+1)/24)))
}

// smallest returns the k-th smallest of some numbers between low and high, k from 1. Function upTo returns
// how many numbers are at most d. The search halves the range of numbers, so that it needs no list of them.
func smallest(low, high time.Duration, k int64, upTo func(d time.Duration) int64) time.Duration {
	for low < high {
		middle := low + (high-low)/2
		if upTo(middle) >= k {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// differencesUpTo returns how many of the differences between a value of to and a value of from are at most d.
// Both are sorted.
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

// sumsUpTo returns how many of the sums of two values, or of a value and itself, are at most d. The values are
// sorted.
func sumsUpTo(values []time.Duration, d time.Duration) (count int64) {
	j := len(values) // the values before j are at most d - x
	for i, x := range values {
		for j > i && values[j-1] > d-x {
			j--
		}
		count += int64(max(0, j-i))
	}
	return count
}
