package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
)

// Compare decides whether the results in new are worse than the results in old by more than the margins
// allow. The margins come from Unit lines in the two files and in units. The file units must contain
// nothing but Unit lines with known keys, and comments. A margin in units overrides a margin in old or new.
//
// If the contents of a file are wrong, the verdict is CannotJudge and the report has a [Problem]. Compare
// returns an error only if a file cannot be read or an option is out of range.
func Compare(units, old, new File, o Options) (*Report, error) {
	p, o, err := prepare(o, "")
	if err != nil {
		return nil, err
	}
	var files [3]*results
	for i, f := range []File{units, old, new} {
		if files[i], err = p.read(f); err != nil {
			return nil, err
		}
	}
	for i, f := range files[1:] {
		f.checkRuns(o.Partial)
		if empty := i == 0 && o.EmptyOld; len(f.rows) == 0 && !empty {
			f.problemf(0, "no results")
		}
	}
	if o.NewFirst == nil {
		o.NewFirst = newFirst(files[1], files[2])
	}
	r := p.compare(files[0], files[1], files[2], o, false)
	r.Equal = !r.Paired && len(r.Rows) > 0 && bytes.Equal(files[1].data, files[2].data)
	return r, nil
}

// CheckBudgets decides whether the results in file keep the budgets of their units, max= and min= in Unit lines. Margins do
// not matter, because there are no old results. Otherwise CheckBudgets is like [Compare]; it is a problem if no unit of the
// results has a budget.
func CheckBudgets(units, file File, o Options) (*Report, error) {
	o.EmptyOld, o.budgets = true, true
	r, err := Compare(units, File{}, file, o)
	if err != nil {
		return nil, err
	}
	r.Added = nil
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Verdict == Added {
			row.Verdict, row.Margin, row.Gate = NotGated, nil, ""
		}
	}
	return r, nil
}

// CompareColumns compares results within a file, for example results with a gateway and
// results without it. The key col names what differs: "/via" is a key of benchmark names,
// "quantization" a configuration line, ".name" the name of the benchmark. The key must
// have two values. The results with the value that comes first in the file are old, those
// with the other are new; col may state the values, old first: "/via@(direct gateway)"
// (https://pkg.go.dev/golang.org/x/perf/benchproc/syntax). Results with another value or
// without the key are left out.
//
// If the results are pairs by a unit with pairs=yes, such as arms-seed, they are judged as pairs. Options.NewFirst must
// be nil. Otherwise CompareColumns is like [Compare]. It returns an
// error if the key has one value or more than two.
func CompareColumns(units, file File, col string, o Options) (*Report, error) {
	if col == "" {
		return nil, fmt.Errorf("col: %q: want a key", col)
	}
	if o.NewFirst != nil {
		return nil, errors.New("new first: the results of one file say themselves whether they are pairs: want nil")
	}
	p, o, err := prepare(o, col)
	if err != nil {
		return nil, err
	}
	margins, err := p.read(units)
	if err != nil {
		return nil, err
	}
	old, new, leftOut, err := p.readColumns(file)
	if err != nil {
		return nil, err
	}
	old.checkRuns(o.Partial)
	r := p.compare(margins, old, new, o, true)
	r.LeftOut = leftOut
	return r, nil
}

// prepare checks options, and returns them with their defaults.
func prepare(o Options, col string) (*projections, Options, error) {
	o.Alpha = cmp.Or(o.Alpha, DefaultAlpha)
	switch {
	case !(o.Alpha >= minAlpha && o.Alpha <= 0.5):
		return nil, o, fmt.Errorf("alpha: %v: want at least %v and at most 0.5", o.Alpha, minAlpha)
	case o.Planned < 0:
		return nil, o, fmt.Errorf("planned: %d samples: want at least 0", o.Planned)
	case o.Planned == 0 && o.Max > 0:
		return nil, o, fmt.Errorf("max: %d samples without a planned number: want 0", o.Max)
	case o.Planned > 0 && o.NewFirst == nil:
		return nil, o, fmt.Errorf("planned: %d samples, but the samples are not pairs: want NewFirst", o.Planned)
	}
	p, err := newProjections(o.Ignore, col)
	return p, o, err
}

// compare compares the results in new with those in old, which are columns of one file or two files.
func (p *projections) compare(units, old, new *results, o Options, columns bool) *Report {
	units.checkUnits()
	m := &matcher{old: old, new: new, projections: p, options: o, plan: decide.NewPlan(o.Planned, o.Max, o.Alpha)}
	var problems []Problem
	m.rules, problems = readRules(units, old, new)
	m.defaults = m.addDefaults()
	for _, f := range []*results{units, old, new} {
		m.problems = append(m.problems, f.problems...)
	}
	m.problems = append(m.problems, problems...)
	m.match()
	if columns {
		if rounds := m.inTurns(); rounds > 0 {
			o.NewFirst, o.inTurns = make([]bool, rounds), true
		}
	}
	return m.report(o)
}
