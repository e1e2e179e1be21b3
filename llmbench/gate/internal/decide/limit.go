package decide

import "math"

// overLimit returns the one-sided p-values of the sign test of the new samples of a cell with a Limit: of a median that
// keeps the limit (PValues.Worse), and of a median that does not (PValues.Less). The limit is outside the interval of the
// median between two samples if and only if one of them is small. Samples that equal the limit keep it.
//
// The test is exact if samples are independent, whatever their distribution is.
func (c Cell) overLimit() (worse, less float64) {
	over, n := 0, len(c.New)
	for _, x := range c.New {
		if float64(c.Better)*(x-*c.Limit) < 0 {
			over++
		}
	}
	for k := range n + 1 {
		p := math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
		if k >= over {
			worse += p
		}
		if k <= over {
			less += p
		}
	}
	return min(1, worse), min(1, less)
}

// EnoughForLimit reports whether n samples could show that the limit of one of the given number of cells with limits is
// exceeded. others says that the family has other cells, too.
func EnoughForLimit(n, limits int, others bool, alpha float64) bool {
	if others {
		alpha *= proportionShare
	}
	return AtMost(float64(limits)*math.Pow(2, -float64(n)), alpha)
}

// MinForLimit returns the smallest number of samples for which EnoughForLimit is true.
func MinForLimit(limits int, others bool, alpha float64) int {
	n := 1
	for !EnoughForLimit(n, limits, others, alpha) {
		n++
	}
	return n
}
