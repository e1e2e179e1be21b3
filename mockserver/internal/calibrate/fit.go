package calibrate

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// scale is the relative error from which on errors have less weight than in a least-squares fit.
const scale = .05

// fit returns the engine that predicts the training points best. It tries each value of Fit.Choose, if that is
// set. It ignores the values that an earlier fit stored in the profile's engine.
func (m *model) fit(train []int) (engine.Profile, error) {
	if m.choose == nil {
		e, _, err := m.fitFields(m.p.Engine, m.vary, train)
		return e, err
	}
	var best engine.Profile
	least := math.Inf(1)
	for _, v := range m.p.Fit.Choose.Values {
		e := m.p.Engine
		m.choose.set(&e, v)
		e, loss, err := m.fitFields(e, m.vary, train)
		if err != nil {
			return best, err
		}
		if loss < least {
			best, least = e, loss
		}
	}
	return best, nil
}

// fitFields fits fields of an engine to the training points. It returns the best engine and its loss, which
// includes the fields' distances from their priors.
//
// It first fits the fields to the half of the points with the lighter load. At the other points, whole batches
// may end just before or just after a timeout, so a fit that starts there far from the solution does not find
// the solution.
func (m *model) fitFields(e engine.Profile, vary []field, train []int) (engine.Profile, float64, error) {
	at := func(x []float64) engine.Profile {
		q := e
		for k, f := range vary {
			f.set(&q, math.Exp(x[k]))
		}
		for _, s := range m.same {
			s.field.set(&q, s.other.get(&q))
		}
		return q
	}
	var p problem
	for _, f := range vary {
		p.prior = append(p.prior, math.Log(m.expected(f, train)))
	}
	best := trial{x: p.prior}
	for _, points := range [][]int{m.light(train), train} {
		var failed error
		p.errors = func(x []float64) (errs []float64) {
			errs, failed = m.errors(at(x), points, train)
			return errs // nil if the engine cannot serve the load, usually because its KV cache is too small
		}
		if best = p.solve(best.x); best.errors == nil {
			return e, 0, failed
		}
	}
	return at(best.x), best.loss, nil
}

// light returns, for each workload, the half of its training points with the lowest concurrency.
func (m *model) light(train []int) []int {
	var light []int
	for name := range m.workloads {
		var same []int
		for _, i := range train {
			if m.p.Points[i].Workload == name {
				same = append(same, i)
			}
		}
		slices.SortStableFunc(same, func(a, b int) int { return m.p.Points[a].Concurrency - m.p.Points[b].Concurrency })
		light = append(light, same[:(len(same)+1)/2]...)
	}
	slices.Sort(light)
	return light
}

// expected returns the expected value of a field, which is also where the fit starts.
func (m *model) expected(f field, train []int) float64 {
	if v, ok := m.p.Fit.Start[f.name]; ok {
		return v
	}
	if f.real == nil {
		return f.prior
	}
	return f.prior * m.tokenTime(train)
}

// unidentified returns the names of the fields that the points do not determine. To test a field, it halves and
// doubles the field's value and fits the other fields again. The points do not determine the field if that
// increases their loss by less than 1, which is the weight of the field's prior, or by less than a tenth.
func (m *model) unidentified(e engine.Profile) ([]string, error) {
	all := without(len(m.p.Points), nil)
	errs, err := m.errors(e, all, all)
	if err != nil {
		return nil, err
	}
	best := lossOf(errs)
	var names []string
	for k, f := range m.vary {
		others := slices.Delete(slices.Clone(m.vary), k, k+1)
		least := math.Inf(1)
		for _, factor := range []float64{.5, 2} {
			moved := e
			f.set(&moved, f.get(&e)*factor)
			if moved, _, err = m.fitFields(moved, others, all); err != nil {
				continue // no engine with this value can serve the load
			}
			if errs, err = m.errors(moved, all, all); err != nil {
				return nil, err
			}
			least = min(least, lossOf(errs))
		}
		if least < best+max(1, best/10) {
			names = append(names, f.name)
		}
	}
	return names, nil
}

// output returns the distribution of output lengths of the first workload, taken from the workload's point with
// the lowest concurrency.
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

// errors returns the relative errors of the predictions of the given points in each unit, divided by scale.
// train has the training points.
func (m *model) errors(e engine.Profile, points, train []int) ([]float64, error) {
	lists, errs := make([][]float64, len(points)), make([]error, len(points))
	var wg sync.WaitGroup
	for k, i := range points {
		wg.Go(func() {
			pt := m.p.Points[i]
			got, err := m.average(e, i, train, 1, min(max(500/pt.Requests, 1), seeds))
			if err != nil {
				errs[k] = err
				return
			}
			for _, u := range units(m.workloads[pt.Workload]) {
				measured, ok := pt.Values[u]
				if !ok {
					continue
				}
				off := math.Log(got[u] / measured)
				if math.IsInf(off, 0) || math.IsNaN(off) {
					off = 3 // the prediction is missing or 0
				}
				lists[k] = append(lists[k], off/scale)
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return slices.Concat(lists...), nil
}

// average returns the mean of n predictions of point i. Each uses another random order of the output lengths;
// the seeds are first, first+1 and so on.
func (m *model) average(e engine.Profile, i int, train []int, first uint64, n int) (map[string]float64, error) {
	sum := map[string]float64{}
	for k := range n {
		v, err := m.predict(e, i, train, first+uint64(k))
		if err != nil {
			return nil, err
		}
		for u, x := range v {
			sum[u] += x / float64(n)
		}
	}
	return sum, nil
}

// without returns the numbers from 0 to n-1 that are not in held.
func without(n int, held []int) []int {
	var train []int
	for i := range n {
		if !slices.Contains(held, i) {
			train = append(train, i)
		}
	}
	return train
}
