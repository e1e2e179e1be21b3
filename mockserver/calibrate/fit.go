package calibrate

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"gonum.org/v1/gonum/optimize"
)

// evaluations is how often, at most, a round of a fit runs the model over its points,
// for each field that varies.
const evaluations = 70

// fit returns the engine that predicts the training points best. It begins with the
// start values of the profile and not with the profile's engine, which was fitted to
// all points.
func (m *model) fit(train []int) (engine.Profile, error) {
	e := m.p.Engine
	for _, f := range m.vary {
		f.set(&e, cmp.Or(m.p.Fit.Start[f.name], f.initial))
	}
	e, _, err := m.minimize(e, m.vary, train, .5, .2, .1)
	return e, err
}

// minimize varies fields of an engine, in a round for each size of the initial
// simplex, and returns the best engine and its loss.
func (m *model) minimize(e engine.Profile, vary []field, train []int, sizes ...float64) (engine.Profile, float64, error) {
	at := func(x []float64) engine.Profile {
		for k, f := range vary {
			f.set(&e, math.Exp(x[k]))
		}
		return e
	}
	start := make([]float64, len(vary))
	for k, f := range vary {
		start[k] = math.Log(f.get(&e))
	}
	value, err := m.total(e, train)
	if err != nil {
		return e, 0, err
	}
	problem := optimize.Problem{Func: func(x []float64) float64 {
		l, err := m.total(at(x), train)
		if err != nil {
			return impossible // the engine cannot serve the load, usually because its KV cache is too small
		}
		return l
	}}
	for _, size := range sizes {
		res, err := optimize.Minimize(problem, start, &optimize.Settings{
			FuncEvaluations: evaluations * len(vary), Converger: &optimize.FunctionConverge{Absolute: 1e-5, Iterations: 60},
		}, &optimize.NelderMead{SimplexSize: size})
		if err != nil {
			return e, 0, err
		}
		if res.F < value {
			value, start = res.F, res.X
		}
	}
	return at(start), value, nil
}

// impossible is the loss of an engine that cannot serve the load. It is greater than
// the loss of any engine that can.
const impossible = 1e3

// unidentified returns the names of the fields that the points do not determine: if
// the field is halved or doubled, and the others are fitted again, the loss is hardly
// greater.
func (m *model) unidentified(e engine.Profile) ([]string, error) {
	all := without(len(m.p.Points), nil)
	best, err := m.total(e, all)
	if err != nil {
		return nil, err
	}
	var names []string
	for k, f := range m.vary {
		others := slices.Delete(slices.Clone(m.vary), k, k+1)
		least := math.Inf(1)
		for _, factor := range []float64{.5, 2} {
			moved := e
			f.set(&moved, f.get(&e)*factor)
			value, err := m.total(moved, all)
			if err != nil {
				return nil, err
			}
			if len(others) > 0 && value > visible*best {
				if _, value, err = m.minimize(moved, others, all, .1); err != nil {
					return nil, err
				}
			}
			least = min(least, value)
		}
		if least <= visible*best {
			names = append(names, f.name)
		}
	}
	return names, nil
}

// visible is the ratio of two losses from which on the engines differ.
const visible = 1.1

// output returns the distribution of output lengths of the first workload, from its
// point with the lowest concurrency.
func (m *model) output(e engine.Profile) engine.Lengths {
	if len(m.p.Fit.Workloads) == 0 {
		return nil
	}
	w := m.p.Fit.Workloads[0]
	light := m.lightest(without(len(m.p.Points), nil), w.Name)
	if light == nil {
		return nil
	}
	return m.shape(e, w, *light).curve(light.Output)
}

// total returns the mean loss over points, each predicted with fitSeeds seeds.
func (m *model) total(e engine.Profile, points []int) (float64, error) {
	sums, counts, errs := make([]float64, len(points)), make([]int, len(points)), make([]error, len(points))
	var wg sync.WaitGroup
	for k, i := range points {
		wg.Go(func() {
			for seed := range uint64(fitSeeds) {
				got, err := m.predict(e, i, points, 1+seed)
				if err != nil {
					errs[k] = err
					return
				}
				s, c := loss(units(m.workloads[m.p.Points[i].Workload]), got, m.p.Points[i].Values)
				sums[k] += s
				counts[k] += c
			}
		})
	}
	wg.Wait()
	sum, n := 0.0, 0
	for k := range points {
		if errs[k] != nil {
			return 0, errs[k]
		}
		sum += sums[k]
		n += counts[k]
	}
	return sum / float64(n), nil
}
