package llmbench

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// perModel are the units that are reported for each model in [Load].Models.
var perModel = []string{sample.OutputRate, sample.RequestRate, sample.P50TTFT, sample.P99TTFT, sample.MeanTPOT, sample.P50E2E, sample.ShedShare, sample.FailShare}

// withModels returns l with the units of its models, and with Figures that compute them. The argument own
// is the target's model, to which requests belong that name none.
func (l Load) withModels(own string) (Load, error) {
	if len(l.Models) == 0 {
		return l, nil
	}
	units := slices.Clone(perModel)
	if l.MaxFail == 0 { // failures then fail the benchmark
		units = slices.DeleteFunc(units, func(name string) bool { return name == sample.FailShare })
	}
	l.Units = slices.Clip(l.Units)
	for i, model := range l.Models {
		same := func(other string) bool { return NameValue(other) == NameValue(model) }
		if model == "" || slices.ContainsFunc(l.Models[:i], same) {
			return l, fmt.Errorf("load: models %q: want names that differ in letters, digits, dots, hyphens and underscores", l.Models)
		}
		for _, u := range sample.Named(units...) {
			u.Name = modelUnit(model, u.Name)
			u.Core, u.Gate, u.Means = false, "", fmt.Sprintf("Of the requests to the model %s only. %s", model, u.Means)
			l.Units = append(l.Units, u)
		}
	}
	if err := l.checkUnits(); err != nil {
		return l, fmt.Errorf("load: models: %w", err)
	}
	l.addFigures(func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		all := map[string]float64{}
		elapsed := elapsedOf(samples)
		for _, model := range l.Models {
			of := func(yield func(*sample.Sample) bool) {
				for s := range samples {
					if cmp.Or(s.Model, own) == model && !yield(s) {
						return
					}
				}
			}
			metrics := sample.Summarize(of, elapsed, l.SLO).Metrics
			for _, unit := range units {
				if v, known := metrics[unit]; known {
					all[modelUnit(model, unit)] = v
				}
			}
		}
		return all
	})
	return l, nil
}

// addFigures makes l.Figures compute also what more computes.
func (l *Load) addFigures(more func(iter.Seq[*sample.Sample]) map[string]float64) {
	figures := l.Figures
	if figures == nil {
		l.Figures = more
		return
	}
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		all := maps.Clone(more(samples))
		maps.Copy(all, figures(samples))
		return all
	}
}

// modelUnit returns the name of a unit of one model.
func modelUnit(model, unit string) string { return NameValue(model) + "-" + unit }

// elapsedOf returns the total duration of the passes of samples.
func elapsedOf(samples iter.Seq[*sample.Sample]) (sum time.Duration) {
	type span struct{ first, last time.Duration }
	passes := map[int]span{}
	for s := range samples {
		p, known := passes[s.Pass]
		if !known {
			p = span{s.Due, s.End}
		}
		passes[s.Pass] = span{min(p.first, s.Due), max(p.last, s.End)}
	}
	for _, p := range passes {
		sum += p.last - p.first
	}
	return sum
}
