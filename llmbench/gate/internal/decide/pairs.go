package decide

import (
	"math"
	"slices"
)

// differences returns, for each pair, by how much new is worse than old shifted by the margin, as a share
// of the mean of both, or of [Cell.size] for amounts. If the machine drifts, the drift is subtracted.
//
// Exchanging old and new in a round changes only the sign of that round's difference. It does not change
// the drift, or whether the drift is subtracted. If new is worse by exactly the margin, the sign of each
// difference is therefore as random as the order of its round. Rosenbaum describes such adjustments
// ("Covariance Adjustment in Randomized Experiments and Observational Studies", 2002,
// https://doi.org/10.1214/ss/1042727942).
func (c Cell) differences() []float64 {
	plain, steady := c.bothDifferences()
	if spread(steady) < spread(plain) {
		return steady
	}
	return plain
}

// bothDifferences returns the differences as they are (plain), and with a steady drift subtracted (steady).
//
// The difference 2(new-old)/(new+old) approximates the logarithm of new/old if the difference is small. It
// is also defined for 0, and changes its sign if old and new are exchanged.
//
// The drift within a round, from its first to its second process, is estimated from the means of the rounds
// before and after it. A single disturbed process spoils the estimates of the rounds before and after its
// own, and so does a sudden change of the machine. In these cases the plain differences spread less.
func (c Cell) bothDifferences() (plain, steady []float64) {
	old := c.shifted()
	n, size := len(old), c.size()
	ratio := func(difference, sum float64, values int) float64 {
		switch {
		case c.Amounts:
			return difference / (float64(values) * size)
		case sum == 0:
			return 0
		}
		return difference / sum
	}
	plain, steady = make([]float64, n), make([]float64, n)
	for i := range n {
		before, after := max(i-1, 0), min(i+1, n-1)
		drift := ratio((old[after]+c.New[after])-(old[before]+c.New[before]), old[after]+c.New[after]+old[before]+c.New[before], 4)
		if rounds := c.round(after) - c.round(before); rounds > 1 {
			drift /= float64(rounds) // the two rounds are 2*rounds processes apart, not two
		}
		if c.NewFirst[c.round(i)] {
			drift = -drift
		}
		if c.InTurns {
			drift = 0
		}
		d := ratio(2*(c.New[i]-old[i]), c.New[i]+old[i], 2)
		plain[i], steady[i] = -float64(c.Better)*d, -float64(c.Better)*(d-drift)
	}
	return plain, steady
}

// settled returns the differences of all pairs but the last. Further rounds do not change these
// differences; they only decide which of the two slices [Cell.differences] returns.
func (c Cell) settled() (plain, steady []float64) {
	plain, steady = c.bothDifferences()
	n := len(plain) - 1
	return plain[:n], steady[:n]
}

// spread returns the mean distance between the absolute values of differences and their median.
func spread(differences []float64) float64 {
	sizes := make([]float64, len(differences))
	for i, d := range differences {
		sizes[i] = math.Abs(d)
	}
	middle, sum := median(sizes), 0.0
	for _, size := range sizes {
		sum += math.Abs(size - middle)
	}
	return sum / float64(len(sizes))
}

// pairedEstimate estimates the center of the differences: the value from which the clipped distances of the
// differences have a mean of 0. The standard error follows Huber's estimates of location
// ("Robust Estimation of a Location Parameter", 1964, https://doi.org/10.1214/aoms/1177703732).
func (c Cell) pairedEstimate() Estimate {
	ds := c.differences()
	n := float64(len(ds))
	center := median(slices.Clone(ds))
	rest := make([]float64, len(ds))
	var squares, inside float64
	for range 100 {
		for i, d := range ds {
			rest[i] = d - center
		}
		limit := clipLimit(rest)
		var move float64
		squares, inside = 0, 0
		for _, r := range rest {
			psi := clipped(r, limit)
			move += psi / n
			squares += psi * psi
			if psi == r {
				inside++
			}
		}
		if math.Abs(move) <= 1e-9*limit {
			break
		}
		center += move
	}
	switch {
	case n < 2:
		return Estimate{center, math.NaN(), 0}
	case squares == 0:
		return Estimate{center, 0, n - 1}
	}
	return Estimate{center, math.Sqrt(squares/(n-1)*n) / inside, inside - 1}
}

// A pairedTest is the test of one cell of pairs.
type pairedTest struct {
	differences []float64 // clipped, with a mean square of 1/n²
	statistic   float64   // the sum of the differences
}

// newPairedTest prepares a test of differences. The statistic is the mean of the clipped differences
// divided by their root mean square. It is 1 if all differences are equal and positive, and increases with
// Student's t. The mean square does not depend on the signs of the differences, so the statistics of quiet
// and noisy rows can be compared.
func newPairedTest(differences []float64) pairedTest {
	t := pairedTest{differences: make([]float64, len(differences))}
	limit := clipLimit(differences)
	var sum, squares float64
	for i, d := range differences {
		d = clipped(d, limit)
		t.differences[i] = d
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
