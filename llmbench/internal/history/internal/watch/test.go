package watch

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/student"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// windows are the values of k: the last k nights are compared with the nights before them.
var windows = []int{2, 3, 4, 6, 9, longest}

// A test looks for a change in one series.
type test struct {
	alpha    float64 // the allowed probability of a false alarm per series and night
	min      float64 // smaller changes are ignored
	outliers float64 // the share of nights that are outliers
	// undecided says that reruns which agree with a suspect night do not confirm a change. They may still clear it.
	undecided bool
}

// each returns the allowed probability of a false alarm in one comparison. There is one comparison per window,
// and one with the reruns.
func (t test) each() float64 { return t.alpha * overlap / float64(len(windows)+1) }

// overlap is the factor by which each comparison may exceed its Bonferroni share. A factor above 1 is safe
// because the windows overlap and so raise an alarm together, and because an alarm is not raised again in the
// following nights. With this value, the rate of false alarms in TestSimulate stays below the promised rate.
const overlap = 2.6

// overall corrects the p-value of one comparison for the number of comparisons of a series in a night.
func overall(p float64) float64 { return p * float64(len(windows)+1) / overlap }

// look judges the last night of a track, and reports whether there is a finding. If the night is suspect and
// has reruns, the reruns decide, and the night's value becomes the median of all its values.
//
// The test allows for outliers. A young baseline does not tell how frequent they are, so the test allows for many, and a
// change would become a part of the baseline before the test finds it. Outliers do not follow each other for long,
// though: a row of suspect nights is a change.
func (t test) look(tr *track, reruns []float64) (Finding, bool) {
	suspects := tr.suspects
	tr.suspects = 0
	for _, sign := range []float64{+1, -1} {
		for _, k := range windows {
			if k >= len(tr.xs) {
				break
			}
			b := tr.base(k)
			if p, ok := t.moved(b, tr.xs[len(tr.xs)-k:], sign); ok {
				return t.finding(tr, sign, p), true
			}
		}
	}
	b := tr.base(1 + suspects)
	last := tr.xs[len(tr.xs)-1]
	if b.n < fewest || last-b.mean < t.min || last-b.mean < student.Quantile(t.each(), float64(b.n-1))*b.sd*math.Sqrt(1+1/float64(b.n)) {
		return Finding{}, false
	}
	tr.suspects = suspects + 1
	inRow := tr.suspects >= enough
	alone, low, high := interval(b, last-b.mean, 1)
	if inRow && len(reruns) == 0 {
		return t.finding(tr, +1, alone), true
	}
	night := tr.nights[len(tr.nights)-1]
	f := Finding{before: b, Size: last - b.mean, Low: low, High: high, P: overall(alone), First: night, Last: night, Reruns: 1}
	for math.Pow(t.outliers, float64(f.Reruns+1)) > t.each()/2 {
		f.Reruns++
	}
	if len(reruns) == 0 {
		return f, true
	}
	all := append([]float64{last}, reruns...)
	p, ok := t.moved(b, all, +1)
	tr.replace(robust.Median(all))
	needed := f.Reruns
	f.Reruns = 0
	switch {
	case ok && t.undecided:
	case ok:
		f.Kind, f.Size = Worse, robust.Median(all)-b.mean
		_, f.Low, f.High = interval(b, f.Size, len(all))
		f.P = overall(p)
		tr.restart(len(tr.xs) - 1)
	case robust.Median(all)-b.mean < f.Size/2:
		f.Kind, tr.suspects = Cleared, 0
	case inRow:
		return t.finding(tr, +1, alone), true
	default:
		f.Reruns = max(0, needed-len(reruns))
	}
	return f, true
}

// enough is the number of suspect nights in a row that are a change.
const enough = 5

// atOnce returns the size of a change that makes its first night suspect with a probability of 80 %.
func (t test) atOnce(b base) float64 { return t.size(b, 1) }

// detectable returns the size of a change that is found in at most seven nights with a probability of 80 %: by the test, or
// because each night is suspect.
func (t test) detectable(b base) float64 {
	const k = 6 // the largest window of at most seven nights
	most := t.atOnce(b)
	rest := student.Quantile(0.2, float64(b.n-1)) * b.sd * math.Sqrt(1.0/k+1/float64(b.n))
	for d := t.size(b, k); d < most; d *= 1.05 {
		if _, ok := t.moved(b, slices.Repeat([]float64{b.mean + max(t.min, d-rest)}, k), +1); ok {
			return d
		}
	}
	return most
}

