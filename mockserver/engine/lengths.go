package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// Lengths is a distribution of lengths by its quantiles: points of a curve that
// is linear between them, from share 0 to share 1, neither falling in share nor
// in tokens. In JSON it is an array of pairs, [[0, 3], [0.5, 240], [1, 600]].
// Without points it is no distribution.
type Lengths [][2]float64

// At returns the length below which that share, 0 to 1, of all lengths are. It
// is NaN where there are no points.
func (l Lengths) At(share float64) float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	i := sort.Search(len(l), func(i int) bool { return l[i][0] >= share })
	switch {
	case i == 0:
		return l[0][1]
	case i == len(l):
		return l[i-1][1]
	}
	a, b := l[i-1], l[i]
	return a[1] + (b[1]-a[1])*(share-a[0])/(b[0]-a[0])
}

// Mean returns the mean of the distribution, NaN where there are no points.
func (l Lengths) Mean() float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	mean := l[0][0]*l[0][1] + (1-l[len(l)-1][0])*l[len(l)-1][1]
	for i := 1; i < len(l); i++ {
		mean += (l[i][0] - l[i-1][0]) * (l[i][1] + l[i-1][1]) / 2
	}
	return mean
}

// Validate returns an error that names the first point of the curve which cannot
// be used, by its index, the value and what is allowed, or nil.
func (l Lengths) Validate() error {
	for i, p := range l {
		switch {
		case !(p[0] >= 0 && p[0] <= 1):
			return fmt.Errorf("[%d][0]: %v, want a share, 0 to 1", i, p[0])
		case !(p[1] >= 1 && p[1] <= mostTokens):
			return fmt.Errorf("[%d][1]: %v, want 1 to %d tokens", i, p[1], mostTokens)
		case i > 0 && p[0] < l[i-1][0]:
			return fmt.Errorf("[%d][0]: %v, want no less than %v before it", i, p[0], l[i-1][0])
		case i > 0 && p[1] < l[i-1][1]:
			return fmt.Errorf("[%d][1]: %v, want no less than %v before it", i, p[1], l[i-1][1])
		}
	}
	return nil
}

// DrawOutput returns the output length of the request with that ordinal, drawn
// from Output and rounded to whole tokens, at least 1. The same seed and ordinal
// give the same length. It is 0 if the profile has no curve.
func (p Profile) DrawOutput(ordinal uint64) int {
	if len(p.Output) == 0 {
		return 0
	}
	share := rand.New(rand.NewPCG(p.Seed, ordinal)).Float64()
	return max(int(math.Round(p.Output.At(share))), 1)
}
