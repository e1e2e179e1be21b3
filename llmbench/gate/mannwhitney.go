package gate

import (
	"strconv"

	"github.com/aclements/go-moremath/stats"
)

// pLess is the one-sided Mann-Whitney U test: the probability, if xs and ys are
// of one distribution, that xs are among the lower of them as far as they are
// (Mann and Whitney, "On a Test of Whether one of Two Random Variables is
// Stochastically Larger than the Other", 1947,
// https://doi.org/10.1214/aoms/1177730491).
//
// It is exact up to 50 samples a side, with ties up to 25, and a normal
// approximation above (stats.MannWhitneyExactLimit, MannWhitneyTiesExactLimit).
// It asks for LocationLess alone: with ties, where U moves in steps of 1/2,
// LocationGreater of that package counts one step too many.
func pLess(xs, ys []float64) float64 {
	u, err := stats.MannWhitneyUTest(xs, ys, stats.LocationLess)
	if err != nil {
		return 1 // all values are equal
	}
	return u.P
}

// scaled is xs times f, to the 14 significant digits that files have at most. So
// a value that is worse by exactly the margin equals the shifted baseline: in
// floating point, 1.15 times 100 is less than 115.
func scaled(xs []float64, f float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x*f, 'g', 14, 64), 64)
	}
	return out
}
