package gate

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// match pairs the rows, first in the order of the old file, and finds the problems that prevent rows from
// being compared.
func (m *matcher) match() {
	for _, old := range m.old.rows {
		m.pairs = append(m.pairs, pair{old, m.new.byKey[old.key]})
	}
	for _, s := range m.new.rows {
		if m.old.byKey[s.key] == nil {
			m.pairs = append(m.pairs, pair{nil, s})
		}
	}
	m.pairUp()
	m.fold()
	gated := false
	for _, p := range m.pairs {
		if p.old != nil && p.new != nil {
			for _, d := range m.differences(p.old.config, p.new.config) {
				m.problemf(m.new, p.new, "", "%s is %s, but %s in %s: want results of equal configuration (benchgate -ignore=%s accepts that)", d.key, d.new, d.old, m.old.label, d.key)
			}
		}
		why := len(m.reasonsOf(p.old))+len(m.reasonsOf(p.new)) > 0
		judged, alone := why, false
		m.ungated = m.ungated || why
		for _, unit := range m.unitsOf(p) {
			r := ruleOf(m.rules, unit)
			if r.gated {
				gated = true
				m.checkGated(p, unit)
				judged = judged || p.has(unit)
			}
			if r.limit != nil {
				gated = true
				alone = alone || p.new != nil && len(p.new.values[unit]) > 0
				if !r.gated && p.loses(unit) && !m.awaits(p, unit) {
					m.onlyOld(p.old, unit)
				}
			}
		}
		for _, side := range m.sides(p) {
			if side.s != nil && (judged && p.old != nil && p.new != nil || alone && side.s == p.new) {
				m.checkStarts(side.f, side.s)
				m.checkAbsent(side.f, side.s)
			}
		}
	}
	if m.ungated = m.ungated && !gated; !gated && !m.ungated {
		m.problems = append(m.problems, Problem{Message: "no unit of these results has a margin: want a line such as \"Unit ns/op better=lower gate=5%\" in one of them, or in the file of benchgate -units"})
	}
}

// fold makes one result of all results of each process, in rows of at least two processes. Results of a row with counts that
// are added stay as they are: another process may have asked other questions. So do pairs, whose rounds the results number.
func (m *matcher) fold() {
	if m.options.OneStart || m.options.NewFirst != nil || m.col != nil {
		return
	}
	judged := func(unit string) bool { r := ruleOf(m.rules, unit); return r.gated || r.limit != nil }
	counts := func(unit string) bool { return ruleOf(m.rules, unit).of != "" }
	for _, s := range slices.Concat(m.old.rows, m.new.rows) {
		if s.inRun < 2 || len(s.processes) < 2 || s.mixed || !slices.ContainsFunc(s.units, judged) || slices.ContainsFunc(s.units, counts) {
			continue
		}
		if s.apart = s.unfoldable(); s.apart == "" {
			s.fold()
			m.folded = true
		}
	}
}

// checkStarts reports a problem if one process wrote several results of a benchmark.
func (m *matcher) checkStarts(f *results, s *samples) {
	switch {
	case s.inRun < 2 || s.mixed:
	case m.options.OneStart:
		m.oneStart = true
	case s.apart != "":
		m.problemf(f, s, "", "%d results of one process are one observation, and they have no mean, because %s: want all figures in each result, or one result of each process (benchgate -one-start counts them all)", s.inRun, s.apart)
	default:
		m.problemf(f, s, "", "%d results of one process are one observation: want each sample from a fresh process (benchgate -one-start counts them all)", s.inRun)
	}
}

// checkAbsent reports a problem if too many processes have no result of a benchmark.
func (m *matcher) checkAbsent(f *results, s *samples) {
	if s.absentInMany() {
		m.problemf(f, s, "", "%d of %d processes of %s have no result of it: want a result of each, since the missing ones may be the worst", s.absent, s.runs, f.label)
	}
}

