package distortion

import (
	"math"
	"math/bits"
	"time"
)

// A histogram counts durations in buckets. There are 16 buckets for each power of two, so that a histogram
// takes little memory for any number of durations. Negative durations count as 0.
type histogram struct {
	counts [60 << 4]int64
	n      int64
	sum    float64
}

// add adds a duration.
func (h *histogram) add(d time.Duration) {
	d = max(0, d)
	h.counts[bucket(d)]++
	h.n++
	h.sum += float64(d)
}

// bucket returns the index of the bucket of a duration. Below 16 this is the duration itself. From 16 on,
// it consists of the position of the highest bit and the four bits after it.
func bucket(d time.Duration) int {
	if d < 16 {
		return int(d)
	}
	high := bits.Len64(uint64(d)) - 1
	return (high-3)<<4 + int(d>>(high-4))&15
}

// top returns the largest duration of a bucket.
func top(bucket int) time.Duration {
	if bucket < 16 {
		return time.Duration(bucket)
	}
	shift := bucket>>4 - 1
	return time.Duration(bucket&15+17)<<shift - 1
}

// quantile returns the q-quantile, rounded up by at most a sixteenth. It returns 0 if there are no
// durations, or if q is negative.
func (h *histogram) quantile(q float64) time.Duration {
	if q < 0 || h.n == 0 {
		return 0
	}
	want := max(1, int64(math.Ceil(q*float64(h.n))))
	for i, n := range h.counts {
		if want -= n; want <= 0 {
			return top(i)
		}
	}
	return 0
}

// ranks returns the range of the ranks of a duration's bucket, as shares of all durations: from is the
// share of the durations in lower buckets, and to also includes the duration's own bucket.
func (h *histogram) ranks(d time.Duration) (from, to float64) {
	b := bucket(max(0, d))
	n := int64(0)
	for _, c := range h.counts[:b] {
		n += c
	}
	all := float64(max(1, h.n))
	return float64(n) / all, float64(n+h.counts[b]) / all
}

// mean returns the mean, or 0 if there are no durations.
func (h *histogram) mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.n))
}
