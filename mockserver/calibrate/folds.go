package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

// split returns the points that each fold holds out: those that the profile says, or
// each point alone that is not the only one of its workload.
func (m *model) split() [][]int {
	if m.p.Fit.HoldOut != nil {
		return m.p.Fit.HoldOut
	}
	points := map[string]int{}
	for _, p := range m.p.Points {
		points[p.Workload]++
	}
	var folds [][]int
	for i, p := range m.p.Points {
		if points[p.Workload] > 1 {
			folds = append(folds, []int{i})
		}
	}
	return folds
}

// A Prediction is a held-out point and the prediction of an engine that was fitted
// without the point.
type Prediction struct {
	Point     profiles.Point
	Units     []string           // the units in which the point is judged
	Predicted map[string]float64 // by unit, the mean over several seeds
	// Gain is the largest ratio, over the units, of the relative change of the
	// prediction to a small relative change of the server's speed. It is about 1 where
	// the client waits for the server. Where workers die, a slightly slower server loses
	// many more of them, and the gain is large.
	Gain float64
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
				return nil, fmt.Errorf("profile %s: folds: engine: %w", p.Name, err)
			}
			field.set(&e, v)
		}
		train := without(len(p.Points), f.HeldOut)
		for _, i := range f.HeldOut {
			v, err := m.average(e, i, train, 101, seeds)
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
			if q.Gain, err = m.gain(e, i, train, q.Units); err != nil {
				return nil, err
			}
			all[i] = q
		}
	}
	return slices.DeleteFunc(all, func(q Prediction) bool { return q.Predicted == nil }), nil
}

// gain returns the gain of a prediction, from the predictions for servers that are a
// little slower and faster.
func (m *model) gain(e engine.Profile, i int, train []int, units []string) (float64, error) {
	const change = .02
	var v [2]map[string]float64
	for k, factor := range []float64{1 - change, 1 + change} {
		moved := e
		for _, f := range fields {
			if f.real != nil {
				f.set(&moved, f.get(&e)*factor)
			}
		}
		var err error
		if v[k], err = m.average(moved, i, train, 101, seeds); err != nil {
			return 0, err
		}
	}
	most := 0.0
	for _, u := range units {
		most = max(most, math.Abs(math.Log(v[1][u]/v[0][u]))/(2*change))
	}
	return most, nil
}

// Off returns the relative error of a prediction in percent: positive if the
// prediction is too high.
func (q Prediction) Off(unit string) float64 {
	return 100 * (q.Predicted[unit]/q.Point.Values[unit] - 1)
}

// Fit fits the profile's engine to all its points and, for each fold, to the points that
// the fold does not hold out. It returns the profile with the engine, the folds and the
// held-out errors. The folds are those of Fit.HoldOut or, if it is nil, each point alone
// that is not the only one of its workload. A fit takes seconds.
func Fit(p profiles.Profile) (profiles.Profile, error) {
	m, err := newModel(p)
	if err != nil {
		return p, err
	}
	if len(p.Points) == 0 {
		return p, fmt.Errorf("profile %s: points: none, want one or more", p.Name)
	}
	p.Folds = nil
	for _, held := range m.split() {
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

// values returns the fields that a fit finds, rounded to five digits.
func (m *model) values(e engine.Profile) map[string]float64 {
	found := slices.Clone(m.vary)
	for _, s := range m.same {
		found = append(found, s.field)
	}
	if m.choose != nil {
		found = append(found, *m.choose)
	}
	v := map[string]float64{}
	for _, f := range found {
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
