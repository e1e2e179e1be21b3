package gate

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"golang.org/x/perf/benchunit"
)

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
