package watch

import (
	"math"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// windows are the numbers of last nights that are compared with the nights before.
var windows = []int{2, 3, 4, 6, 9, longest}

// A test looks for changes in a series.
type test struct {
	alpha    float64 // the probability of a false alarm in a series and a night
	min      float64 // the smallest change that counts
	outliers float64 // the share of nights that are outliers
}

// each returns the probability of a false alarm of one comparison. The comparison with reruns is one more.
func (t test) each() float64 { return t.alpha * overlap / float64(len(windows)+1) }

// overlap is how much more each comparison may spend than its part, because the windows overlap: they raise an alarm
// together, and the nights after an alarm raise no second one. It is from TestSimulate, where the rate of
// false alarms stays below the promised one.
const overlap = 3.0

// look judges the last night of a track. If the night is suspect and there are reruns, they decide, and the
// night becomes the median of all its values.
func (t test) look(tr *track, reruns []float64) (Finding, bool) {
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
	b := tr.base(1)
	last := tr.xs[len(tr.xs)-1]
	if b.n < fewest || last-b.mean < t.min || last-b.mean < tQuantile(t.each(), b.n-1)*b.sd*math.Sqrt(1+1/float64(b.n)) {
		return Finding{}, false
	}
	f := Finding{Size: last - b.mean, First: tr.nights[len(tr.nights)-1], Last: tr.nights[len(tr.nights)-1], Reruns: 1}
	f.P, f.Low, f.High = interval(b, f.Size, 1)
	f.P *= float64(len(windows)+1) / overlap
	for math.Pow(t.outliers, float64(f.Reruns+1)) > t.each()/2 {
		f.Reruns++
	}
	if len(reruns) == 0 {
		return f, true
	}
	all := append([]float64{last}, reruns...)
	p, ok := t.moved(b, all, +1)
	tr.replace(median(all))
	needed := f.Reruns
	f.Reruns = 0
	switch {
	case ok:
		f.Kind, f.Size = Worse, median(all)-b.mean
		_, f.Low, f.High = interval(b, f.Size, len(all))
		f.P = p * float64(len(windows)+1) / overlap
		tr.restart(len(tr.xs) - 1)
	case len(reruns) >= needed || median(all)-b.mean < f.Size/2:
		f.Kind = Cleared
	default:
		f.Reruns = needed - len(reruns)
	}
	return f, true
}

// detectable returns the change that seven nights show in four of five cases.
func (t test) detectable(b base) float64 {
	quantile := tQuantile(t.each(), b.n-1) + tQuantile(0.2, b.n-1)
	return max(t.min, quantile*b.sd*math.Sqrt(1.0/7+1/float64(b.n)))
}

// clip is the largest number of standard deviations that a night counts.
const clip = 3

// moved reports whether values lie above a baseline, or below it if sign is -1, and with what p-value. Each of the k
// values counts as at most clip standard deviations. If o of them are outliers, they add at most o clips, and the others
// are a sum of k-o normal values. The p-value is the mean over the binomial distribution of o.
func (t test) moved(b base, values []float64, sign float64) (p float64, ok bool) {
	if b.n < fewest {
		return 0, false
	}
	k := len(values)
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
			tail = studentTail((sum-clip*float64(o))/math.Sqrt(clean+clean*clean/float64(b.n)), b.n-1)
		}
		p += choose(k, o) * math.Pow(t.outliers, float64(o)) * math.Pow(1-t.outliers, clean) * tail
		if p > each {
			return p, false
		}
	}
	return p, true
}

// finding describes a change whose p-value is p, and restarts the track at the change. The change is where two
// levels fit the values best by the sum of absolute distances, which outliers hardly move.
func (t test) finding(tr *track, sign, p float64) Finding {
	from := max(0, len(tr.xs)-baseline)
	xs := tr.xs[from:]
	cost := make([]float64, len(xs)) // of a change before the i-th value
	best := max(1, len(xs)-2*longest)
	first := best
	for i := best; i < len(xs); i++ {
		cost[i] = distances(xs[:i]) + distances(xs[i:])
		if cost[i] < cost[best] {
			best = i
		}
	}
	typical := cost[best]/float64(len(xs)) + 1e-9
	last := best
	for i := first; i < len(xs); i++ { // the places whose likelihood is at least exp(-2) of the best
		if (cost[i]-cost[best])/typical <= 2 {
			last = max(last, i)
			first = min(first, i)
		}
	}
	for (cost[first]-cost[best])/typical > 2 {
		first++
	}
	b := tr.base(len(xs) - best)
	f := Finding{Kind: Worse, Size: median(xs[best:]) - b.mean, P: p * float64(len(windows)+1) / overlap, First: tr.nights[from+first], Last: tr.nights[from+last]}
	if sign < 0 {
		f.Kind = Better
	}
	_, f.Low, f.High = interval(b, f.Size, len(xs)-best)
	tr.restart(from + best)
	return f
}

// interval returns the 95 % confidence interval of the size of a change that k nights have, and its one-sided p-value.
func interval(b base, size float64, k int) (p, low, high float64) {
	free := max(1, b.n-1)
	scale := b.sd * math.Sqrt(1/float64(k)+1/float64(max(1, b.n)))
	wide := tQuantile(0.025, free) * scale
	return studentTail(math.Abs(size)/scale, free), size - wide, size + wide
}

// distances returns the sum of the distances from the median.
func distances(xs []float64) (sum float64) {
	m := median(xs)
	for _, x := range xs {
		sum += math.Abs(x - m)
	}
	return sum
}

// studentTail returns the probability that Student's t exceeds x.
func studentTail(x float64, free int) float64 { return stats.TDist{V: float64(free)}.CDF(-x) }

// choose returns the binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// quantiles caches tQuantile.
var quantiles sync.Map

// tQuantile returns the value that Student's t exceeds with probability p, below 0.5.
func tQuantile(p float64, free int) float64 {
	type key struct {
		p    float64
		free int
	}
	if q, ok := quantiles.Load(key{p, free}); ok {
		return q.(float64)
	}
	t := stats.TDist{V: float64(free)}
	low, high := 0.0, 1.0
	for t.CDF(-high) > p && high < 1e9 {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; t.CDF(-mid) > p {
			low = mid
		} else {
			high = mid
		}
	}
	quantiles.Store(key{p, free}, high)
	return high
}