// pairUp finds the benchmarks that only one file has. If two benchmarks differ only in GOMAXPROCS or only
// in the package, it reports that as a separate problem.
func (m *matcher) pairUp() {
	twins := map[string]*samples{} // benchmarks that only the new file has, by package and name
	byName := map[string]*samples{}
	for _, p := range m.pairs {
		if p.old == nil {
			name, _ := cutProcs(p.new.name)
			twins[p.new.pkg+" "+name], byName[p.new.name] = p.new, p.new
		}
	}
	reported := map[*samples]bool{}
	for _, p := range m.pairs {
		switch {
		case p.new == nil:
			name, procs := cutProcs(p.old.name)
			if twin := twins[p.old.pkg+" "+name]; twin != nil {
				_, other := cutProcs(twin.name)
				m.problemf(m.old, p.old, "", "GOMAXPROCS is %s, but %s at %s:%d: want both run with the same -cpu of go test (benchgate -ignore=/gomaxprocs accepts that)", procs, other, m.new.name, twin.line)
				reported[twin] = true
				continue
			}
			if twin := byName[p.old.name]; twin != nil && !m.options.AllowRemoved {
				m.problemf(m.old, p.old, "", "pkg is %s, but %s at %s:%d: want one package, or benchgate -ignore=pkg", orNotSet(p.old.pkg), orNotSet(twin.pkg), m.new.name, twin.line)
				reported[twin] = true
				continue
			}
			m.onlyOld(p.old, "")
		case p.old == nil && !reported[p.new]:
			m.onlyNew(p.new, "")
		}
	}
}

// onlyOld records that only the old file has a benchmark, or a gated unit of a benchmark.
func (m *matcher) onlyOld(s *samples, unit string) {
	m.removed = append(m.removed, Subject{s.pkg, s.name, unit})
	p := Problem{m.old.name, s.line, s.pkg, s.name, unit, fmt.Sprintf(missing+"%s (benchgate -removed=allow accepts that)", m.new.label)}
	if why := m.whyLost(pair{s, m.new.byKey[s.key]}); unit != "" && why != "" {
		p.Message = fmt.Sprintf(missing+"%s: %s", m.new.label, why)
	}
	switch {
	case m.options.AllowRemoved:
	case unit == "":
		m.problems = append(m.problems, p)
	default:
		m.lost = append(m.lost, p)
	}
}

// onlyNew records that only the new file has a benchmark, or a gated unit of a benchmark.
func (m *matcher) onlyNew(s *samples, unit string) {
	m.added = append(m.added, Subject{s.pkg, s.name, unit})
	if m.options.FailAdded {
		m.problemf(m.new, s, unit, missing+"%s (benchgate -added=allow accepts that)", m.old.label)
	}
}

// cutProcs splits a benchmark name into the name without its GOMAXPROCS suffix, and GOMAXPROCS. Without a
// suffix, GOMAXPROCS is 1.
func cutProcs(name string) (rest, procs string) {
	_, parts := benchfmt.Name(name).Parts()
	if n := len(parts); n > 0 && parts[n-1][0] == '-' {
		return name[:len(name)-len(parts[n-1])], string(parts[n-1][1:])
	}
	return name, "1"
}

// checkGated reports the problems of a gated unit of a benchmark that both files have, except too few
// samples.
func (m *matcher) checkGated(p pair, unit string) {
	if p.old == nil || p.new == nil {
		return // added or removed
	}
	switch {
	case m.awaits(p, unit):
		return
	case len(p.old.values[unit]) == 0:
		m.onlyNew(p.new, unit)
		return
	case len(p.new.values[unit]) == 0:
		m.onlyOld(p.old, unit)
		return
	}
	r := ruleOf(m.rules, unit)
	old := summarize(p.old.values[unit]).Median
	margin, amounts := r.margin.of(old, p.negative(unit), unit)
	for _, side := range m.sides(p) {
		values := side.s.values[unit]
		if side.s.missing(unit) > 0 && r.margin.points {
			m.problemf(side.f, side.s, unit, "in %d of %s: want a value in each", len(values), numbers.Count(side.s.expected(), "result"))
			continue
		}
		if least := slices.Min(values); least < 0 && !amounts && usable(least) {
			m.problemf(side.f, side.s, unit, "%v: want 0 or more, or a margin that is an amount, such as gate=%s", least, exampleOf(unit))
		}
		m.checkCounts(side.f, side.s, unit)
	}
	switch {
	case r.margin.points || old == nil || len(p.old.values[unit]) < m.options.Planned:
	case *old == 0 && r.better > 0 && !amounts:
		m.problemf(m.old, p.old, unit, "the median is 0, and higher is better: want more, or a margin that is an amount, such as gate=%s; a budget, min=, needs no old values", exampleOf(unit))
	case r.better > 0 && amounts && *old > 0 && margin >= *old:
		m.problemf(m.old, p.old, unit, "the median is %s, and gate= allows %s less: want a margin that is less than the median", amount(*old, unit), r.margin.text(unit))
	}
}

