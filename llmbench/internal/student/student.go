// Package student has Student's t-distribution (https://en.wikipedia.org/wiki/Student%27s_t-distribution), as the
// comparison of two versions and the watch over a history need it.
package student

import (
	"math"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Quantile returns the value that Student's t, with the given degrees of freedom, exceeds with probability p. p must
// be above 0 and at most 0.5. The result is NaN if free is not positive. Results are kept, because the search for one
// takes long. Quantile may be called by several goroutines at once.
func Quantile(p, free float64) float64 {
	if !(free > 0) {
		return math.NaN()
	}
	key := [2]float64{p, free}
	q, ok := quantiles.Load(key)
	if !ok {
		q = -stats.InvCDF(stats.TDist{V: free})(p)
		quantiles.Store(key, q)
	}
	return q.(float64)
}

// quantiles has the results of Quantile, by p and free.
var quantiles sync.Map

// Tail returns the probability that Student's t, with the given degrees of freedom, exceeds x.
func Tail(x, free float64) float64 { return stats.TDist{V: free}.CDF(-x) }
