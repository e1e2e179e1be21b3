package watch

import (
	"math"
	"slices"
)

// A track is a series, without what the series of its machine share.
type track struct {
	xs          []float64 // of the nights since the series last moved
	nights      []int     // the numbers of these nights
	outlier     []bool    // whether a value was far from the baseline when it came
	seen, apart int       // values that had a baseline, and those of them that were outliers
	bases       []base    // by the number of last nights that are left out; empty if not computed for xs
	sorted      []float64 // the last values of xs, at most baseline + longest; nil if not computed for xs
}

// baseline is the largest number of nights of a baseline. A machine that drifts slowly stays within its noise.
const baseline = 60

// longest is the largest number of last nights that are compared with the baseline.
const longest = 14

// A base is the baseline of a series.
type base struct {
	n        int
	mean, sd float64
}

// add adds the value of a night.
func (tr *track) add(night int, x float64) {
	out := false
	if b := tr.base(0); b.n >= fewest {
		tr.seen++
		if out = math.Abs(x-b.mean) > 3.5*b.sd*math.Sqrt(1+1/float64(b.n)); out {
			tr.apart++
		}
	}
	if n := len(tr.xs); tr.sorted != nil {
		if n >= baseline+longest {
			i, _ := slices.BinarySearch(tr.sorted, tr.xs[n-baseline-longest])
			tr.sorted = slices.Delete(tr.sorted, i, i+1)
		}
		i, _ := slices.BinarySearch(tr.sorted, x)
		tr.sorted = slices.Insert(tr.sorted, i, x)
	}
	tr.xs, tr.nights, tr.outlier, tr.bases = append(tr.xs, x), append(tr.nights, night), append(tr.outlier, out), tr.bases[:0]
}

// replace replaces the last value.
func (tr *track) replace(x float64) {
	tr.xs[len(tr.xs)-1], tr.bases, tr.sorted = x, nil, nil
}

// restart forgets the values before the i-th. What looked like outliers since then is the new level.
func (tr *track) restart(i int) {
	for _, out := range tr.outlier[i:] {
		if out {
			tr.apart--
		}
	}
	n := len(tr.xs) - i
	tr.xs, tr.nights, tr.outlier = slices.Clone(tr.xs[i:]), slices.Clone(tr.nights[i:]), make([]bool, n)
	tr.bases, tr.sorted = nil, nil
}

// base returns the baseline without the last k values, at most longest. Values that are far from the median are left out.
func (tr *track) base(k int) base {
	if len(tr.bases) == 0 {
		tr.compute()
	}
	return tr.bases[min(k, len(tr.bases)-1)]
}

// compute computes the baselines of xs without its last 0, 1 and so on values.
func (tr *track) compute() {
	window := tr.xs[max(0, len(tr.xs)-baseline-longest):]
	if tr.sorted == nil {
		tr.sorted = slices.Sorted(slices.Values(window))
	}
	middle, limit := spread(tr.sorted)
	// Prefixes of the number, the sum and the sum of squares of the values near the median.
	var n, sum, squares [baseline + longest + 1]float64
	for i, x := range window {
		d := x - middle
		n[i+1], sum[i+1], squares[i+1] = n[i], sum[i], squares[i]
		if math.Abs(d) <= limit {
			n[i+1], sum[i+1], squares[i+1] = n[i]+1, sum[i]+d, squares[i]+d*d
		}
	}
	for k := range min(longest, len(window)) + 1 {
		end := len(window) - k
		start := max(0, end-baseline)
		n, sum, squares := n[end]-n[start], sum[end]-sum[start], squares[end]-squares[start]
		b := base{n: int(n), mean: middle}
		if n > 0 {
			b.mean += sum / n
		}
		if n > 1 {
			b.sd = math.Sqrt(max(0, (squares-sum*sum/n)/(n-1)))
		}
		b.sd = max(b.sd, 0.0005) // values have few digits
		tr.bases = append(tr.bases, b)
	}
}

// spread returns the median of sorted values, and the distance from it beyond which a value is an outlier: a multiple
// of the median distance. Few values say little about the distance, which is then larger.
func spread(sorted []float64) (middle, limit float64) {
	if len(sorted) == 0 {
		return 0, math.Inf(1)
	}
	middle = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	if len(sorted) < 5 {
		return middle, math.Inf(1)
	}
	// The values nearest to the median are between two ends that move apart.
	low, high := 0, len(sorted)-1
	for high-low > len(sorted)/2 {
		if middle-sorted[low] > sorted[high]-middle {
			low++
		} else {
			high--
		}
	}
	sd := 1.4826 * max(middle-sorted[low], sorted[high]-middle)
	return middle, max(sd, 0.0005) * (4.5 + 30/float64(len(sorted)))
}

// median returns the median of xs, or 0 if there are none.
func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
