package engine

import (
	"fmt"
	"math"
	"sort"
)

// maxTokens is the largest length, in tokens, of a prompt or an output.
const maxTokens = 1 << 30

// Lengths is a distribution of lengths in tokens, given by quantiles. Each point is a pair of
// a share, 0 to 1, and a length: this share of the lengths is at or below the length. Shares
// and lengths must not decrease from point to point. Between points the curve is linear. In
// JSON, Lengths is an array of pairs, as in [[0, 3], [0.5, 240], [1, 600]]. Without points
// there is no distribution.
type Lengths [][2]float64

// At returns the quantile: the length at or below which the given share, 0 to 1, of the
// lengths lies. It is NaN if there are no points.
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

// Mean returns the mean of the distribution, or NaN if there are no points.
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

// Validate returns nil if the points are valid. Otherwise the error gives the index of the
// first invalid point, the value and what is allowed.
func (l Lengths) Validate() error {
	for i, p := range l {
		switch {
		case !(p[0] >= 0 && p[0] <= 1):
			return fmt.Errorf("[%d][0]: %v: want a share, 0 to 1", i, p[0])
		case !(p[1] >= 1 && p[1] <= maxTokens):
			return fmt.Errorf("[%d][1]: %v: want 1 to %d tokens", i, p[1], maxTokens)
		case i > 0 && p[0] < l[i-1][0]:
			return fmt.Errorf("[%d][0]: %v: want at least %v, as in the point before", i, p[0], l[i-1][0])
		case i > 0 && p[1] < l[i-1][1]:
			return fmt.Errorf("[%d][1]: %v: want at least %v, as in the point before", i, p[1], l[i-1][1])
		}
	}
	return nil
}
