package decide

import "math"

// A Cell is the two samples of one gated row.
type Cell struct {
	Old, New []float64 // finite, not negative, not empty
	Better   int       // +1: higher is better, -1: lower is better
	Margin   float64   // the share of the old value by which new may be worse
	// NewFirst states for each round whether the new version ran first. It is nil if the samples
	// are not pairs.
	NewFirst []bool
	// InTurns states that the samples of a pair were taken in turns, again and again, so that no drift is
	// between them. NewFirst then means nothing but its length.
	InTurns bool
	// Rounds are the rounds, ascending and from 0, that the pairs in Old and New are of, if some
	// rounds have no pair. Otherwise it is nil.
	Rounds []int
	// Trials, if not nil, says that Old and New are percentages of so many observations, and that
	// Margin and all changes are differences of shares: 0.02 is two percentage points.
	Trials *Trials
}

// Trials has the number of observations behind each sample that is a percentage, such as the answers
// that a process checked. Observations are independent, so the counts of processes can be added.
type Trials struct {
	Old, New []float64 // whole numbers above 0, as many as samples
}

// proportion returns the counts of c, which has Trials. If lower percentages are better, misses count.
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

// round returns the round of a pair.
func (c Cell) round(pair int) int {
	if c.Rounds == nil {
		return pair
	}
	return c.Rounds[pair]
}

// place returns a value for each round, of values of the pairs. A round without a pair has 0.
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

// shifted returns the old values shifted by the margin: times 1+margin if lower is better,
// times 1-margin if higher is better.
func (c Cell) shifted() []float64 {
	if c.Margin == 0 {
		return c.Old
	}
	return scaled(c.Old, 1-float64(c.Better)*c.Margin)
}

// Change converts a difference, as in an [Estimate], into a change of the old value, a share
// of it with its sign. It is infinite if the old value is 0.
func (c Cell) Change(difference float64) float64 {
	ratio := math.Inf(+1)
	if !(difference >= 2) {
		ratio = (1 + difference/2) / (1 - difference/2)
	}
	if c.Better > 0 {
		return (1-c.Margin)/ratio - 1
	}
	return (1+c.Margin)*ratio - 1
}

// Reversed exchanges old and new and drops the margin. If the reversed cell is a
// regression, new is better than old.
func (c Cell) Reversed() Cell {
	r := Cell{Old: c.New, New: c.Old, Better: c.Better, InTurns: c.InTurns, Rounds: c.Rounds}
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
