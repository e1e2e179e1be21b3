package calibrate

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A problem is a search for the logarithms of a server's times that explain the measurements.
type problem struct {
	// errors returns the errors of a trial, each divided by its scale. It returns nil if the trial is
	// impossible.
	errors func(x []float64) []float64
	// prior has the expected value of each element of x.
	prior []float64
}

// tolerance is the distance of an unknown from its prior that increases the loss by 1: a factor of 10.
const tolerance = math.Ln10

// loss returns the sum of Cauchy's loss of the errors, which limits the weight of outliers
// (https://en.wikipedia.org/wiki/Robust_regression), and of the squared distances from the prior.
func (p *problem) loss(x, errors []float64) float64 {
	if errors == nil {
		return math.Inf(1)
	}
	sum := lossOf(errors)
	for k := range x {
		d := (x[k] - p.prior[k]) / tolerance
		sum += d * d
	}
	return sum
}

func lossOf(errors []float64) float64 {
	sum := 0.0
	for _, e := range errors {
		sum += math.Log1p(e * e)
	}
	return sum
}

// A trial is one point that the search has tried.
type trial struct {
	x, errors []float64
	loss      float64
}

func (p *problem) try(x []float64) trial {
	e := p.errors(x)
	return trial{x, e, p.loss(x, e)}
}

// widths are the step sizes for the numerical derivatives, one per round. The errors jump where a request
// finishes just before or just after its timeout. Wide steps average over such jumps.
var widths = []float64{.1, .05, .05, .03}

// solve returns the best trial that it finds from start. It uses the method of Levenberg and Marquardt
// (https://doi.org/10.1137/0111030) with weights for the robust loss. Each round begins with a new derivative,
// which is then updated by Broyden's formula (https://doi.org/10.1090/S0025-5718-1965-0198670-6). If start is
// impossible, the loss of the result is infinite.
func (p *problem) solve(start []float64) trial {
	best := p.try(start)
	if best.errors == nil {
		return best
	}
	for _, width := range widths {
		before := best.loss
		best = p.descend(best, p.derivative(best, width))
		if before-best.loss < .005*best.loss {
			break
		}
	}
	return best
}

// derivative returns the derivative of each error with respect to each unknown.
func (p *problem) derivative(at trial, width float64) *mat.Dense {
	j := mat.NewDense(len(at.errors), len(at.x), nil)
	for k := range at.x {
		for _, d := range []float64{width, -width} {
			x := append([]float64(nil), at.x...)
			x[k] += d
			if e := p.errors(x); e != nil {
				for i := range e {
					j.Set(i, k, (e[i]-at.errors[i])/d)
				}
				break
			}
		}
	}
	return j
}

// descend takes steps until the loss no longer decreases.
func (p *problem) descend(best trial, j *mat.Dense) trial {
	damping := .1
	for failures := 0; failures < 3; {
		step := p.step(best, j, damping)
		length := mat.Norm(step, 2)
		if length < .001 {
			break
		}
		x := append([]float64(nil), best.x...)
		for k := range x {
			x[k] += step.AtVec(k)
		}
		next := p.try(x)
		if next.errors != nil {
			missed := mat.NewVecDense(len(next.errors), nil)
			missed.MulVec(j, step)
			for i := range next.errors {
				missed.SetVec(i, next.errors[i]-best.errors[i]-missed.AtVec(i))
			}
			j.RankOne(j, 1/(length*length), missed, step)
		}
		gain := best.loss - next.loss
		if gain <= 0 {
			damping *= 6
			failures++
			continue
		}
		best, damping = next, math.Max(damping/4, .001)
		if gain < .002*best.loss {
			break
		}
	}
	return best
}

// step returns the next step. It changes each unknown by a factor of at most 2.
func (p *problem) step(at trial, j *mat.Dense, damping float64) *mat.VecDense {
	n := len(at.x)
	curvature, slope := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for a := range n {
		curvature.SetSym(a, a, 1/(tolerance*tolerance))
		slope.SetVec(a, (p.prior[a]-at.x[a])/(tolerance*tolerance))
	}
	for i, e := range at.errors {
		weight := 1 / (1 + e*e)
		for a := range n {
			slope.SetVec(a, slope.AtVec(a)-weight*e*j.At(i, a))
			for b := a; b < n; b++ {
				curvature.SetSym(a, b, curvature.At(a, b)+weight*j.At(i, a)*j.At(i, b))
			}
		}
	}
	for a := range n {
		curvature.SetSym(a, a, curvature.At(a, a)*(1+damping))
	}
	step := mat.NewVecDense(n, nil)
	var factors mat.Cholesky
	if !factors.Factorize(curvature) {
		return step // the derivatives are so large that rounding removes the prior
	}
	if err := factors.SolveVecTo(step, slope); err != nil {
		return mat.NewVecDense(n, nil)
	}
	for a := range n {
		step.SetVec(a, math.Max(-math.Ln2, math.Min(math.Ln2, step.AtVec(a))))
	}
	return step
}
