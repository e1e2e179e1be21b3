package decide

import (
	"math"
	"strconv"
)

// meanAndError returns the mean of xs and its standard error. The error is NaN for fewer than two values.
func meanAndError(xs []float64) (mean, err float64) {
	equal := true
	for _, x := range xs {
		mean += x
		equal = equal && x == xs[0]
	}
	n := float64(len(xs))
	mean /= n
	if equal && n > 1 {
		return xs[0], 0 // without rounding errors
	}
	var squares float64
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}

// scaled returns xs multiplied by f; see [mapped].
func scaled(xs []float64, f float64) []float64 {
	return mapped(xs, func(x float64) float64 { return x * f })
}

// mapped returns f of each of xs, rounded to 14 significant digits, the most that files have. Without
// rounding, a value that is worse by exactly the margin could differ from the shifted baseline: in floating
// point, 1.15 times 100 is less than 115.
func mapped(xs []float64, f func(x float64) float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(f(x), 'g', 14, 64), 64)
	}
	return out
}
