package decide

import (
	"cmp"
	"math"
	"slices"
)

// A Cell holds the old and the new samples of one gated row.
type Cell struct {
	Old, New []float64 // finite, not empty, and not negative without Amounts
	Better   int       // +1: higher is better, -1: lower is better
	Margin   float64   // the share of the old value by which new may be worse without being a regression
	// Amounts says that Margin and all changes are differences of values, in their unit, and no shares of the old value.
	// Values may then be 0 or negative.
	Amounts bool
	// NewFirst[i] is true if the new version ran first in round i. It is nil if the samples are not pairs.
	NewFirst []bool
	// InTurns states that the samples of a pair were taken in turns, again and again, so that no drift is
	// between them. NewFirst then means nothing but its length.
	InTurns bool
	// Rounds are the rounds, ascending and from 0, that the pairs in Old and New are of, if some
	// rounds have no pair. Otherwise it is nil.
	Rounds []int
	// Trials is set if Old and New are percentages of counted observations. Margin and all changes are then
	// differences of shares: 0.02 is two percentage points.
	Trials *Trials
	// Marks says that Old and New are 0 or 1: whether a result has a mark, such as that figures were withheld for some
	// reason. Better is then -1, Margin is 0 and InTurns is true. The cell has no noise.
	Marks bool
	// Limit is set if New is compared with a limit and not with Old, which is empty: the largest median that is allowed
	// if lower is better, or the smallest.
	Limit *float64
}

// Trials holds the number of observations behind each sample of a percentage, such as the number of answers
// that a process checked. Observations are independent, so the counts of several processes can be added.
type Trials struct {
	Old, New []float64 // whole numbers above 0, one for each sample
}

// proportion returns the counts of c, which must have Trials. If lower percentages are better, misses are
// counted as hits.
func (c Cell) proportion() proportion {
	var p proportion
	sum := func(percents, trials []float64) (hits, of int) {
		for i, percent := range percents {
			n := int(math.Round(trials[i]))
			h := min(n, int(math.Round(percent/100*trials[i])))
			if c.Better < 0 {
				h = n - h
			}
			hits, of = hits+h, of+n
		}
		return hits, of
	}
	p.old, p.ofOld = sum(c.Old, c.Trials.Old)
	p.new, p.ofNew = sum(c.New, c.Trials.New)
	return p
}

// round returns the round that a pair comes from.
func (c Cell) round(pair int) int {
	if c.Rounds == nil {
		return pair
	}
	return c.Rounds[pair]
}

// place turns values of the pairs into values of all rounds. A round without a pair gets 0.
func (c Cell) place(values []float64) []float64 {
	if c.Rounds == nil {
		return values
	}
	all := make([]float64, len(c.NewFirst))
	for pair, v := range values {
		all[c.Rounds[pair]] = v
	}
	return all
}

// shifted returns the old values shifted by the margin: multiplied by 1+margin if lower is better, by
// 1-margin if higher is better. An amount is added or subtracted.
func (c Cell) shifted() []float64 {
	switch {
	case c.Margin == 0:
		return c.Old
	case c.Amounts:
		return mapped(c.Old, func(x float64) float64 { return x - float64(c.Better)*c.Margin })
	}
	return scaled(c.Old, 1-float64(c.Better)*c.Margin)
}

// size returns the amount that differences of amounts are shares of, so that they are about 1: the largest absolute value.
func (c Cell) size() float64 {
	largest := c.Margin
	for _, x := range slices.Concat(c.Old, c.New) {
		largest = max(largest, math.Abs(x))
	}
	return cmp.Or(largest, 1)
}

// Change converts a difference, as in an [Estimate], into a change: a share of the old value, with its
// sign, or an amount. A share is infinite if the old value is 0.
func (c Cell) Change(difference float64) float64 {
	if c.Amounts {
		return -float64(c.Better) * (c.Margin + difference*c.size())
	}
	ratio := math.Inf(+1)
	if !(difference >= 2) {
		ratio = (1 + difference/2) / (1 - difference/2)
	}
	if c.Better > 0 {
		return (1-c.Margin)/ratio - 1
	}
	return (1+c.Margin)*ratio - 1
}

// Reversed exchanges old and new and sets the margin to 0. If the reversed cell is a regression, new is
// better than old. A cell with a Limit is returned as it is.
func (c Cell) Reversed() Cell {
	if c.Limit != nil {
		return c
	}
	r := Cell{Old: c.New, New: c.Old, Better: c.Better, Amounts: c.Amounts, InTurns: c.InTurns, Rounds: c.Rounds, Marks: c.Marks}
	if c.Trials != nil {
		r.Trials = &Trials{Old: c.Trials.New, New: c.Trials.Old}
	}
	if c.NewFirst != nil {
		r.NewFirst = make([]bool, len(c.NewFirst))
		for i, first := range c.NewFirst {
			r.NewFirst[i] = !first
		}
	}
	return r
}
