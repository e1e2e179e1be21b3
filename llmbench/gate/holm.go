package gate

import (
	"cmp"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

// holm adjusts the p-values of some of a family of tests: with p(1) <= p(2) <= …
// and m tests, the i-th becomes the largest of (m-j+1) p(j) for j <= i. Rejecting
// those at most alpha makes the probability of any false rejection alpha at most
// (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979,
// https://www.jstor.org/stable/4615733). The tests of the family that are not
// given count as not rejected.
func holm(ps []float64, family int) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	least := 0.0
	for i, at := range order {
		least = max(least, min(1, float64(family-i)*ps[at]))
		adjusted[at] = least
	}
	return adjusted
}

// atMost is p <= alpha, within what floating point is off by.
func atMost(p, alpha float64) bool { return p <= alpha*(1+1e-9) }

// enough reports whether n1 and n2 samples can reject one cell of a family: the
// smallest p of the U test, when all of one side are below all of the other, is
// 1 / C(n1+n2, n1), and Holm compares the smallest p with alpha / family.
func enough(n1, n2, family int, alpha float64) bool {
	return n1 > 0 && n2 > 0 && atMost(float64(family)/mathx.Choose(n1+n2, n1), alpha)
}

// minSamples is the fewest samples a side that are enough. For alpha 0.025 it is
// 6 up to 23 cells, 7 up to 85 and 8 up to 321.
func minSamples(family int, alpha float64) int {
	n := 1
	for !enough(n, n, family, alpha) {
		n++
	}
	return n
}
