package gate

import (
	"math"
	"sort"
	"strconv"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// pLess is the one-sided Mann-Whitney U test. It returns the probability that, if xs
// and ys have the same distribution, the values of xs are as low among all values as
// they are here, or lower (Mann and Whitney, "On a Test of Whether one of Two Random
// Variables is Stochastically Larger than the Other", 1947,
// https://doi.org/10.1214/aoms/1177730491).
//
// The result is exact for up to 50 samples a side, with ties for up to 25, and a
// normal approximation above (stats.MannWhitneyExactLimit,
// MannWhitneyTiesExactLimit).
func pLess(xs, ys []float64) float64 {
	// Only LocationLess is used: with ties, where U has steps of 1/2,
	// LocationGreater counts one step too many.
	u, err := stats.MannWhitneyUTest(xs, ys, stats.LocationLess)
	if err != nil {
		return 1 // all values are equal
	}
	return u.P
}

// scaled returns xs times f, rounded to 14 significant digits, the most that files
// have. Without rounding, a value that is worse by exactly the margin could differ
// from the shifted baseline: in floating point, 1.15 times 100 is less than 115.
func scaled(xs []float64, f float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x*f, 'g', 14, 64), 64)
	}
	return out
}

// criticalU returns the largest U that the one-sided test rejects at level, or -1 if
// there is none. It is exact for up to 50 samples a side, as pLess is, and a normal
// approximation with continuity correction above.
func criticalU(n1, n2 int, level float64) int {
	if n1 < 1 || n2 < 1 {
		return -1
	}
	key := criticalKey{n1, n2, level}
	if u, ok := criticals.Load(key); ok {
		return u.(int)
	}
	u := newCriticalU(n1, n2, level)
	criticals.Store(key, u)
	return u
}

type criticalKey struct {
	n1, n2 int
	level  float64
}

// criticals caches the results of criticalU, by criticalKey.
var criticals sync.Map

func newCriticalU(n1, n2 int, level float64) int {
	if n1 <= stats.MannWhitneyExactLimit && n2 <= stats.MannWhitneyExactLimit {
		d := stats.UDist{N1: n1, N2: n2}
		return sort.Search(n1*n2, func(u int) bool { return !atMost(d.CDF(float64(u)), level) }) - 1
	}
	pairs := float64(n1) * float64(n2)
	sigma := math.Sqrt(pairs * float64(n1+n2+1) / 12)
	return int(math.Max(-1, math.Floor(pairs/2+sigma*stats.StdNormal.InvCDF(level)-0.5)))
}
