package decide

import "github.com/seed-2b9cec6d/llmbench/llmbench/internal/student"

// An Estimate says by how much new is worse than old shifted by the margin.
type Estimate struct {
	// Difference is positive if new is worse. It is a share of the mean of new and old, or of [Cell.size] for amounts.
	Difference float64
	err        float64 // standard error; NaN if there are too few samples
	free       float64 // degrees of freedom of err
}

// halfWidth returns half the width of the 95 % confidence interval of the estimate.
func (e Estimate) halfWidth() float64 {
	if e.err == 0 {
		return 0
	}
	return e.err * student.Quantile(0.025, e.free)
}
