package decide

import "math"

// differences returns for each pair by how much new is worse than old shifted by the
// margin, as a share of the mean of both, without the drift of the machine.
//
// The difference 2(new-old)/(new+old) is the logarithm of new/old for small differences.
// It is defined for 0 too, and changes its sign if old and new are exchanged.
//
// The drift within a round, from its first to its second process, is estimated from the
// means of the rounds before and after it, and subtracted. Exchanging old and new in a
// round changes neither the means of rounds nor, therefore, the estimate. So under the
// null hypothesis the sign of each difference is as random as the order of its round.
// Rosenbaum describes such adjustments ("Covariance Adjustment in Randomized Experiments
// and Observational Studies", 2002, https://doi.org/10.1214/ss/1042727942).
func (c Cell) differences() []float64 {
	old := c.shifted()
	n := len(old)
	all := make([]float64, n)
	for i := range all {
		drift := (old[min(i+1, n-1)] + c.New[min(i+1, n-1)]) - (old[max(i-1, 0)] + c.New[max(i-1, 0)])
		drift = ratio(drift, old[min(i+1, n-1)]+c.New[min(i+1, n-1)]+old[max(i-1, 0)]+c.New[max(i-1, 0)])
		if 0 < i && i < n-1 {
			drift /= 2 // the two rounds are four processes apart rather than two
		}
		if c.NewFirst[i] {
			drift = -drift
		}
		all[i] = -float64(c.Better) * (ratio(2*(c.New[i]-old[i]), c.New[i]+old[i]) - drift)
	}
	return all
}

// ratio returns a/b, and 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (c Cell) pairedEstimate() Estimate {
	mean, err := meanAndError(c.differences())
	return Estimate{mean, err, float64(len(c.Old) - 1)}
}

// A pairedTest is the test of one cell of pairs.
type pairedTest struct {
	differences []float64
	statistic   float64
}

// newPairedTest prepares the test of c. The statistic is the mean of the differences divided
// by the root of their mean square. It is 1 if all differences are equal and positive, and
// increases with Student's t. The mean square does not depend on the signs of the
// differences, so that the statistics of quiet and noisy rows can be compared.
func newPairedTest(c Cell) pairedTest {
	t := pairedTest{differences: c.differences()}
	var sum, squares float64
	for _, d := range t.differences {
		sum += d
		squares += d * d
	}
	if squares == 0 {
		return pairedTest{statistic: math.Inf(-1)}
	}
	root := math.Sqrt(squares * float64(len(t.differences)))
	for i := range t.differences {
		t.differences[i] /= root
	}
	t.statistic = sum / root
	return t
}
