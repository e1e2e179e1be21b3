package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Power is the share of comparisons in which a change of Row.Detectable is found.
const Power = 0.8

// detectable is the smallest change for the worse, a share of the old value with
// its sign, that samples as many and as noisy as c's show with probability Power
// when c is the only cell of its family that is worse. It is NaN when that is not
// known: a mean is 0, or there are too few samples.
//
// With noise that multiplies, the new value has to be beyond the margin by
// exp(k spread), where k is the shift of [criticalShift].
// Of samples that are still coming it is about those at the end of the plan.
func (c cell) detectable(family int, p plan) float64 {
	k := criticalShift(max(len(c.old), p.rounds), max(len(c.new), p.rounds), p.final/float64(family))
	s := c.spread()
	if s == 0 {
		k = 0 // anything beyond the margin
	}
	if c.better > 0 {
		return (1-c.margin)/math.Exp(k*s) - 1
	}
	return (1+c.margin)*math.Exp(k*s) - 1
}

// spread is the relative standard deviation of both samples together: that of
// values over their own side's mean. It is NaN when a mean is 0 or there is
// nothing to tell it from.
func (c cell) spread() float64 {
	var squares float64
	for _, xs := range [][]float64{c.old, c.new} {
		mean := stats.Mean(xs)
		for _, x := range xs {
			squares += (x/mean - 1) * (x/mean - 1)
		}
	}
	return math.Sqrt(squares / float64(len(c.old)+len(c.new)-2))
}

// criticalShift is how many standard deviations two normal samples have to be
// apart for the one-sided U test to reject at level with probability Power; NaN
// when it never does.
//
// The usual formula, Noether's (https://doi.org/10.1080/01621459.1987.10478478),
// is far off at levels as small as Holm's. So this draws pairs of samples x, y
// with a fixed seed. A pair is rejected for shifts d with
// #{x(i) > y(j) + d} <= U, the critical value, that is for all d from some point
// on; the Power quantile of these points is the answer.
func criticalShift(n1, n2 int, level float64) float64 {
	u := criticalU(n1, n2, level)
	if u < 0 {
		return math.NaN()
	}
	key := shiftKey{n1, n2, u}
	if k, ok := shifts.Load(key); ok {
		return k.(float64)
	}
	trials := max(1000, min(10_000, 200_000/(n1+n2)))
	r := rand.New(rand.NewPCG(uint64(n1), uint64(n2)))
	x, y := make([]float64, n1), make([]float64, n2)
	points := make([]float64, trials)
	for i := range points {
		for _, s := range [][]float64{x, y} {
			for j := range s {
				s[j] = r.NormFloat64()
			}
			slices.Sort(s)
		}
		points[i] = leastShift(x, y, u)
	}
	slices.Sort(points)
	k := points[int(Power*float64(trials))]
	shifts.Store(key, k)
	return k
}

type shiftKey struct{ n1, n2, u int }

// shifts has what criticalShift found, by shiftKey.
var shifts sync.Map

// leastShift is the least d for which at most u of the pairs of sorted x and y
// have x > y+d, to a millionth.
func leastShift(x, y []float64, u int) float64 {
	lo, hi := x[0]-y[len(y)-1]-1, x[len(x)-1]-y[0]
	for hi-lo > 1e-6 {
		d := (lo + hi) / 2
		above, j := 0, 0
		for _, v := range x {
			for j < len(y) && y[j]+d < v {
				j++
			}
			above += j
		}
		if above <= u {
			hi = d
		} else {
			lo = d
		}
	}
	return hi
}

// criticalU is the largest U that the one-sided test rejects at level, -1 when
// there is none. As that of pLess it is exact for up to 50 samples, and a normal
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

// criticals has what criticalU found, by criticalKey.
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
