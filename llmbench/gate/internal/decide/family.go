package decide

import (
	"cmp"
	"math"
	"slices"
)

// PValues are the results of the tests of one cell.
type PValues struct {
	Worse    float64 // one-sided: that the samples look this bad if new is worse by exactly the margin
	Less     float64 // one-sided: that the samples look this good if new is worse by more than the margin
	Adjusted float64 // Worse, adjusted for the number of tests
}

// Test tests whether cells are worse than allowed. The cells may be a subset of the
// family of family comparisons that is corrected for. A cell is a regression if its adjusted
// p-value is at most alpha. All cells must be pairs with the same order, or none.
func Test(cells []Cell, family int) []PValues {
	if len(cells) > 0 && cells[0].NewFirst != nil {
		return testPairs(cells)
	}
	all := make([]PValues, len(cells))
	ps := make([]float64, len(cells))
	for i, c := range cells {
		all[i].Worse, all[i].Less = c.trimmedTest()
		ps[i] = all[i].Worse
	}
	for i, adjusted := range holm(ps, family) {
		all[i].Adjusted = adjusted
	}
	return all
}

// testPairs tests cells of pairs. If new is worse by exactly the margin, exchanging old and
// new in a round is a matter of the random order of the round, which all cells share. So
// the statistics are compared with those after exchanges of whole rounds. The adjusted
// p-value of a cell is the share of exchanges after which the largest statistic of any cell
// is at least that of the cell; cells with larger statistics no longer count (step-down maxT:
// Westfall and Young, "Resampling-Based Multiple Testing", 1993; Romano and Wolf, "Exact and
// Approximate Stepdown Methods for Multiple Hypothesis Testing", 2005,
// https://doi.org/10.1198/016214504000000539).
func testPairs(cells []Cell) []PValues {
	all, tests, order := make([]PValues, len(cells)), make([]pairedTest, len(cells)), make([]int, len(cells))
	for i, c := range cells {
		tests[i], order[i] = newPairedTest(c), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tests[a].statistic, tests[b].statistic) })
	f := flips(len(cells[0].Old))
	flipped, largest := make([]float64, f.ways), make([]float64, f.ways)
	for way := range largest {
		largest[way] = math.Inf(-1)
	}
	share := func(xs []float64, belongs func(float64) bool) float64 {
		n := 0
		for _, x := range xs {
			if belongs(x) {
				n++
			}
		}
		return float64(n) / float64(f.ways)
	}
	const rounding = 1e-9
	for _, i := range order {
		s := tests[i].statistic
		if math.IsInf(s, -1) { // new is worse by exactly the margin in every round
			all[i] = PValues{Worse: 1, Less: 1 / float64(f.ways), Adjusted: 1}
			continue
		}
		f.sums(tests[i].differences, flipped)
		for way, v := range flipped {
			largest[way] = max(largest[way], v)
		}
		least := func(x float64) bool { return x >= s-rounding }
		all[i] = PValues{share(flipped, least), share(flipped, func(x float64) bool { return x <= s+rounding }), share(largest, least)}
	}
	p := 0.0
	for _, i := range slices.Backward(order) {
		p = max(p, all[i].Adjusted)
		all[i].Adjusted = p
	}
	return all
}

// settledWorse returns the p-value of the rounds of c but the last, as PValues.Worse. The
// difference of the last round changes with the next round, which improves the estimate of the
// drift.
func (c Cell) settledWorse() float64 {
	n := len(c.Old) - 1
	if n < 1 {
		return 1
	}
	f := flips(n)
	settled, flipped := c.differences()[:n], make([]float64, f.ways)
	f.sums(settled, flipped)
	count := 0
	for _, v := range flipped {
		if v >= flipped[0]-1e-12 {
			count++
		}
	}
	return float64(count) / float64(f.ways)
}

// AtMost reports whether p <= alpha, apart from floating-point rounding.
func AtMost(p, alpha float64) bool { return p <= alpha*(1+1e-9) }

// Enough reports whether n samples a side suffice to reject a cell of pairs at alpha. The
// smallest p-value is 1/2^n, however many cells there are. The same number is asked for
// if the samples are not pairs, and at least four, because the spread of fewer is hardly
// known.
func Enough(n int, alpha float64) bool {
	return n >= 4 && AtMost(max(math.Pow(2, -float64(n)), 1./maxFlips), alpha)
}

// MinSamples returns the smallest number of samples a side that is enough, 6 for alpha
// 0.025.
func MinSamples(alpha float64) int {
	n := 1
	for !Enough(n, alpha) {
		n++
	}
	return n
}
