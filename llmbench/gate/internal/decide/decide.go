package decide

import (
	"math"
	"slices"
)

// An Outcome is the decision about one cell.
type Outcome int

const (
	Pass       Outcome = iota // not shown to be worse by more than the margin
	NoWorse                   // shown to be worse by at most the margin, or better
	Regression                // worse by more than the margin
	TooNoisy                  // not shown to be worse, and the noise is more than the margin, or hides a change of any size, or a limit is within the interval
	TooFew                    // worse by more than the margin and the noise, but the samples are too few to show that
)

// A Decision is the result for one cell.
type Decision struct {
	PValues
	Outcome Outcome
}

// Rules say what is required for an outcome.
type Rules struct {
	Quiet   bool // a cell is TooNoisy rather than Pass if its noise is larger than its margin; always true for proportions
	NoWorse bool // a cell that is Pass is undecided, because further samples may make it NoWorse
}

// Decide decides about cells that have n samples per side so far. It alone says from which p-value on a cell is a
// Regression or NoWorse; [EnoughFor] and Plan.decided ask whether samples can reach that p-value at all. family is the
// number of gated rows, including those that cannot be tested. settled reports whether no more samples are needed: the
// plan is complete, a cell is a regression, or no cell is undecided. If a cell is undecided whatever its p-values are,
// the tests are not run and the p-values are NaN.
func Decide(cells []Cell, family, n int, p Plan, rules Rules) (all []Decision, settled bool) {
	alpha, looks := p.Level(n)
	all = make([]Decision, len(cells))
	noisy := func(c Cell) bool {
		if c.Marks || c.Limit != nil {
			return false
		}
		return (rules.Quiet || c.Trials != nil) && !(c.Noise() <= c.Margin) || c.hidesAll(family, p)
	}
	open := !looks && slices.ContainsFunc(cells, func(c Cell) bool {
		return rules.NoWorse || noisy(c) || !p.decided(c, n)
	})
	if open { // undecided whatever the tests would show
		for i := range all {
			all[i].PValues = PValues{math.NaN(), math.NaN(), math.NaN()}
		}
		return all, false
	}
	found := false
	for i, tested := range Test(cells, family) {
		c, d := cells[i], &all[i]
		d.PValues = tested
		switch {
		case looks && AtMost(d.Adjusted, alpha):
			d.Outcome, found = Regression, true
		case looks && AtMost(d.Less, alpha):
			d.Outcome = NoWorse
		case c.Limit != nil:
			d.Outcome, open = TooNoisy, true
		case c.Marks:
			open = open || !p.decided(c, n)
		case c.looksWorse():
			d.Outcome, open = TooFew, true
		case noisy(c):
			d.Outcome, open = TooNoisy, true
		default:
			open = open || rules.NoWorse || !p.decided(c, n)
		}
	}
	return all, p.Complete(n) || found || !open
}
