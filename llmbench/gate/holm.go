package gate

import (
	"cmp"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

// holm adjusts p-values by Holm's method ("A Simple Sequentially Rejective Multiple
// Test Procedure", 1979, https://www.jstor.org/stable/4615733). With p(1) <= p(2) <=
// … and a family of m tests, the adjusted i-th p-value is the largest of
// (m-j+1) p(j) for j <= i. If every adjusted p-value of at most alpha is rejected, the
// probability of any false rejection is at most alpha. ps may be a subset of the
// family; the other tests count as not rejected.
func holm(ps []float64, family int) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	least := 0.0
	for i, index := range order {
		least = max(least, min(1, float64(family-i)*ps[index]))
		adjusted[index] = least
	}
	return adjusted
}

// atMost reports whether p <= alpha, apart from floating-point rounding.
func atMost(p, alpha float64) bool { return p <= alpha*(1+1e-9) }

// enough reports whether n1 and n2 samples suffice to reject one cell of a family.
// The smallest p-value of the U test is 1 / C(n1+n2, n1), if all values of one side
// are below all values of the other. Holm's method compares the smallest p-value with
// alpha / family.
func enough(n1, n2, family int, alpha float64) bool {
	return n1 > 0 && n2 > 0 && atMost(float64(family)/mathx.Choose(n1+n2, n1), alpha)
}

// minSamples returns the smallest number of samples a side that is enough. For alpha
// 0.025 that is 6 for up to 23 cells, 7 for up to 85 and 8 for up to 321.
func minSamples(family int, alpha float64) int {
	n := 1
	for !enough(n, n, family, alpha) {
		n++
	}
	return n
}
