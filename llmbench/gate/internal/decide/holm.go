package decide

import (
	"cmp"
	"slices"
)

// holm adjusts p-values by Holm's method ("A Simple Sequentially Rejective Multiple Test Procedure", 1979,
// https://www.jstor.org/stable/4615733). With p(1) <= p(2) <= … and a family of m tests, the i-th adjusted
// p-value is the maximum of (m-j+1) p(j) over all j <= i. If tests with an adjusted p-value of at most
// alpha are rejected, the probability of any false rejection is at most alpha. ps may contain only some
// tests of the family; the others count as not rejected.
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
