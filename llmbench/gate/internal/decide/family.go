package decide

import (
	"cmp"
	"math"
	"slices"
)

// PValues are the p-values of one cell.
type PValues struct {
	Worse    float64 // one-sided: the probability that the samples look at least this bad if new is worse by exactly the margin
	Less     float64 // one-sided: the probability that the samples look at least this good if new is worse by exactly the margin
	Adjusted float64 // Worse, adjusted for the number of tests
}

// Test tests whether cells are worse than allowed. family is the number of comparisons that the p-values
// are adjusted for; cells may be only some of them. A cell is a regression if its adjusted p-value is at
// most alpha. Either all cells have pairs in the same order, or none has. Cells with Trials are tested by
// their counts, and cells with a Limit by their new samples, in any order.
func Test(cells []Cell, family int) []PValues {
	var proportions, others []Cell
	for _, c := range cells {
		if c.alone() {
			proportions = append(proportions, c)
		} else {
			others = append(others, c)
		}
	}
	if len(proportions) == 0 {
		return testOthers(cells, family)
	}
	part := 1.
	if family -= len(proportions); family > 0 {
		part = proportionShare
	}
	tested, rest := testProportions(proportions, part), testOthers(others, family)
	all := make([]PValues, 0, len(cells))
	for _, c := range cells {
		if c.alone() {
			all, tested = append(all, tested[0]), tested[1:]
			continue
		}
		rest[0].Adjusted = min(1, rest[0].Adjusted/(1-proportionShare))
		all, rest = append(all, rest[0]), rest[1:]
	}
	return all
}

// alone reports whether the cell is tested without regard to pairs: a proportion, or a cell with a limit.
func (c Cell) alone() bool { return c.Trials != nil || c.Limit != nil }

// proportionShare is the part of alpha for proportions and limits if the family has other cells, too. The sum of both
// parts limits the probability of a false alarm (Bonferroni). The part for the other cells is large enough
// that six rounds suffice for them.
const proportionShare = 0.2

// testProportions tests cells that have Trials or a Limit, at the given part of alpha. The p-values are adjusted by
// Holm's method.
func testProportions(cells []Cell, part float64) []PValues {
	all, ps := make([]PValues, len(cells)), make([]float64, len(cells))
	for i, c := range cells {
		if c.Limit != nil {
			all[i].Worse, all[i].Less = c.overLimit()
		} else {
			p := c.proportion()
			all[i].Worse, all[i].Less = p.test(c.Margin, false), p.test(c.Margin, true)
		}
		ps[i] = all[i].Worse
	}
	for i, adjusted := range holm(ps, len(ps)) {
		all[i].Adjusted = min(1, adjusted/part)
	}
	return all
}

// testOthers is like Test, for cells that are not proportions.
func testOthers(cells []Cell, family int) []PValues {
	if len(cells) > 0 && cells[0].NewFirst != nil {
		return testPairs(cells)
	}
	all := make([]PValues, len(cells))
	ps := make([]float64, len(cells))
	for i, c := range cells {
		if c.Marks {
			all[i].Worse, all[i].Less = c.fisher()
		} else {
			all[i].Worse, all[i].Less = c.trimmedTest()
		}
		ps[i] = all[i].Worse
	}
	for i, adjusted := range holm(ps, family) {
		all[i].Adjusted = adjusted
	}
	return all
}

