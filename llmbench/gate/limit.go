package gate

import (
	"fmt"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// A limit is the budget of a unit, which does not depend on old results:
//
//	Unit p99-ttft-ns better=lower max=2ms
//	Unit output-tok/s better=higher min=500
type limit struct {
	amount float64 // in the tidied unit
	better int     // -1 for max=, +1 for min=
	by     *benchfmt.UnitMetadata
}

// problem returns a problem of the limit's Unit line.
func (l *limit) problem(format string, args ...any) Problem {
	file, line := l.by.Pos()
	return Problem{File: file, Line: line, Message: fmt.Sprintf("unit %s: %s=%s: ", l.by.OrigUnit, l.by.Key, l.by.Value) + fmt.Sprintf(format, args...)}
}

// parseLimit parses the value of max= or min=: a number in the unit as the line spells it, or a duration such as "2ms" if
// the unit is a time.
func parseLimit(by *benchfmt.UnitMetadata) (*limit, error) {
	l := &limit{better: map[string]int{"max": -1, "min": +1}[by.Key], by: by}
	unit := by.OrigUnit
	v, err := parseAmount(by.Value, unit)
	if err != nil || v == 0 && l.better > 0 {
		want := "want a number above 0"
		if l.better < 0 {
			want = "want a number of 0 or more"
		}
		if nanoseconds(unit) > 0 {
			want += ", or a duration such as 2ms"
		}
		return nil, fmt.Errorf("%s", want)
	}
	l.amount, _ = benchunit.Tidy(v, unit)
	return l, nil
}