// size returns the size of a change that k nights show with a probability of 80 %, if none of them is an outlier.
func (t test) size(b base, k float64) float64 {
	quantile := student.Quantile(t.each(), float64(b.n-1)) + student.Quantile(0.2, float64(b.n-1))
	return max(t.min, quantile*b.sd*math.Sqrt(1/k+1/float64(b.n)))
}

// clip returns the limit, in standard deviations from the baseline, to which the value of a night is clipped. Normal
// noise exceeds it as rarely as three standard deviations. The standard deviation of a young baseline is uncertain, so
// a smaller limit would hide changes of any size.
func (b base) clip() float64 { return student.Quantile(0.00135, float64(b.n-1)) }

// moved reports whether the values lie significantly above a baseline, or below it if sign is -1, and returns
// the p-value. Each of the k values is clipped to base.clip standard deviations. If o of them are outliers, the
// outliers add at most o*clip to the sum, and the others add a sum of k-o normal values. The p-value is
// averaged over the binomial distribution of o.
func (t test) moved(b base, values []float64, sign float64) (p float64, ok bool) {
	if b.n < fewest {
		return 0, false
	}
	k := len(values)
	clip := b.clip()
	var sum, mean float64
	for _, x := range values {
		z := sign * (x - b.mean) / b.sd
		sum += max(-clip, min(clip, z))
		mean += z * b.sd / float64(k)
	}
	each := t.each()
	if mean < t.min || math.Pow(t.outliers, float64(k)) > each || sum*sum < float64(k) {
		return 0, false
	}
	for o := range k + 1 {
		clean := float64(k - o)
		tail := 1.0 // all k values are outliers
		if o < k {
			tail = student.Tail((sum-clip*float64(o))/math.Sqrt(clean+clean*clean/float64(b.n)), float64(b.n-1))
		}
		p += choose(k, o) * math.Pow(t.outliers, float64(o)) * math.Pow(1-t.outliers, clean) * tail
		if p > each {
			return p, false
		}
	}
	return p, true
}

// finding describes a change with the p-value p, and restarts the track where the change began. The change
// begins where two constant levels fit the values best. The fit minimizes the sum of absolute distances, on
// which outliers have little influence.
func (t test) finding(tr *track, sign, p float64) Finding {
	from := max(0, len(tr.xs)-baseline)
	xs := tr.xs[from:]
	cost := make([]float64, len(xs)) // cost[i] is the cost of a change just before xs[i]
	best := max(1, len(xs)-2*longest)
	first := best
	for i := best; i < len(xs); i++ {
		cost[i] = distances(xs[:i]) + distances(xs[i:])
		if cost[i] < cost[best] {
			best = i
		}
	}
	typical := cost[best]/float64(len(xs)) + 1e-9
	near := func(i int) bool { return (cost[i]-cost[best])/typical <= 2 } // the likelihood is at least exp(-2) times the best
	for !near(first) {
		first++
	}
	last := len(xs) - 1
	for !near(last) {
		last--
	}
	b := tr.base(len(xs) - best)
	f := Finding{before: b, Kind: Worse, Size: robust.Median(xs[best:]) - b.mean, P: t.calibrated(p), First: tr.nights[from+first], Last: tr.nights[from+last]}
	if sign < 0 {
		f.Kind = Better
	}
	_, f.Low, f.High = interval(b, f.Size, len(xs)-best)
	tr.restart(from + best)
	return f
}

// calibrated returns the probability, per series, that a night by chance ends in a finding with a p-value of at most
// p. An alarm is raised as soon as p is small enough, so p is seldom much smaller than the limit: at half of the
// limit, alarms by chance are a quarter as frequent. TestSimulate checks that this is not too little.
func (t test) calibrated(p float64) float64 {
	p = overall(p)
	return p * min(1, p/t.alpha)
}

// interval returns the one-sided p-value of a change that k nights show, and the 95 % confidence interval of
// the change's size.
func interval(b base, size float64, k int) (p, low, high float64) {
	free := float64(max(1, b.n-1))
	scale := b.sd * math.Sqrt(1/float64(k)+1/float64(max(1, b.n)))
	wide := student.Quantile(0.025, free) * scale
	return student.Tail(math.Abs(size)/scale, free), size - wide, size + wide
}

// distances returns the sum of the absolute distances of xs from their median.
func distances(xs []float64) (sum float64) {
	m := robust.Median(xs)
	for _, x := range xs {
		sum += math.Abs(x - m)
	}
	return sum
}

// choose returns the binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}
