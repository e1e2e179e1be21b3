package decide

import (
	"math"
	"sort"
)

// A proportion holds the summed counts of a cell of proportions: on each side, hits among observations.
// More hits are better.
type proportion struct {
	old, new     int // hits
	ofOld, ofNew int // observations
}

// rates returns the share of hits on each side.
func (p proportion) rates() (old, new float64) {
	return float64(p.old) / float64(p.ofOld), float64(p.new) / float64(p.ofNew)
}

// loss returns by how much the share of hits is smaller on the new side.
func (p proportion) loss() float64 {
	old, new := p.rates()
	return old - new
}

// score returns the score statistic of Farrington and Manning for the hypothesis that the loss is more than
// delta, with x hits on the old side and y hits on the new side. It is the loss in excess of delta, divided
// by the standard error that the loss would have if it were delta ("Test Statistics and Sample Size
// Formulae for Comparative Binomial Trials", 1990, https://doi.org/10.1002/sim.4780091208; the appendix
// solves the cubic equation).
func (p proportion) score(x, y int, delta float64) float64 {
	n, m := float64(p.ofOld), float64(p.ofNew)
	old, new := float64(x)/n, float64(y)/m
	above := old - new - delta
	ratio := m / n
	a := 1 + ratio
	b := -(1 + ratio + old + ratio*new + delta*(ratio+2))
	c := delta*delta + delta*(2*old+ratio+1) + old + ratio*new
	d := -old * delta * (1 + delta)
	v := b*b*b/(27*a*a*a) - b*c/(6*a*a) + d/(2*a)
	u := math.Copysign(math.Sqrt(max(0, b*b/(9*a*a)-c/(3*a))), v)
	rate := -b / (3 * a)
	if u != 0 {
		w := (math.Pi + math.Acos(min(1, max(-1, v/(u*u*u))))) / 3
		rate += 2 * u * math.Cos(w)
	}
	rate = min(max(rate, 0, delta), 1, 1+delta)
	other := rate - delta
	variance := rate*(1-rate)/n + other*(1-other)/m
	switch {
	case math.Abs(above) <= sameScore:
		return 0
	case variance <= 0:
		return math.Copysign(math.Inf(1), above)
	}
	return above / math.Sqrt(variance)
}

// sameScore is the difference up to which two scores count as equal.
const sameScore = 1e-9

// The nuisance parameter of a test is the rate of the new side. It is searched at gridPoints values in its
// confidence interval, whose confidence is 1-outside. The p-value is the largest value found, plus outside
// (Berger and Boos, "P Values Maximized Over a Confidence Set for the Nuisance Parameter", 1994,
// https://doi.org/10.2307/2290928).
const (
	outside    = 1e-5
	gridPoints = 48
)

// test returns the exact unconditional p-value of the hypothesis that the loss is at most delta. If less is
// true, the hypothesis is that the loss is at least delta. The p-value is the largest probability, over all
// pairs of rates with a loss of delta, that the counts have a score at least as large as observed, or at
// least as small if less is true (Chan, "Exact Tests of Equivalence and Efficacy with a Non-Zero Lower
// Bound for Comparative Studies", 1998,
// https://doi.org/10.1002/(SICI)1097-0258(19980630)17:12<1403::AID-SIM834>3.0.CO;2-Y).
func (p proportion) test(delta float64, less bool) float64 {
	observed := p.score(p.old, p.new, delta)
	low, high := interval(p.new, p.ofNew, outside)
	low, high = max(low, -delta, 0), min(high, 1-delta, 1)
	if low > high { // no pair of rates with a loss of delta is in the interval
		low = min(max(low, -delta, 0), 1-delta, 1)
		high = low
	}
	limits := map[int]int{} // for each x, the y from which, or up to which, scores count
	limit := func(x int) int {
		y, known := limits[x]
		if !known {
			y = sort.Search(p.ofNew+1, func(y int) bool {
				s := p.score(x, y, delta)
				if less {
					return s <= observed+sameScore // this y and all larger ones count
				}
				return s < observed-sameScore // only smaller y count
			})
			limits[x] = y
		}
		return y
	}
	largest := 0.0
	for i := range gridPoints + 1 {
		rate := low + (high-low)*float64(i)/gridPoints
		x0, xs := binomial(p.ofOld, rate+delta)
		y0, ys := binomial(p.ofNew, rate)
		below := make([]float64, len(ys)+1) // below[i] is the probability of fewer than y0+i hits
		for i, q := range ys {
			below[i+1] = below[i] + q
		}
		sum := 0.0
		for i, q := range xs {
			part := below[min(max(limit(x0+i)-y0, 0), len(ys))]
			if less {
				part = 1 - part
			}
			sum += q * part
		}
		largest = max(largest, sum)
	}
	return min(1, largest+outside)
}

