package gate

import (
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
)

// A UnitRule is what Unit lines say about a unit.
type UnitRule struct {
	Better string  // "higher", "lower", or "" if not known
	Gated  bool    // the unit has a margin
	Points bool    // values are percentages of observations, and Margin is in percentage points
	Margin float64 // a share, or 0.01 for each percentage point; 0 for a margin that is an amount alone
	Amount bool    // the margin is an amount, or has one: values may be 0 or negative
	// Withheld says whose doing it is that figures are missing in results with the unit: "server", "client", or "" if the
	// unit says nothing about that. Says are the words of the Unit line; see [Withheld].
	Withheld, Says string
	same           *tolerance
}

// Same reports whether the unit has a tolerance, same=.
func (r UnitRule) Same() bool { return r.same != nil }

// Unlike reports whether two values of the unit, which are 0 or more and tidied, differ by more than the tolerance.
func (r UnitRule) Unlike(a, b float64, tidied string) bool {
	return r.same != nil && r.same.exceeded(a, b, tidied)
}

// UnitRules returns the rules of lines, by tidied unit. Margins and tolerances in the file units override margins and
// tolerances in lines. A line that is wrong is a problem. UnitRules returns an error only if the file cannot be read.
func UnitRules(units File, lines []*benchfmt.UnitMetadata) (map[string]UnitRule, []Problem, error) {
	over := newResults(units.Name, "")
	if err := (&projections{}).readEach(units, over, func(*benchfmt.Result) {}); err != nil {
		return nil, nil, err
	}
	over.checkUnits()
	rules, problems := readRules(over, &results{}, &results{units: lines})
	all := map[string]UnitRule{}
	for unit, r := range rules {
		u := UnitRule{Better: r.direction(), Gated: r.gated, Points: r.margin.points, Margin: r.margin.share, Amount: r.margin.amount > 0, Withheld: r.withheld, Says: r.says}
		if r.sameBy != nil {
			u.same = &r.same
		}
		all[unit] = u
	}
	return all, append(over.problems, problems...), nil
}

// checkUnits checks that a file of units, if there is one, has Unit lines, and nothing else but comments. readRules
// checks their keys.
func (f *results) checkUnits() {
	if f.data == nil {
		return
	}
	wrong := 0
	for i, line := range strings.Split(string(f.data), "\n") {
		fields, kind := strings.Fields(line), benchline.KindOf(line)
		switch {
		case len(fields) == 0, strings.HasPrefix(fields[0], "#"):
			continue
		case kind == benchline.Unit && len(fields) > 2, kind == benchline.Torn:
			continue // it was read, or is a problem already
		}
		if wrong++; wrong <= maxSyntaxErrors {
			f.problemf(i+1, "%.100q: want Unit lines only in a file of units, such as \"Unit ns/op better=lower gate=5%%\", and comments that begin with #", strings.TrimSpace(line))
		}
	}
	if wrong > maxSyntaxErrors {
		f.problemf(0, "and %d more lines that are no Unit lines", wrong-maxSyntaxErrors)
	}
	if len(f.units) == 0 && len(f.problems) == 0 {
		f.problemf(0, "no Unit lines: want one or more in a file of units, such as \"Unit ns/op better=lower gate=5%%\"")
	}
}
