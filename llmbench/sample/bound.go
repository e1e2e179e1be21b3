package sample

import "math"

// confidence is the probability that the upper confidence bound of a percentile, such as the unit
// p99-ttft-bound-ns, is not below the server's true percentile. See [BoundRank].
const confidence = 0.95

// BoundRank returns the rank k of the upper confidence bound of the q-quantile, q in (0,1): the bound is
// the k-th smallest of n values. It returns false if even the largest of n values is not high enough to be
// a bound. For a bound, n must be at least log(0.05)/log(q), which is 5 for the median, 29 for p90, 59 for
// p95 and 299 for p99.
//
// The bound assumes nothing about the shape of the distribution. Each value is below the true quantile with
// a probability of at most q. By the binomial distribution, k is therefore the smallest number such that
// fewer than k of n values are below the quantile with a probability of at least 95 %. If values
// are equal, the probability is higher. See Hahn and Meeker, "Statistical Intervals", 1991, 5.2. The
// function ci_quantile of R's confintr computes the same bound
// (https://search.r-project.org/CRAN/refmans/confintr/html/ci_quantile.html).
//
// MLPerf's early stopping uses the same binomial criterion with a confidence of 99 %
// (https://github.com/mlcommons/inference_policies/blob/master/inference_rules.adoc, appendix "Early
// Stopping Criterion"). With 459 queries no query may be above p99, and with 662 queries one may. MLPerf's
// estimate of a latency needs 662 queries. The 262,742 queries in MLPerf's table are for a margin of
// 0.05 % around 99 %.
//
// The bound holds for independent values from one distribution. Requests of one pass are not fully
// independent: requests in flight at the same time share the server's batch, and a queue delays several
// requests together. The more the requests depend on each other, the lower is the bound's real confidence.
// The bound applies neither to another load, nor to the variation from one run to the next.
func BoundRank(n int, q float64) (k int, ok bool) {
	if n < 1 || !(q > 0 && q < 1) {
		return 0, false
	}
	// Count how many values may lie above the bound: above is the largest number with P(Binomial(n, 1-q) <=
	// above) <= 1-confidence. The loop starts far below the mean, where the probabilities are negligible.
	p := 1 - q
	mean := float64(n) * p
	above := int(max(0, mean-10*math.Sqrt(mean*q)-10))
	ratio := p / q
	chance := binomial(n, above, p)
	sum := chance
	if sum > 1-confidence {
		return 0, false // above is 0
	}
	for {
		chance *= float64(n-above) / float64(above+1) * ratio
		if sum += chance; sum > 1-confidence || above == n {
			return n - above, true
		}
		above++
	}
}

// binomial returns the probability of exactly k successes in n trials, each with probability p.
func binomial(n, k int, p float64) float64 {
	gamma := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return math.Exp(gamma(n) - gamma(k) - gamma(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
