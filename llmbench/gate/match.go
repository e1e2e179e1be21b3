package gate

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// A matcher pairs the rows of two files.
type matcher struct {
	*projections
	old, new *results
	rules    map[string]rule
	planned  int // final number of samples a side
	pairs    []pair
	problems []Problem
}

// A pair is one benchmark in both files. A side is nil if the file lacks the benchmark.
type pair struct{ old, new *samples }

// either returns a side that is not nil.
func (p pair) either() *samples {
	if p.old != nil {
		return p.old
	}
	return p.new
}

// match pairs the rows, in the order of the old file first, and finds the problems
// that keep rows from being compared.
func (m *matcher) match() {
	for _, old := range m.old.rows {
		m.pairs = append(m.pairs, pair{old, m.new.byKey[old.key]})
	}
	for _, s := range m.new.rows {
		if m.old.byKey[s.key] == nil {
			m.pairs = append(m.pairs, pair{nil, s})
		}
	}
	m.reportMissing()
	gated := false
	for _, p := range m.pairs {
		if p.old != nil && p.new != nil {
			for _, d := range m.differences(p.old.config, p.new.config) {
				m.problemf(m.new, p.new, "", "%s is %s, but %s in %s: want results of equal configuration", d.key, d.new, d.old, m.old.name)
			}
		}
		for _, unit := range m.unitsOf(p) {
			if ruleOf(m.rules, unit).gated {
				gated = true
				m.checkGated(p, unit)
			}
		}
	}
	if !gated {
		m.problems = append(m.problems, Problem{Message: "no unit of these results has a margin: want a line such as \"Unit ns/op better=lower gate=5%\""})
	}
}

// reportMissing reports the benchmarks that only one file has. Its message is
// different for two benchmarks that differ only in GOMAXPROCS.
func (m *matcher) reportMissing() {
	twins := map[string]*samples{} // benchmarks that only the new file has
	for _, p := range m.pairs {
		if p.old == nil {
			name, _ := cutProcs(p.new.name)
			twins[p.new.pkg+" "+name] = p.new
		}
	}
	reported := map[*samples]bool{}
	for _, p := range m.pairs {
		switch {
		case p.new == nil:
			name, procs := cutProcs(p.old.name)
			if twin := twins[p.old.pkg+" "+name]; twin != nil {
				_, other := cutProcs(twin.name)
				m.problemf(m.old, p.old, "", "GOMAXPROCS is %s, but %s at %s:%d: want both run with the same -cpu", procs, other, m.new.name, twin.line)
				reported[twin] = true
				continue
			}
			m.problemf(m.old, p.old, "", "missing in %s", m.new.name)
		case p.old == nil && !reported[p.new]:
			m.problemf(m.new, p.new, "", "missing in %s", m.old.name)
		}
	}
}

// cutProcs splits a name into the name without its suffix and GOMAXPROCS. A name
// without a suffix has a GOMAXPROCS of 1.
func cutProcs(name string) (rest, procs string) {
	_, parts := benchfmt.Name(name).Parts()
	if n := len(parts); n > 0 && parts[n-1][0] == '-' {
		return name[:len(name)-len(parts[n-1])], string(parts[n-1][1:])
	}
	return name, "1"
}

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

// checkGated reports the problems of a gated unit of a benchmark that both files have,
// apart from too few samples.
func (m *matcher) checkGated(p pair, unit string) {
	if p.old == nil || p.new == nil {
		return // reported as missing
	}
	for _, side := range []struct {
		f *results
		s *samples
	}{{m.old, p.old}, {m.new, p.new}} {
		values := side.s.values[unit]
		if len(values) < side.s.n {
			m.problemf(side.f, side.s, unit, "in %d of %s: want a value in each", len(values), plural(side.s.n, "result"))
			continue
		}
		if least := slices.Min(values); least < 0 && usable(least) {
			m.problemf(side.f, side.s, unit, "%v: want 0 or more, since a margin is a share", least)
		}
	}
	old := summarize(p.old.values[unit]).Median
	if ruleOf(m.rules, unit).better > 0 && old != nil && *old == 0 && len(p.old.values[unit]) >= m.planned {
		m.problemf(m.old, p.old, unit, "the median is 0: want more, since a margin is a share of the median")
	}
}

// problemf adds a problem of one benchmark, with the position of its first result in f.
func (m *matcher) problemf(f *results, s *samples, unit, format string, args ...any) {
	m.problems = append(m.problems, Problem{f.name, s.line, s.pkg, s.name, unit, fmt.Sprintf(format, args...)})
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
