package calibrate

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"gonum.org/v1/gonum/optimize"
)

// most is how often a fit runs the model over its points, at most, for each field
// that varies and in each of its rounds.
const most = 70

// fit finds the engine that predicts the training points best, by Nelder and
// Mead's simplex on the logarithms of the fields that vary, three times after one
// another, from the profile's start: not from its engine, which has seen all
// points.
func (m *model) fit(train []int) (engine.Profile, error) {
	e := m.p.Engine
	for _, f := range m.vary {
		f.set(&e, cmp.Or(m.p.Fit.Start[f.name], f.least))
	}
	e, _, err := m.minimize(e, m.vary, train, .5, .2, .1)
	return e, err
}

// minimize varies fields of an engine, from where it stands, by simplexes of so
// many sizes after one another, and returns the best and its loss.
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
			return impossible // it does not serve the load: too small a KV cache, as a rule
		}
		return l
	}}
	for _, size := range sizes {
		res, err := optimize.Minimize(problem, start, &optimize.Settings{
			FuncEvaluations: most * len(vary), Converger: &optimize.FunctionConverge{Absolute: 1e-5, Iterations: 60},
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

// impossible is the loss of an engine that cannot serve the load, more than that of
// any that can.
const impossible = 1e3

// unidentified returns the names of the fields that all points together do not
// determine: halved or doubled, with the others fitted anew, the loss is hardly
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

// visible is by how much a loss must be greater to tell two engines apart.
const visible = 1.1

// output is the curve of output lengths of the first workload, as its point with
// the least load has them.
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

// total is the mean loss over points, each predicted with fitSeeds orders.
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
