package calibrate

import (
	"math"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// A shape is a distribution of lengths with mean 1. It maps a share, 0 to 1, to the quantile.
type shape func(share float64) float64

// constant is the shape if all lengths are equal.
func constant(float64) float64 { return 1 }

// uniform returns the shape of lengths that are uniform between 1-spread and 1+spread. spread is 0 to 1.
func uniform(spread float64) shape {
	return func(share float64) float64 { return 1 + spread*(2*share-1) }
}

// exponential is the shape of an exponential distribution, cut off at the quantile of 99.9 %.
func exponential(share float64) float64 { return -math.Log1p(-math.Min(share, .999)) }

// known returns the shape of the distribution l.
func known(l engine.Lengths) shape {
	return func(share float64) float64 { return l.At(share) / l.Mean() }
}

// shares lists the latency percentiles that load testers print, from the median upwards.
var shares = []struct {
	unit  string
	share float64
}{
	{"p50-e2e-ns", .50}, {"p66-e2e-ns", .66}, {"p75-e2e-ns", .75}, {"p80-e2e-ns", .80},
	{"p90-e2e-ns", .90}, {"p95-e2e-ns", .95}, {"p98-e2e-ns", .98}, {"p99-e2e-ns", .99},
}

// shapeOf derives the shape of the output lengths from the latencies at a low load. There, the latency of a
// request minus an overhead in nanoseconds is proportional to its output length. The curve passes through the
// printed percentiles, and continues above the last one with the same slope. No percentile below the median is
// printed, so the lower half is a power of the share. The power is chosen so that the mean is the printed mean.
func shapeOf(p profiles.Point, overhead float64) shape {
	median := p.Values[sample.P50E2E] - overhead
	if median <= 0 {
		return constant
	}
	curve := engine.Lengths{}
	for _, s := range shares {
		if v, ok := p.Values[s.unit]; ok {
			curve = append(curve, [2]float64{s.share, v - overhead})
		}
	}
	if n := len(curve); n > 1 {
		a, b := curve[n-2], curve[n-1]
		curve = append(curve, [2]float64{1, b[1] + (b[1]-a[1])*(1-b[0])/(b[0]-a[0])})
	}
	upper := 0.0
	for i := 1; i < len(curve); i++ {
		upper += (curve[i][0] - curve[i-1][0]) * (curve[i][1] + curve[i-1][1]) / 2
	}
	total := p.Values[sample.MeanE2E] - overhead
	// The lower half is median*(2*share)^k, whose mean is median/(k+1).
	lower := math.Min(math.Max((total-upper)/.5, median/20), median)
	k := median/lower - 1
	total = upper + lower/2
	return func(share float64) float64 {
		if share < .5 {
			return median * math.Pow(2*share, k) / total
		}
		return curve.At(share) / total
	}
}

// draw returns n lengths of this shape with the given mean. Each is a whole number of at least 1. The
// distribution is divided into n equally likely parts; each part gives one length. The order is random.
func (s shape) draw(n int, mean float64, seed uint64) []int {
	exact := make([]float64, n)
	sum := 0.0
	for i := range exact {
		exact[i] = s((float64(i) + .5) / float64(n))
		sum += exact[i]
	}
	lengths := make([]int, n)
	for i := range exact {
		lengths[i] = max(1, int(math.Round(exact[i]*mean*float64(n)/sum)))
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(n, func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	return lengths
}

// curveShares lists the shares at which a profile describes a distribution.
var curveShares = []float64{0, .01, .05, .1, .2, .3, .4, .5, .66, .75, .8, .9, .95, .98, .99, 1}

// curve returns the distribution of this shape with the given mean, in the form of a profile.
func (s shape) curve(mean float64) engine.Lengths {
	var l engine.Lengths
	for _, share := range curveShares {
		l = append(l, [2]float64{share, math.Max(1, math.Round(s(share)*mean))})
	}
	return l
}
