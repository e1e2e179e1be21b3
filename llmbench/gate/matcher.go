package gate

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
)

// A matcher pairs the rows of two files.
type matcher struct {
	*projections
	old, new *results
	rules    map[string]rule
	options  Options
	plan     decide.Plan
	defaults []string // the units with default margins
	pairs    []pair
	problems []Problem

	lost []Problem // gated units that are missing in the new file; they matter only if no other row is a regression

	added, removed []Subject
	ungated        bool // no unit is gated so far, but figures were withheld
	oneStart       bool // several results of one process count as separate samples
	folded         bool // several results of one process count as one sample, their mean
}

// sides returns the old and the new side of p, either of which may be nil.
func (m *matcher) sides(p pair) [2]side { return [2]side{{m.old, p.old}, {m.new, p.new}} }

// unitsOf returns the units of both sides, in order.
func (m *matcher) unitsOf(p pair) []string {
	if p.old == nil || p.new == nil {
		return p.either().units
	}
	units := slices.Clone(p.old.units)
	for _, u := range p.new.units {
		if p.old.values[u] == nil {
			units = append(units, u)
		}
	}
	return units
}

// problemf adds a problem of one benchmark, with the position of its first result in f.
func (m *matcher) problemf(f *results, s *samples, unit, format string, args ...any) {
	m.problems = append(m.problems, Problem{f.name, s.line, s.pkg, s.name, unit, fmt.Sprintf(format, args...)})
}

// reasonsOf returns the units of a side that say why figures were withheld.
func (m *matcher) reasonsOf(s *samples) (units []string) {
	if s == nil {
		return nil
	}
	for _, unit := range s.units {
		if ruleOf(m.rules, unit).withheld != "" && slices.ContainsFunc(s.values[unit], func(v float64) bool { return v > 0 }) {
			units = append(units, unit)
		}
	}
	return units
}

// marksRow returns the row of a reason, without the result of its test. The numbers of values in it are numbers of
// results with the reason.
func (p pair) marksRow(unit string, r rule, withheld []string) Row {
	count := func(s *samples) (n, of int) {
		if s == nil {
			return 0, 0
		}
		for _, has := range s.marked(unit) {
			if has {
				n++
			}
		}
		return n, s.n
	}
	w := &Withheld{By: r.withheld, Says: r.says, Units: withheld}
	w.Old, w.OfOld = count(p.old)
	w.New, w.OfNew = count(p.new)
	return Row{Pkg: p.new.pkg, Name: p.new.name, Unit: unit, Better: r.direction(), Old: p.old.summary(unit), New: p.new.summary(unit),
		Withheld: w, Verdict: NotGated}
}

// whyLost says why a gated unit is missing in all new results of a benchmark, if these say themselves why figures were
// withheld; otherwise it returns "".
func (m *matcher) whyLost(p pair) string {
	for _, unit := range m.reasonsOf(p.new) {
		r := ruleOf(m.rules, unit)
		w := p.marksRow(unit, r, nil).Withheld
		return w.Text(shortLabel(m.new.label), unit)
	}
	return ""
}
