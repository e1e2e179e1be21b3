package llmbench

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// perGroup are the units that are reported for each model in [Load].Models, for each class, and for each stage of a load.
var perGroup = []string{sample.OutputRate, sample.RequestRate, sample.P50TTFT, sample.P99TTFT, sample.MeanTPOT, sample.P50E2E, sample.ShedShare, sample.FailShare}

// A group is a part of the requests of a load whose units are reported apart.
type group struct {
	name string // begins the names of its units
	of   string // which requests it has, for the meaning of the units
	slo  sample.SLO
	// pick returns the group's samples, and for how long they were measured.
	pick func(iter.Seq[*sample.Sample]) (iter.Seq[*sample.Sample], time.Duration)
}

// withGroups returns l with the units of its models, classes and stages, and with Figures that compute them. The other figures of
// the load get only samples that count, unless the load says otherwise. The argument own is the target's model, to which requests
// belong that name none.
func (l Load) withGroups(own string) (Load, error) {
	if figures := l.Figures; figures != nil && l.Duration > 0 && !l.WholePass {
		l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 { return figures(sample.Measured(samples)) }
	}
	models, err := l.models(own)
	if err != nil {
		return l, err
	}
	groups := slices.Concat(models, l.classGroups(), l.stages())
	if len(groups) == 0 {
		return l, nil
	}
	units := slices.Clone(perGroup)
	if l.MaxFail == 0 { // failures then fail the benchmark
		units = slices.DeleteFunc(units, func(name string) bool { return name == sample.FailShare })
	}
	l.Units = slices.Clip(l.Units)
	of := func(g group) []string { // the units of a group
		if g.slo == (sample.SLO{}) {
			return units
		}
		return append(slices.Clip(units), sample.GoodRate)
	}
	for _, g := range groups {
		for _, u := range sample.Named(of(g)...) {
			if u.Name != sample.GoodRate || g.slo.NeedsStream() {
				u.Base = u.Name
			}
			u.Name = g.unit(u.Name)
			u.Core, u.Gate, u.Means = false, "", fmt.Sprintf("Of %s only. %s", g.of, u.Means)
			l.Units = append(l.Units, u)
		}
	}
	if err := l.checkUnits(); err != nil {
		return l, fmt.Errorf("load: models, classes and stages: %w", err)
	}
	l.addFigures(func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		all := map[string]float64{}
		var computations []func(iter.Seq[*sample.Sample])
		for _, g := range groups {
			computations = append(computations, func(samples iter.Seq[*sample.Sample]) {
				picked, elapsed := g.pick(samples)
				metrics := sample.Summarize(picked, elapsed, g.slo).Metrics
				for _, unit := range of(g) {
					if v, known := metrics[unit]; known {
						all[g.unit(unit)] = v
					}
				}
			})
		}
		lockstep.Range(samples, computations...)
		return all
	})
	return l, nil
}

// unit returns the name of a unit of the group.
func (g group) unit(unit string) string { return g.name + "-" + unit }

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

// models returns the groups of l.Models.
func (l *Load) models(own string) (groups []group, err error) {
	for i, model := range l.Models {
		same := func(other string) bool { return NameValue(other) == NameValue(model) }
		if model == "" || slices.ContainsFunc(l.Models[:i], same) {
			return nil, fmt.Errorf("load: models %q: want names that differ in letters, digits, dots, hyphens and underscores", l.Models)
		}
		groups = append(groups, group{NameValue(model), "the requests to the model " + model, sample.SLO{},
			where(func(s *sample.Sample) bool { return cmp.Or(s.Model, own) == model })})
	}
	return groups, nil
}

// classGroups returns the groups of l.Classes.
func (l *Load) classGroups() (groups []group) {
	for _, c := range l.Classes {
		groups = append(groups, group{NameValue(c.Name), "the requests of class " + c.Name, c.SLO,
			where(func(s *sample.Sample) bool { return s.Class == c.Name })})
	}
	return groups
}

// where returns a function that picks samples of the whole time.
func where(is func(*sample.Sample) bool) func(iter.Seq[*sample.Sample]) (iter.Seq[*sample.Sample], time.Duration) {
	return func(samples iter.Seq[*sample.Sample]) (iter.Seq[*sample.Sample], time.Duration) {
		return func(yield func(*sample.Sample) bool) {
			for s := range samples {
				if is(s) && !yield(s) {
					return
				}
			}
		}, sample.Elapsed(samples)
	}
}

// stages returns the groups of the stages of a load that has several.
func (l *Load) stages() (groups []group) {
	stages := []arrivals.Stage(l.Users)
	if a, ok := l.Arrivals.(arrivals.Stages); ok {
		stages = a.Stages
	}
	if len(stages) < 2 {
		return nil
	}
	begin := l.WarmupFor
	for i, g := range stages {
		from, to := begin, begin+g.For
		begin = to
		groups = append(groups, group{fmt.Sprintf("stage%d", i+1), fmt.Sprintf("stage %d (%v)", i+1, g), sample.SLO{},
			func(samples iter.Seq[*sample.Sample]) (iter.Seq[*sample.Sample], time.Duration) {
				return sample.During(samples, from, to), during(samples, from, to)
			}})
	}
	return groups
}

// during returns the sum over the passes of samples of the time from from to to, which ends sooner if the pass does.
func during(samples iter.Seq[*sample.Sample], from, to time.Duration) (sum time.Duration) {
	ends := map[int]time.Duration{}
	for s := range samples {
		ends[s.Pass] = max(ends[s.Pass], s.End)
	}
	for _, end := range ends {
		sum += max(0, min(end, to)-from)
	}
	return sum
}
