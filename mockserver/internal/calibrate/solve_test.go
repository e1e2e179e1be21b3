package calibrate

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

// line returns the errors of a line with the parameters x at measurements of y = 3 + 2 x, one of which is
// wrong.
func line(x []float64) []float64 {
	var errs []float64
	for i := range 12 {
		measured := 3 + 2*float64(i)
		if i == 5 {
			measured *= 40
		}
		errs = append(errs, math.Log((math.Exp(x[0])+math.Exp(x[1])*float64(i))/measured)/.01)
	}
	return errs
}

// TestSolve checks that a fit finds the parameters despite an outlier and a distant start.
func TestSolve(t *testing.T) {
	p := problem{errors: line, prior: []float64{math.Log(30), math.Log(.2)}}
	best := p.solve(p.prior)
	assert.Assert(t, math.Abs(math.Exp(best.x[0])-3) < .01, "%v", best)
	assert.Assert(t, math.Abs(math.Exp(best.x[1])-2) < .01, "%v", best)
}

// TestSolveKeepsThePrior checks that an unknown that influences no error keeps its prior.
func TestSolveKeepsThePrior(t *testing.T) {
	p := problem{errors: func(x []float64) []float64 { return line(x[:2]) }, prior: []float64{1, 1, .7}}
	assert.Equal(t, p.solve(p.prior).x[2], .7)
}

// TestSolveImpossible checks that a fit avoids impossible trials, and that it fails if the start is impossible.
func TestSolveImpossible(t *testing.T) {
	p := problem{errors: func(x []float64) []float64 {
		if x[0] > 1.5 {
			return nil
		}
		return line(x)
	}, prior: []float64{1.45, 1}}
	best := p.solve(p.prior)
	assert.Assert(t, math.Abs(math.Exp(best.x[0])-3) < .01, "%v", best)
	assert.Assert(t, math.IsInf(p.solve([]float64{2, 1}).loss, 1))
}
