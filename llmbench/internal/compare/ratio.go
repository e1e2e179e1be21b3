package compare

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// An Interval is a figure, such as a ratio, and the range in which it probably is.
type Interval struct {
	Mid, Low, High float64
	Confident      bool // the range has the figure with 95 % confidence; otherwise Low and High of a ratio span the ratios of all pairs
}

// Undecided reports whether the range of a ratio has 1 with 95 % confidence, so that either side may be the larger one.
func (i Interval) Undecided() bool { return i.Confident && i.Low <= 1 && i.High >= 1 }

// RatioOf returns the ratio of the medians of two systems' runs. The interval inverts the test of Mann and Whitney
// (J. L. Hodges, E. L. Lehmann, "Estimates of Location Based on Rank Tests", 1963), which needs four runs of each for
// 95 % confidence. All values must be above 0.
func RatioOf(a, b []float64) Interval {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, x/y)
		}
	}
	slices.Sort(ratios)
	k := 0 // the number of ratios that are left out at each end
	if len(a)+len(b) <= exactSamples {
		below := 0.0
		for wins, share := range halfWins(distinct(len(a), len(b))) {
			if below += share; below > significant/2 {
				break
			}
			k = wins/2 + 1
		}
	} else {
		n, m := float64(len(a)), float64(len(b))
		k = int(max(0, n*m/2-1.96*math.Sqrt(n*m*(n+m+1)/12)))
	}
	i := Interval{Mid: robust.Median(a) / robust.Median(b), Confident: k > 0}
	k = max(0, min(k-1, (len(ratios)-1)/2))
	i.Low, i.High = min(i.Mid, ratios[k]), max(i.Mid, ratios[len(ratios)-1-k])
	return i
}

// distinct returns samples without ties.
func distinct(n, m int) (s stratum) {
	for i := range n {
		s.a = append(s.a, float64(i))
	}
	for i := range m {
		s.b = append(s.b, float64(n+i))
	}
	return s
}
