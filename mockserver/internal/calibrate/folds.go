package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// split returns the points that each fold holds out. The profile may list them. Otherwise each point is a fold
// of its own, unless it is the only point of its workload.
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

// A Prediction is a held-out point together with its prediction. The predicting engine was fitted without the
// point.
type Prediction struct {
	Point     profiles.Point
	Units     []string           // the units in which prediction and measurement are compared
	Predicted map[string]float64 // keyed by unit; the mean over several seeds
	// Gain says how strongly the prediction reacts to the server's speed: the relative change of the prediction
	// divided by a small relative change of the speed, for the unit with the strongest reaction. It is about 1
	// if the client waits for the server. It is large if workers of the client die, because a slightly slower
	// server then loses many more of them.
	Gain float64
}

// Predict predicts the held-out points of each fold in the profile, with the engine that was fitted without
// them. If the profile cannot be used, the error names the profile and the field.
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

// gain returns Prediction.Gain. It predicts the point for a slightly slower and a slightly faster server.
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

// Off returns the relative error of the prediction in percent. It is positive if the prediction is too high.
func (q Prediction) Off(unit string) float64 {
	return 100 * (q.Predicted[unit]/q.Point.Values[unit] - 1)
}

// Fit fits the profile's engine to all its points. For each fold, it also fits an engine to the points that the
// fold does not hold out. It returns the profile with the new engine, the folds and the errors at the held-out
// points. The folds are those in Fit.HoldOut. If that is nil, each point is a fold of its own, unless it is the
// only point of its workload. A fit takes seconds.
func Fit(p profiles.Profile) (profiles.Profile, error) {
	m, err := newModel(p)
	if err != nil {
		return p, err
	}
	if len(p.Points) == 0 {
		return p, fmt.Errorf("profile %s: points: none: want one or more", p.Name)
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

// values returns the values of the fitted fields, rounded to five digits.
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

// Errors summarizes the errors of predictions, one Error per unit.
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
