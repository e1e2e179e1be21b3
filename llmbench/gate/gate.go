package gate

import (
	"fmt"
	"io"
)

// A File is a file in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format).
type File struct {
	Name string    // what messages call it
	Data io.Reader // read to its end, not closed; nil is a file of nothing
}

// Options say how [Compare] judges. The zero value is a good choice.
type Options struct {
	// Alpha bounds the probability that a comparison of two equal versions ends
	// in Regression, over all its gated cells together. 0 means DefaultAlpha.
	Alpha float64
	// Ignore lists configuration keys that may differ, besides those of
	// [Ignored]; a key that starts with a slash is one of benchmark names, such
	// as /gomaxprocs.
	Ignore []string
	// Planned is how many samples a side there will be in the end, of files to
	// which samples are still being added; 0 means that these are all. Then a
	// verdict is one only if Report.Settled, and the report's Alpha is what the
	// division of Alpha over the looks leaves for this one.
	Planned int
	// Quiet tells that a row whose margin is less than its noise cannot pass, see
	// Row.Noise.
	Quiet bool
}

// DefaultAlpha is the Alpha of zero Options.
const DefaultAlpha = 0.025

// Ignored lists the configuration keys that may always differ: they say which
// version was measured, and when. Any other key that differs makes two results
// incomparable.
var Ignored = []string{"branch", "commit", "commit-time", "date", "go", "toolchain"}

// Compare judges whether the results of new are worse than those of old by more
// than the margins allow. The margins are those of the files' own Unit lines and
// of units, which has nothing else; where both have one, units has its way.
//
// What is wrong with the contents of a file is a [Problem] of the report, whose
// verdict then is CannotJudge. An error means that there is no report: a file
// could not be read, or an option is out of range.
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
	var read [3]*results
	for i, f := range []File{units, old, new} {
		if read[i], err = p.read(f); err != nil {
			return nil, err
		}
	}
	for _, r := range read[0].rows {
		read[0].problemf(r.line, "the result of Benchmark%s: want Unit lines only in a file of units", r.name)
	}
	for _, f := range read[1:] {
		f.checkRuns()
	}
	m := &matcher{old: read[1], new: read[2], projections: p, planned: o.Planned}
	var problems []Problem
	m.rules, problems = readRules(read[0], read[1], read[2])
	for _, f := range read {
		m.problems = append(m.problems, f.problems...)
	}
	m.problems = append(m.problems, problems...)
	m.match()
	return m.report(o), nil
}