// binomial returns the probabilities of first, first+1, … hits in n observations. The omitted probabilities
// sum up to less than 1e-12.
func binomial(n int, rate float64) (first int, probabilities []float64) {
	rate = min(1, max(0, rate))
	reach := 8*math.Sqrt(float64(n)*rate*(1-rate)) + 20
	first = int(max(0, math.Floor(float64(n)*rate-reach)))
	last := int(min(float64(n), math.Ceil(float64(n)*rate+reach)))
	probabilities = make([]float64, last-first+1)
	if rate == 0 || rate == 1 {
		if rate == 1 {
			probabilities[last-first] = 1
		} else {
			probabilities[0] = 1
		}
		return first, probabilities
	}
	// Starting at the most probable number of hits, each probability is computed from its neighbour's.
	mode := min(max(int(float64(n+1)*rate), first), last)
	choose := logFactorial(n) - logFactorial(mode) - logFactorial(n-mode)
	probabilities[mode-first] = math.Exp(choose + float64(mode)*math.Log(rate) + float64(n-mode)*math.Log1p(-rate))
	odds := rate / (1 - rate)
	for k := mode; k < last; k++ {
		probabilities[k+1-first] = probabilities[k-first] * odds * float64(n-k) / float64(k+1)
	}
	for k := mode; k > first; k-- {
		probabilities[k-1-first] = probabilities[k-first] / odds * float64(k) / float64(n-k+1)
	}
	return first, probabilities
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// interval returns the two-sided confidence interval, with a confidence of 1-alpha, of a rate with the
// given hits in n observations (Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated
// in the Case of the Binomial", 1934, https://doi.org/10.1093/biomet/26.4.404).
func interval(hits, n int, alpha float64) (low, high float64) {
	tail := func(rate float64, upper bool) float64 { // P(hits or more), or P(hits or fewer)
		first, all := binomial(n, rate)
		sum := 0.0
		for i, q := range all {
			if k := first + i; upper && k >= hits || !upper && k <= hits {
				sum += q
			}
		}
		return sum
	}
	if low = 0; hits > 0 {
		low = bisect(40, 0, 1, func(rate float64) bool { return tail(rate, true) > alpha/2 })
	}
	if high = 1; hits < n {
		high = bisect(40, 0, 1, func(rate float64) bool { return tail(rate, false) <= alpha/2 })
	}
	return low, high
}

// bisect returns the value between lo and hi at which holds becomes true, after the given number of
// halvings.
func bisect(halvings int, lo, hi float64, holds func(float64) bool) float64 {
	for range halvings {
		if mid := (lo + hi) / 2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// bound returns the largest loss that is consistent with the counts, with a confidence of 1-alpha.
func (p proportion) bound(alpha float64) float64 {
	return bisect(20, max(-1, p.loss()), 1, func(loss float64) bool { return p.test(loss, true) <= alpha })
}

// noise returns the distance from the loss to its upper confidence bound at a confidence of 97.5 %. It is
// above 0 even for equal counts, because few observations cannot show that versions are equal.
func (p proportion) noise() float64 { return p.bound(0.025) - p.loss() }

// detectable returns the loss that is errors standard errors above the margin, if there are more times as
// many observations as now. The result is approximate. Half a hit and half a miss are added to each side,
// because a side without misses does not necessarily have a rate of 1.
func (p proportion) detectable(margin, more, errors float64) float64 {
	variance := func(hits, n int) float64 {
		rate := (float64(hits) + 0.5) / (float64(n) + 1)
		return rate * (1 - rate) / float64(n) / more
	}
	se := math.Sqrt(variance(p.old, p.ofOld) + variance(p.new, p.ofNew))
	return margin + se*errors
}
