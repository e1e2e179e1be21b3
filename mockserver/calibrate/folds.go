package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

// split returns the points that each of k folds holds out: those that the profile
// says, or the points of each workload in turn.
func (m *model) split(k int) [][]int {
	if m.p.Fit.HoldOut != nil {
		return m.p.Fit.HoldOut
	}
	folds := make([][]int, k)
	seen := map[string]int{}
	for i, p := range m.p.Points {
		f := seen[p.Workload] % k
		folds[f] = append(folds[f], i)
		seen[p.Workload]++
	}
	return folds
}

// without returns the indices below n that are not held out.
func without(n int, held []int) []int {
	var train []int
	for i := range n {
		if !slices.Contains(held, i) {
			train = append(train, i)
		}
	}
	return train
}

// A Prediction is a held-out point and the prediction of an engine that was fitted
// without the point.
type Prediction struct {
	Point     profiles.Point
	Units     []string           // the units in which the point is judged
	Predicted map[string]float64 // by unit, the mean over several seeds
}

// average returns the mean of the predictions of a point with all seeds.
func (m *model) average(e engine.Profile, i int, train []int) (map[string]float64, error) {
	sum := map[string]float64{}
	for seed := range uint64(seeds) {
		v, err := m.predict(e, i, train, seed+100)
		if err != nil {
			return nil, err
		}
		for u, x := range v {
			sum[u] += x / seeds
		}
	}
	return sum, nil
}

// Predict predicts the points that each fold of the profile holds out, with the
// engine that was fitted without them. The error names the profile and the field that
// cannot be used.
func Predict(p profiles.Profile) ([]Prediction, error) {
	m, err := newModel(p)
	if err != nil {
		return nil, err
	}
	all := make([]Prediction, len(p.Points))
	for _, f := range p.Folds {
		e := p.Engine
		for name, v := range f.Engine {
			field, err := fieldNamed(name)
			if err != nil {
				return nil, fmt.Errorf("profile %s: folds: %w", p.Name, err)
			}
			field.set(&e, v)
		}
		train := without(len(p.Points), f.HeldOut)
		for _, i := range f.HeldOut {
			v, err := m.average(e, i, train)
			if err != nil {
				return nil, err
			}
			pt := p.Points[i]
			q := Prediction{Point: pt, Predicted: v}
			for _, u := range units(m.workloads[pt.Workload]) {
				if _, ok := pt.Values[u]; ok {
					q.Units = append(q.Units, u)
				}
			}
			all[i] = q
		}
	}
	return slices.DeleteFunc(all, func(q Prediction) bool { return q.Predicted == nil }), nil
}

// Off returns the relative error of a prediction in percent: positive if the
// prediction is too high.
func (q Prediction) Off(unit string) float64 {
	return 100 * (q.Predicted[unit]/q.Point.Values[unit] - 1)
}

// Fit fits the profile's engine to all its points and, for each of k folds, to the
// points that the fold does not hold out. It returns the profile with the engine, the
// folds and the held-out errors. k must be 2 or more for the fit to hold out points.
// A fit takes seconds to minutes.
func Fit(p profiles.Profile, k int) (profiles.Profile, error) {
	m, err := newModel(p)
	if err != nil {
		return p, err
	}
	if len(p.Points) == 0 {
		return p, fmt.Errorf("profile %s: points: none, want one or more", p.Name)
	}
	p.Folds = nil
	for _, held := range m.split(k) {
		train := without(len(p.Points), held)
		if len(held) == 0 || len(train) == 0 {
			continue
		}
		e, err := m.fit(train)
		if err != nil {
			return p, err
		}
		p.Folds = append(p.Folds, profiles.Fold{HeldOut: held, Engine: m.values(e)})
	}
	if p.Engine, err = m.fit(without(len(p.Points), nil)); err != nil {
		return p, err
	}
	for name, v := range m.values(p.Engine) {
		f, _ := fieldNamed(name)
		f.set(&p.Engine, v)
	}
	if p.Fit.Unidentified, err = m.unidentified(p.Engine); err != nil {
		return p, err
	}
	p.Engine.Output = m.output(p.Engine)
	predictions, err := Predict(p)
	if err != nil {
		return p, err
	}
	p.HeldOut = Errors(predictions)
	return p, nil
}

// values returns the fields that vary, rounded to five digits.
func (m *model) values(e engine.Profile) map[string]float64 {
	v := map[string]float64{}
	for _, f := range m.vary {
		x := f.get(&e)
		digits := math.Pow(10, 4-math.Floor(math.Log10(math.Max(x, 1e-9))))
		v[f.name] = math.Round(x*digits) / digits
	}
	return v
}

// Errors summarizes predictions by unit.
func Errors(all []Prediction) []profiles.Error {
	var order []string
	off := map[string][]float64{}
	for _, q := range all {
		for _, u := range q.Units {
			if off[u] == nil {
				order = append(order, u)
			}
			off[u] = append(off[u], math.Abs(q.Off(u)))
		}
	}
	var errs []profiles.Error
	for _, u := range order {
		slices.Sort(off[u])
		n := len(off[u])
		errs = append(errs, profiles.Error{
			Unit: u, Points: n, Median: math.Round(10*quantile(off[u], .5)) / 10, Most: math.Round(10*off[u][n-1]) / 10,
		})
	}
	return errs
}
