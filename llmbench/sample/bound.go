package sample

import "math"

// Confidence is the probability with which an upper confidence bound of a percentile, such as the
// unit p99-ttft-bound-ns, is at least the percentile of the server. See [BoundRank].
const Confidence = 0.95

// BoundRank returns how many of n sorted values must be counted, from the smallest, to reach the
// upper confidence bound of the q-quantile, q in (0,1): the k-th smallest value is the bound. It
// returns false if even the largest of n values is none: n must be at least log(0.05)/log(q), which is
// 5 for the median, 29 for p90, 59 for p95 and 299 for p99.
//
// The bound assumes no shape of the distribution. Each value is below the true quantile with a
// probability of at most q. So k is the smallest number for which fewer than k of n values are below
// the quantile with a probability of at least [Confidence], by the binomial distribution. Where
// values are equal, the probability is higher. See Hahn and Meeker, "Statistical Intervals", 1991,
// 5.2; ci_quantile of R's confintr is the same
// (https://search.r-project.org/CRAN/refmans/confintr/html/ci_quantile.html).
//
// MLPerf's early stopping has the same binomial criterion with a confidence of 99 %
// (https://github.com/mlcommons/inference_policies/blob/master/inference_rules.adoc, appendix "Early
// Stopping Criterion"). With 459 queries no query may be above p99, and with 662 one may; its estimate
// of a latency needs the 662. The 262,742 queries of its table are for a margin of 0.05 % around 99 %.
//
// The bound holds for independent values from one distribution. Requests of one pass are not quite
// independent: those in flight at once share the server's batch, and a queue delays neighbours
// together. The more they share, the fewer values the n values are worth, and the less sure is the
// bound. It says nothing about another load, nor about the variation from one run to the next.
func BoundRank(n int, q float64) (k int, ok bool) {
	if n < 1 || !(q > 0 && q < 1) {
		return 0, false
	}
	// At most above values are above the bound: the largest number with
	// P(Binomial(n, 1-q) <= above) <= 1-Confidence. Values far below the mean have no weight.
	p := 1 - q
	mean := float64(n) * p
	above := int(max(0, mean-10*math.Sqrt(mean*q)-10))
	ratio := p / q
	chance := binomial(n, above, p)
	sum := chance
	if sum > 1-Confidence {
		return 0, false // above is 0
	}
	for {
		chance *= float64(n-above) / float64(above+1) * ratio
		if sum += chance; sum > 1-Confidence || above == n {
			return n - above, true
		}
		above++
	}
}

// binomial returns the probability of k among n, each of which has probability p.
func binomial(n, k int, p float64) float64 {
	gamma := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return math.Exp(gamma(n) - gamma(k) - gamma(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
