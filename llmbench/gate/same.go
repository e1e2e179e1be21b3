package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unlike returns a problem for each unit with a tolerance whose medians differ by more than the tolerance. Of a
// percentage of which less is better, such as fail-%, the means are compared: results of a benchmark have equally many
// requests, so that the mean is the share of all requests. It returns none unless a gated unit of p has values on both
// sides. A result without a value of the unit counts as 0.
func (m *matcher) unlike(p pair) (problems []Problem) {
	judged := func(unit string) bool { return ruleOf(m.rules, unit).gated && p.has(unit) }
	if p.old == nil || p.new == nil || !slices.ContainsFunc(m.unitsOf(p), judged) {
		return nil
	}
	for _, tidied := range slices.Sorted(maps.Keys(m.rules)) {
		r, unit := m.rules[tidied], m.units[tidied]
		if r.sameBy == nil {
			continue
		}
		what, center := "median", (*samples).medianOrZero
		if r.better < 0 && !r.same.share && strings.HasSuffix(unit, "-%") {
			what, center = "mean", (*samples).meanOrZero
		}
		old, new := center(p.old, unit), center(p.new, unit)
		if old == nil || new == nil || !r.same.exceeded(*old, *new, unit) {
			continue
		}
		problems = append(problems, Problem{File: m.new.name, Line: p.new.line, Pkg: p.new.pkg, Name: p.new.name,
			Message: fmt.Sprintf("the %s of %s is %.4g, but %.4g in %s: want results that differ by at most same=%s", what, unit, *new, *old, m.old.label, r.sameBy.Value)})
	}
	return problems
}

// medianOrZero returns the median of a unit. A result without a value counts as 0. If a value is not
// usable, the median is nil.
func (s *samples) medianOrZero(unit string) *float64 { return summarize(s.valuesOrZero(unit)).Median }

// meanOrZero returns the mean of a unit, as medianOrZero does the median.
func (s *samples) meanOrZero(unit string) *float64 {
	sum := 0.0
	for _, v := range s.values[unit] {
		sum += v
	}
	return known(sum / float64(s.n))
}

// valuesOrZero returns the values of a unit, with 0 for each result without a value.
func (s *samples) valuesOrZero(unit string) []float64 {
	return append(slices.Clone(s.values[unit]), make([]float64, max(0, s.n-len(s.values[unit])))...)
}
