package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
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

// parseAmount parses an amount of a unit: a finite number of 0 or more in the unit as a line spells it, or a duration such
// as "2ms" if the unit is a time.
func parseAmount(s, unit string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if in := nanoseconds(unit); err != nil && in > 0 {
		var d time.Duration
		if d, err = time.ParseDuration(s); err == nil {
			v = float64(d) / in
		}
	}
	if err == nil && (!(v >= 0) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// nanoseconds returns how many nanoseconds one of a unit of time is, or 0 for other units. The end of its name says what
// it is, as in p50-ttft-ns and added-ttft-ms.
func nanoseconds(unit string) float64 {
	name, per, _ := strings.Cut(unit, "/")
	if per != "" && per != "op" {
		return 0
	}
	return map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}[name[1+strings.LastIndexByte(name, '-'):]]
}

// limited returns the row of a unit with a budget, and the cell that tests its new values. ok is false if there is no
// such row: the new side has no value of the unit.
func (m *matcher) limited(p pair, unit string, r rule) (row Row, c decide.Cell, ok bool) {
	if r.limit == nil || p.new == nil || len(p.new.values[unit]) == 0 {
		return row, c, false
	}
	factor, _ := benchunit.Tidy(1, unit)
	amount := numbers.Rounded(r.limit.amount/factor, 12)
	row = Row{Pkg: p.new.pkg, Name: p.new.name, Unit: unit, Better: r.direction(), Old: p.old.summary(unit), New: p.new.summary(unit),
		Limit: &amount, Verdict: CannotJudge}
	if p.old != nil && row.Old.Median != nil && row.New.Median != nil && *row.Old.Median > 0 {
		row.Change = known(*row.New.Median / *row.Old.Median - 1)
	}
	return row, decide.Cell{New: p.new.values[unit], Better: r.better, Limit: &amount}, true
}

// checkLimit reports whether a row with a budget can be tested. It adds a problem if too few results have a value,
// because a budget that could not have been exceeded is not kept.
func (r *Report) checkLimit(g gatedRow, limits int, others bool, p decide.Plan) bool {
	row := &r.Rows[g.index]
	if lacksMany(g.new.missing(row.Unit), g.new.expected()) {
		row.Lacks = true
		return false
	}
	n := max(len(g.New), p.Rounds-(r.Samples-len(g.New)))
	if !decide.EnoughForLimit(n, limits, others, p.Final()) {
		want := decide.MinForLimit(limits, others, p.Final())
		r.Problems = append(r.Problems, Problem{r.New, g.new.line, row.Pkg, row.Name, row.Unit,
			fmt.Sprintf("%d samples: want at least %d for a budget at alpha %.3g", n, want, p.Final())})
		return false
	}
	return !r.troubled(row)
}

// loses reports whether only the old side of p has values of a unit.
func (p pair) loses(unit string) bool {
	return p.old != nil && p.new != nil && len(p.old.values[unit]) > 0 && len(p.new.values[unit]) == 0
}

// noBudget returns the problem that no new result has a unit with a budget.
func (m *matcher) noBudget() Problem {
	for _, r := range m.rules {
		for _, p := range m.pairs {
			if why := m.whyLost(p); r.limit != nil && why != "" {
				return Problem{File: m.new.name, Message: "no result has a unit with a budget: " + why}
			}
		}
	}
	return Problem{File: m.new.name, Message: "no unit of these results has a budget: want a line such as \"Unit p99-ttft-ns better=lower max=2ms\", or old results to compare with"}
}

// limitText describes the budget of a row, such as "at most 2.000ms".
func (row *Row) limitText() string {
	if row.Better == "higher" {
		return "at least " + amount(*row.Limit, row.Unit)
	}
	return "at most " + amount(*row.Limit, row.Unit)
}

// limitReason says how the new values of a row stand to its budget.
func (row *Row) limitReason() string {
	text := fmt.Sprintf("%s, budget %s", row.New.text(row.Unit), row.limitText())
	switch row.Verdict {
	case Regression:
		if row.Better == "higher" {
			return text + ": missed"
		}
		return text + ": exceeded"
	case CannotJudge:
		return text + ": the budget is within the interval of the median: want more samples or a quieter machine"
	}
	return text
}

// limitOr returns limitReason if the row is about a budget that decides its verdict, otherwise text.
func (row *Row) limitOr(text string) string {
	if row.Limit == nil || row.Lacks {
		return text
	}
	return row.limitReason()
}