// testPairs tests cells of pairs. If new is worse by exactly the margin, only the random order of a round
// decides which sample is old and which is new, and all cells share this order. The statistics are
// therefore compared with the statistics after exchanges of whole rounds. The adjusted p-value of a cell is
// the share of exchanges after which the largest statistic of any cell is at least the cell's statistic;
// cells whose own statistic is larger are not considered. If a cell has no pair in a round, exchanging that
// round does not change the cell. This is the step-down maxT procedure (Westfall and Young,
// "Resampling-Based Multiple Testing", 1993; Romano and Wolf, "Exact and Approximate Stepdown Methods for
// Multiple Hypothesis Testing", 2005, https://doi.org/10.1198/016214504000000539).
func testPairs(cells []Cell) []PValues {
	all, tests, order := make([]PValues, len(cells)), make([]pairedTest, len(cells)), make([]int, len(cells))
	for i, c := range cells {
		tests[i], order[i] = newPairedTest(c.differences()), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tests[a].statistic, tests[b].statistic) })
	f := flips(len(cells[0].NewFirst))
	flipped, largest := make([]float64, f.ways), make([]float64, f.ways)
	for way := range largest {
		largest[way] = math.Inf(-1)
	}
	for _, i := range order {
		s := tests[i].statistic
		if math.IsInf(s, -1) { // new is worse by exactly the margin in every round
			all[i] = PValues{Worse: 1, Less: 1 / float64(flips(len(cells[i].Old)).ways), Adjusted: 1}
			continue
		}
		f.sums(cells[i].place(tests[i].differences), flipped)
		for way, v := range flipped {
			largest[way] = max(largest[way], v)
		}
		all[i] = PValues{Worse: 1 - shareBelow(flipped, s-rounding), Less: shareBelow(flipped, s+rounding), Adjusted: 1 - shareBelow(largest, s-rounding)}
	}
	p := 0.0
	for _, i := range slices.Backward(order) {
		p = max(p, all[i].Adjusted)
		all[i].Adjusted = p
	}
	return all
}

// rounding is the difference up to which two statistics count as equal.
const rounding = 1e-9

// shareBelow returns the share of xs that is less than limit.
func shareBelow(xs []float64, limit float64) float64 {
	var n uint64
	for _, x := range xs {
		n += math.Float64bits(x-limit) >> 63 // the sign bit, without a branch
	}
	return float64(n) / float64(len(xs))
}

// leastWorse returns a lower bound of PValues.Worse after n rounds. settled holds the differences of the
// first rounds; the differences of the other rounds are not known yet. The bound counts exchanges that
// leave the unknown rounds alone and make the statistic at least as large by the settled differences alone.
// The limit of the differences is not known either, so the statistic must be that large for every limit.
// Between limits that equal a difference, the sum of the clipped differences is linear, so only these
// limits are tried.
func leastWorse(settled []float64, n int) float64 {
	f := flips(n)
	kept := f.keep(len(settled))
	small := make([]bool, kept.ways)
	all, flipped := make([]float64, n), make([]float64, kept.ways)
	for _, limit := range settled {
		if limit = math.Abs(limit); limit == 0 {
			continue
		}
		for i, d := range settled {
			all[i] = clipped(d, limit) / limit
		}
		kept.sums(all, flipped)
		for way, v := range flipped {
			small[way] = small[way] || v < flipped[0]-rounding
		}
	}
	large := 0
	for _, s := range small {
		if !s {
			large++
		}
	}
	return float64(large) / float64(f.ways)
}

// AtMost reports whether p <= alpha, apart from floating-point rounding.
func AtMost(p, alpha float64) bool { return p <= alpha*(1+1e-9) }

// Enough reports whether n samples per side suffice to reject a cell of pairs at alpha. The smallest
// possible p-value is 1/2^n, however many cells there are. Samples that are not pairs have to meet the same
// condition. At least four samples are required, because fewer hardly show how much samples spread.
func Enough(n int, alpha float64) bool {
	return n >= 4 && AtMost(max(math.Pow(2, -float64(n)), 1./maxFlips), alpha)
}

// MinSamples returns the smallest number of samples per side with which a cell that alone is worse than its margin can be
// found, in a family of cells of pairs: 6 for alpha 0.025 and a family of 1, and 7 for more cells. The other cells of a
// family may be better than their margins in every round. An exchange of all rounds then makes them look as bad as the
// one cell, so that the smallest adjusted p-value is 2/2^n.
func MinSamples(alpha float64, family int) int {
	n := 1
	for !EnoughFor(n, n, family, alpha) {
		n++
	}
	return n
}

// EnoughFor reports whether a cell with n pairs can be found, if it alone of a family of cells is worse than its
// margin. The other cells have pairs in the given number of rounds. From maxFree rounds on, one exchange more or less
// does not matter.
func EnoughFor(n, rounds, family int, alpha float64) bool {
	if family > 1 && rounds < maxFree {
		alpha -= math.Pow(2, -float64(rounds))
	}
	return Enough(n, alpha)
}