// checkCounts checks a unit whose margin is in percentage points. It reports a problem if the number of
// observations is missing or invalid, or if several samples have the same observations.
func (m *matcher) checkCounts(f *results, s *samples, unit string) {
	r := ruleOf(m.rules, unit)
	if !r.margin.points || r.of == "" {
		return
	}
	if err := countsOf(s.values[unit], s.values[r.of]); err != nil {
		m.problemf(f, s, unit, "of=%s: %v", r.of, err)
	}
	seen := map[float64]bool{}
	for _, set := range s.values[r.apart] {
		if seen[set] {
			m.problemf(f, s, unit, "several results with a %s of %.0f are of the same observations: want others in each process", r.apart, set)
			return
		}
		seen[set] = true
	}
}

// countsOf returns an error unless percents are valid percentages of the numbers of observations in of.
func countsOf(percents, of []float64) error {
	if len(of) != len(percents) {
		return fmt.Errorf("%d of %s have it: want a number of observations in each", len(of), numbers.Count(len(percents), "result"))
	}
	for i, n := range of {
		if !(n >= 1 && n <= 1e9) || n != math.Trunc(n) {
			return fmt.Errorf("%v: want a whole number of observations, from 1 to 1e9", n)
		}
		if !(percents[i] <= 100) {
			return fmt.Errorf("%v %%: want at most 100 %%", percents[i])
		}
	}
	return nil
}

// settings returns the configuration that all rows of both files have in common.
func (m *matcher) settings() []Setting {
	var keys []benchproc.Key
	for _, p := range m.pairs {
		for _, s := range []*samples{p.old, p.new} {
			if s != nil {
				keys = append(keys, s.config)
			}
		}
	}
	all := []Setting{}
	if len(keys) == 0 {
		return all
	}
	vary := benchproc.NonSingularFields(keys)
	for _, f := range m.config.FlattenedFields() {
		if v := keys[0].Get(f); v != "" && !slices.Contains(vary, f) {
			all = append(all, Setting{f.Name, v})
		}
	}
	return all
}

// lacks reports whether a gated unit of p cannot be judged because too many results of a side lack its
// value. Further samples may change that.
func (m *matcher) lacks(p pair, unit string) bool {
	r := ruleOf(m.rules, unit)
	if !r.gated || r.margin.points || !p.has(unit) || p.old.absentInMany() || p.new.absentInMany() {
		return false // checkAbsent has reported that
	}
	return lacksMany(p.old.missing(unit), p.old.expected()) || lacksMany(p.new.missing(unit), p.new.expected())
}

// awaits reports whether one side of p has no value of a gated unit so far, but further samples may still
// have one, because values may only have been withheld. If the new side lacks the unit, the answer is known
// only at the end; before that, another row may be found to be a regression. If the old side lacks the unit
// in more results than allowed, the unit counts as added.
func (m *matcher) awaits(p pair, unit string) bool {
	r := ruleOf(m.rules, unit)
	if p.old == nil || p.new == nil || !r.gated && (r.limit == nil || !p.loses(unit)) || p.has(unit) {
		return false
	}
	if p.new.values[unit] == nil {
		return p.new.n < m.plan.Rounds
	}
	return !lacksMany(p.old.missing(unit), m.plan.Rounds)
}
