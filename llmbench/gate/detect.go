package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Power is the share of comparisons that find a change of size Row.Detectable.
const Power = 0.8

// detectable returns the smallest change for the worse that a comparison finds with
// probability Power, if it has as many and as noisy samples as c and c is the only
// cell of its family that is worse. The change is a share of the old value, with its
// sign. It is NaN if a mean is 0 or there are too few samples. If samples are still
// being added, the number of samples is that of the end of the plan.
//
// The noise is taken to be multiplicative, so the new value has to be beyond the
// margin by exp(k spread), where k is the shift of [criticalShift].
func (c cell) detectable(family int, p plan) float64 {
	k := criticalShift(max(len(c.old), p.rounds), max(len(c.new), p.rounds), p.final/float64(family))
	s := c.spread()
	if s == 0 {
		k = 0 // any change beyond the margin is found
	}
	if c.better > 0 {
		return (1-c.margin)/math.Exp(k*s) - 1
	}
	return (1+c.margin)*math.Exp(k*s) - 1
}

// spread returns the relative standard deviation of both samples together, each value
// divided by the mean of its side. It is NaN if a mean is 0 or there are too few
// values.
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

// criticalShift returns the distance between two normal distributions, in standard
// deviations, at which the one-sided U test rejects at level with probability Power.
// It returns NaN if the test never rejects.
//
// The usual formula, Noether's (https://doi.org/10.1080/01621459.1987.10478478), is
// inaccurate at levels as small as those of Holm's method. So criticalShift simulates
// pairs of samples x, y with a fixed seed. The test rejects a pair at shift d if
// #{x(i) > y(j) + d} <= U, the critical value, which holds for all d from some point
// on. The result is the Power quantile of these points.
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

// shifts caches the results of criticalShift, by shiftKey.
var shifts sync.Map

// leastShift returns the least d for which at most u of the pairs of x and y have
// x > y+d, with an accuracy of 1e-6. x and y must be sorted.
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
