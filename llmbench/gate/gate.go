package gate

import "fmt"

// Compare decides whether the results in new are worse than those in old by more
// than the margins allow. The margins come from Unit lines in the two files and in
// units, which must hold nothing else. A margin in units overrides a margin in old
// or new.
//
// If the contents of a file are wrong, the report has a [Problem] and the verdict
// CannotJudge. Compare returns an error if a file cannot be read or an option is
// out of range.
func Compare(units, old, new File, o Options) (*Report, error) {
	if o.Alpha == 0 {
		o.Alpha = DefaultAlpha
	}
	if !(o.Alpha > 0 && o.Alpha <= 0.5) {
		return nil, fmt.Errorf("alpha: %v, want more than 0 and at most 0.5", o.Alpha)
	}
	if o.Planned < 0 {
		return nil, fmt.Errorf("planned: %d samples, want at least 0", o.Planned)
	}
	p, err := newProjections(o.Ignore)
	if err != nil {
		return nil, err
	}
	var files [3]*results
	for i, f := range []File{units, old, new} {
		if files[i], err = p.read(f); err != nil {
			return nil, err
		}
	}
	for _, r := range files[0].rows {
		files[0].problemf(r.line, "the result of Benchmark%s: want Unit lines only in a file of units", r.name)
	}
	for _, f := range files[1:] {
		f.checkRuns()
	}
	m := &matcher{old: files[1], new: files[2], projections: p, planned: o.Planned}
	var problems []Problem
	m.rules, problems = readRules(files[0], files[1], files[2])
	for _, f := range files {
		m.problems = append(m.problems, f.problems...)
	}
	m.problems = append(m.problems, problems...)
	m.match()
	return m.report(o), nil
}
