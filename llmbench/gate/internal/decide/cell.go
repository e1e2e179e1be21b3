package decide

import "math"

// A Cell is the two samples of one gated row.
type Cell struct {
	Old, New []float64 // finite, not negative, not empty
	Better   int       // +1: higher is better, -1: lower is better
	Margin   float64   // the share of the old value by which new may be worse
	// NewFirst states for each pair of samples whether the new version ran first. It is
	// nil if the samples are not pairs, and otherwise as long as Old and New.
	NewFirst []bool
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
	r := Cell{Old: c.New, New: c.Old, Better: c.Better}
	if c.NewFirst != nil {
		r.NewFirst = make([]bool, len(c.NewFirst))
		for i, first := range c.NewFirst {
			r.NewFirst[i] = !first
		}
	}
	return r
}
