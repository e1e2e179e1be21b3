package decide

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/student"
)

// Power is the share of comparisons in which a change of the size [Cell.Detectable] is found.
const Power = 0.8

// powerQuantile is the Power quantile of the standard normal distribution.
const powerQuantile = 0.8416212

// Difference returns by how much the share of all observations changed from old to new. The cell must have
// Trials.
func (c Cell) Difference() float64 { return 0 - float64(c.Better)*c.proportion().loss() }

// Estimate returns by how much new is worse than old shifted by the margin.
func (c Cell) Estimate() Estimate {
	if c.NewFirst != nil {
		return c.pairedEstimate()
	}
	return c.trimmedEstimate()
}

// Noise returns half the width of the 95 % confidence interval of the change, as a share of the old value or an
// amount. It is NaN if there are too few samples.
func (c Cell) Noise() float64 {
	if c.Trials != nil {
		return c.proportion().noise()
	}
	c.Margin = 0
	width := c.Estimate().halfWidth()
	if c.Amounts {
		width *= c.size()
	}
	return width
}

// Detectable returns the smallest regression that a comparison would find with probability Power, if its
// samples were as noisy as the samples of c and no other cell of its family were worse. The result is a
// share of the old value or an amount, with its sign. It is NaN for a share of 0 or too few samples. If
// samples are still being added, rounds is the number of samples at the end; otherwise it is 0.
//
// The result is approximate: in the simulations of TestDetectable, 79 to 87 % of such changes are found
// under normal noise, and 65 to 84 % under noise with heavy tails.
//
// The formula inverts an approximation of the noncentral t-distribution (Johnson and Welch,
// "Applications of the Non-Central t-Distribution", 1940,
// https://doi.org/10.1093/biomet/31.3-4.362), at the level alpha/family.
func (c Cell) Detectable(family, rounds int, alpha float64) float64 {
	if c.Trials != nil {
		if family > 1 {
			alpha *= proportionShare
		}
		return -float64(c.Better) * c.proportion().detectable(c.Margin, max(1, float64(rounds)/float64(len(c.Old))), student.Quantile(alpha, 1e6)+powerQuantile)
	}
	e := c.Estimate()
	if rounds > len(c.Old) {
		e.err *= math.Sqrt(float64(len(c.Old)) / float64(rounds))
		e.free *= float64(rounds-1) / float64(len(c.Old)-1)
	}
	switch {
	case !c.Amounts && slices.Max(c.Old) == 0:
		return math.NaN() // a share of nothing
	case e.err == 0:
		return c.Change(0) // any change beyond the margin is found
	}
	t := student.Quantile(alpha/float64(family), e.free)
	return c.Change(e.err * (t*(1-1/(4*e.free)) + powerQuantile*math.Sqrt(1+t*t/(2*e.free))))
}

// Bound returns the largest regression that is consistent with the samples of c, with a confidence of
// 1-alpha. It is NaN if there are too few samples. The bound is within the margin if and only if
// PValues.Less is at most alpha.
func (c Cell) Bound(alpha float64) float64 {
	if c.Trials != nil {
		return -float64(c.Better) * c.proportion().bound(alpha)
	}
	if c.NewFirst != nil {
		return c.Change(c.pairedBound(alpha))
	}
	e := c.trimmedEstimate()
	if e.err == 0 {
		return c.Change(e.Difference)
	}
	return c.Change(e.Difference + e.err*student.Quantile(alpha, e.free))
}

// looksWorse reports whether new looks worse than the margin allows by more than the noise. If c is no regression
// nevertheless, there are too few samples to show that.
func (c Cell) looksWorse() bool {
	if c.Trials != nil {
		return false // for counts, Noise says whether they are enough
	}
	e := c.Estimate()
	return e.Difference > e.halfWidth()+rounding
}

// hidesAll reports whether a regression would probably not be found in samples as noisy as the ones in c, however large.
func (c Cell) hidesAll(family int, p Plan) bool {
	if c.Trials != nil || !c.Amounts && slices.Max(c.Old) == 0 {
		return false // the change from 0 is no percentage
	}
	found := c.Detectable(family, p.Rounds, p.Final())
	return math.IsNaN(found) || math.IsInf(found, 0) || c.Better > 0 && !c.Amounts && found <= -1
}

// WantedToShow returns about how many samples per side would show a regression if the p-value of n samples is p: each
// further one halves the smallest p-value that is possible.
func WantedToShow(n int, p, alpha float64) int {
	if !(p > alpha) {
		return n + 1
	}
	return n + max(1, int(math.Ceil(math.Log2(p/alpha))))
}

// Wanted returns the number of samples per side at which the noise would be about as large as margin, or 0
// if that number is unreasonably large. noise is the noise of n samples.
func Wanted(n int, noise, margin float64) int {
	if more := math.Ceil(float64(n) * (noise / margin) * (noise / margin)); more < 1e6 {
		return int(more)
	}
	return 0
}
