package watch

import (
	"math"
	"slices"
)

// A track holds the past of one series, after the part that the machine's series share was subtracted.
type track struct {
	xs          []float64 // one value per night since the series last changed
	nights      []int     // the night of each value in xs
	outlier     []bool    // whether each value was far from the baseline when it was added
	suspects    int       // number of nights in a row, up to the last one, that were suspect
	seen, apart int       // number of values that had a baseline, and how many of them were outliers
	alone       bool      // the series had no part in the newest change of all series; see common.of
	// far, part and variance are sums over the last nights in a row in which all series changed: the distances from the
	// baseline, what was shared, and the variances of these distances.
	far, part, variance float64
	bases               []base    // bases[k] omits the last k nights; empty until computed for the current xs
	sorted              []float64 // the last baseline+longest values of xs; nil until computed for the current xs
}

// baseline is the largest number of nights in a baseline. It is small enough that the drift of a slowly
// drifting machine stays within the noise.
const baseline = 60

// longest is the largest number of nights that a window compares with the baseline.
const longest = 14

// A base is the baseline of a series: the number, mean and standard deviation of its values.
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

// outliers estimates the share of the series' nights that are outliers. usual is the share over all series, which counts
// the more, the fewer values the series has.
func (tr *track) outliers(usual float64) float64 {
	return (float64(tr.apart) + 0.5) / (float64(tr.seen) + 0.5/usual)
}

// replace replaces the track's last value by x.
func (tr *track) replace(x float64) {
	tr.xs[len(tr.xs)-1], tr.bases, tr.sorted = x, nil, nil
}

// restart forgets the values before index i. The outliers from index i on were the new level, so they no longer
// count as outliers.
func (tr *track) restart(i int) {
	for _, out := range tr.outlier[i:] {
		if out {
			tr.apart--
		}
	}
	n := len(tr.xs) - i
	tr.xs, tr.nights, tr.outlier = slices.Clone(tr.xs[i:]), slices.Clone(tr.nights[i:]), make([]bool, n)
	tr.suspects, tr.bases, tr.sorted = 0, nil, nil
}

// base returns the baseline of the values before the last k. If k exceeds longest, base uses longest. Values
// far from the median are omitted.
func (tr *track) base(k int) base {
	if len(tr.bases) == 0 {
		tr.compute()
	}
	return tr.bases[min(k, len(tr.bases)-1)]
}

// compute computes tr.bases: the baselines that omit the last 0, 1, ... and up to longest values.
func (tr *track) compute() {
	window := tr.xs[max(0, len(tr.xs)-baseline-longest):]
	if tr.sorted == nil {
		tr.sorted = slices.Sorted(slices.Values(window))
	}
	middle, limit := spread(tr.sorted)
	// Prefix sums over the values near the median: their number, sum and sum of squares.
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
		b.sd = max(b.sd, 0.0005) // identical values, for example because of rounding, must not have a deviation of 0
		tr.bases = append(tr.bases, b)
	}
}

// spread returns the median of sorted values, and the distance from the median beyond which a value is an
// outlier. The limit is a multiple of the median distance. The fewer values there are, the larger the multiple,
// because few values give a poor estimate.
func spread(sorted []float64) (middle, limit float64) {
	if len(sorted) == 0 {
		return 0, math.Inf(1)
	}
	middle = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	if len(sorted) < 5 {
		return middle, math.Inf(1)
	}
	// Drop the farther of the two ends until the nearest half of the values remains.
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
