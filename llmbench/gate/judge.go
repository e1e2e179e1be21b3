package gate

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// report tests the gated rows and returns the report.
func (m *matcher) report(o Options) *Report {
	r := &Report{Verdict: Pass, Planned: o.Planned, Looks: o.Looks(), Paired: o.NewFirst != nil, NoWorse: o.RequireNoWorse, Power: decide.Power,
		Old: m.old.name, New: m.new.name, OldVersion: m.old.version, NewVersion: m.new.version,
		Config: m.settings(), Rows: []Row{}, Problems: append([]Problem{}, m.problems...),
		Added: m.added, Removed: m.removed, Partial: m.old.partial || m.new.partial, OneStart: m.oneStart, Folded: m.folded, Defaults: m.defaults}
	var gated, marked []gatedRow
	awaits, limits := false, 0
	for _, p := range m.pairs {
		for _, unit := range m.unitsOf(p) {
			rule := ruleOf(m.rules, unit)
			if rule.pairs {
				continue // the values say which results are pairs, and nothing else
			}
			if rule.withheld != "" && p.old != nil && p.new != nil {
				if c, units, ok := m.marks(p, unit, o); ok {
					marked = append(marked, gatedRow{c, p, unit, len(r.Rows)})
					r.Rows = append(r.Rows, p.marksRow(unit, rule, units))
					continue
				}
			}
			if row, c, ok := m.limited(p, unit, rule); ok {
				limits++
				gated = append(gated, gatedRow{c, p, unit, len(r.Rows)})
				r.Samples = max(r.Samples, p.new.n, len(o.NewFirst))
				r.Rows = append(r.Rows, row)
			}
			c := p.cell(unit, rule, o)
			if rule.gated && p.has(unit) {
				gated = append(gated, gatedRow{c, p, unit, len(r.Rows)})
				r.Samples = max(r.Samples, p.old.n, p.new.n, len(o.NewFirst))
			}
			row := p.row(unit, rule, c)
			row.Lacks = m.lacks(p, unit)
			awaits = awaits || m.awaits(p, unit)
			r.Rows = append(r.Rows, row)
		}
	}
	r.Cells = len(gated)
	for _, g := range marked {
		r.Samples = max(r.Samples, g.old.n, g.new.n, len(o.NewFirst))
	}
	plan, found := m.plan.Marks(cellsOf(marked))
	alpha, looks := plan.Level(r.Samples)
	r.Alpha, r.Max = numbers.Rounded(alpha, 12), plan.Rounds
	alike := m.judgeLikeness(r, looks)
	others := r.Cells+len(marked) > limits
	gated = slices.DeleteFunc(gated, func(g gatedRow) bool {
		if g.Limit != nil {
			return !r.checkLimit(g, limits, others, plan)
		}
		return !r.judgeable(g, plan)
	})
	gated = append(gated, marked...)
	cells, reverse := cellsOf(gated), make([]decide.Cell, len(gated))
	for i, g := range gated {
		reverse[i] = g.Reversed()
	}
	family := r.Cells + len(marked)
	all, settled := decide.Decide(cells, family, r.Samples, plan, decide.Rules{Quiet: o.RequireQuiet, NoWorse: o.RequireNoWorse})
	var better []decide.PValues
	if looks {
		better = decide.Test(reverse, family)
	}
	for i, d := range all {
		row := &r.Rows[gated[i].index]
		row.PWorse, row.PAdjusted = known(d.Worse), known(d.Adjusted)
		row.Verdict = []Verdict{decide.Pass: Pass, decide.NoWorse: NoWorse, decide.Regression: Regression, decide.TooNoisy: CannotJudge, decide.TooFew: CannotJudge}[d.Outcome]
		if g := gated[i]; g.Marks {
			row.judgeMarks(found[i-len(gated)+len(marked)])
		}
		row.Improved = looks && row.Limit == nil && decide.AtMost(better[i].Adjusted, alpha)
		if row.Limit != nil || row.Withheld != nil {
			continue
		}
		row.Bound = known(cells[i].Bound(alpha))
		row.Detectable = known(cells[i].Detectable(r.Cells, plan.Rounds, plan.Final()))
		switch d.Outcome {
		case decide.TooNoisy:
			row.Wanted = decide.Wanted(r.Samples, cells[i].Noise(), *row.Margin)
		case decide.TooFew:
			row.Few, row.Wanted = true, decide.WantedToShow(r.Samples, d.Adjusted, alpha)
		}
	}
	awaits = awaits || m.ungated && !plan.Complete(r.Samples)
	new := o.EmptyOld && len(m.removed) == 0 && len(marked) == 0 // all benchmarks are new
	if r.Cells == 0 && len(r.Problems) == 0 && len(m.lost) == 0 && !new && !awaits && (looks || len(marked) == 0) && !r.showsWithheld() {
		r.Problems = append(r.Problems, m.nothing(marked))
	}
	if r.count(Regression) == 0 {
		for _, p := range m.lost {
			if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.shows(Subject{p.Pkg, p.Name, p.Unit}) }) {
				r.Problems = append(r.Problems, p)
			}
		}
		for _, g := range gated {
			r.refuseBlind(g, plan)
		}
	}
	if o.budgets && limits == 0 && len(r.Problems) == 0 {
		r.Problems = append(r.Problems, m.noBudget())
	}
	waits := awaits || slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Lacks })
	r.Settled = settled && (alike && !waits || plan.Complete(r.Samples)) || r.count(Regression) > 0 || len(r.Problems) > 0
	switch {
	case len(r.Problems) > 0:
		r.Verdict = CannotJudge
	case r.count(Regression) > 0:
		r.Verdict = Regression
	case r.count(CannotJudge) > 0, o.RequireNoWorse && r.count(Pass) > 0:
		r.Verdict = CannotJudge
	}
	return r
}

// cellsOf returns the cells of rows.
func cellsOf(rows []gatedRow) []decide.Cell {
	cells := make([]decide.Cell, len(rows))
	for i, g := range rows {
		cells[i] = g.Cell
	}
	return cells
}

// judgeLikeness reports whether the two sides of each benchmark agree in the units with a tolerance. At a
// look, every disagreement becomes a problem. Between looks it does not, because further samples may change
// the medians.
func (m *matcher) judgeLikeness(r *Report, looks bool) (alike bool) {
	alike = true
	for _, p := range m.pairs {
		unlike := m.unlike(p)
		if looks {
			r.Problems = append(r.Problems, unlike...)
		}
		alike = alike && len(unlike) == 0
	}
	return alike
}

// problemf adds a problem of a gated row.
func (r *Report) problemf(g gatedRow, format string, args ...any) {
	row := r.Rows[g.index]
	r.Problems = append(r.Problems, Problem{r.Old, g.either().line, row.Pkg, row.Name, row.Unit, fmt.Sprintf(format, args...)})
}

// judgeable reports whether a gated row can be tested. It adds a problem if there are too few samples, or
// if a sample has no pair.
func (r *Report) judgeable(g gatedRow, p decide.Plan) bool {
	row, n1, n2 := &r.Rows[g.index], len(g.Old), len(g.New)
	most := max(min(n1, n2), p.Rounds-(r.Samples-min(n1, n2))) // samples per side at the end
	family, among := 1, ""
	if p.Rounds > 0 {
		family, among = r.pairedRows(row)
	}
	if !row.Lacks && !decide.EnoughFor(most, max(r.Samples, p.Rounds), family, p.Final()) {
		want := decide.MinSamples(p.Final(), family)
		switch {
		case row.Old.Of+row.New.Of > 0:
			row.Lacks = true
		case p.Rounds > 0:
			r.problemf(g, "%d samples a side are planned: want at least %d at alpha %.3g%s (benchgate ab -n=%d)", p.Rounds, want, p.Final(), among, want)
		default:
			r.problemf(g, "%d old and %d new samples: want at least %d of each at alpha %.3g", n1, n2, want, p.Final())
		}
	}
	if r.Paired && !g.paired(len(g.NewFirst)) {
		r.problemf(g, "%d old and %d new samples: want one of each process, %d", g.old.n, g.new.n, len(g.NewFirst))
	}
	return !row.Lacks && !r.troubled(row)
}

// pairedRows returns the number of gated rows that a row of pairs is tested with, and words for it. Other rows, and
// proportions, are tested alone in this sense: the others do not make their smallest p-value larger.
func (r *Report) pairedRows(row *Row) (n int, among string) {
	family := r.Cells
	for _, row := range r.Rows {
		if row.Withheld != nil {
			family++
		}
	}
	if !r.Paired || row.Points || family < 2 {
		return 1, ""
	}
	return family, fmt.Sprintf(" for %d gated rows", family)
}

// refuseBlind adds a problem for a row that passed although it alone could not have been a regression, beside rows that
// are better in every round.
func (r *Report) refuseBlind(g gatedRow, p decide.Plan) {
	row := &r.Rows[g.index]
	if g.Marks || g.Limit != nil {
		return
	}
	if family, among := r.pairedRows(row); row.Verdict == Pass && p.Rounds == 0 && !decide.EnoughFor(len(g.Old), r.Samples, family, p.Final()) {
		row.Verdict = CannotJudge
		r.problemf(g, "%d samples of each side: want at least %d at alpha %.3g%s", len(g.Old), decide.MinSamples(p.Final(), family), p.Final(), among)
	}
}

// cell returns the samples of a unit of p, with the direction and margin of rule. Of pairs only
// those are samples that have a value on both sides.
func (p pair) cell(unit string, rule rule, o Options) decide.Cell {
	c := decide.Cell{Better: rule.better, NewFirst: o.NewFirst, InTurns: o.inTurns}
	if p.old != nil {
		c.Old = p.old.values[unit]
	}
	if p.new != nil {
		c.New = p.new.values[unit]
	}
	switch {
	case rule.margin.points:
		c.Trials = &decide.Trials{}
		if p.old != nil {
			c.Trials.Old = p.old.values[rule.of]
		}
		if p.new != nil {
			c.Trials.New = p.new.values[rule.of]
		}
	case o.NewFirst != nil && p.has(unit) && p.paired(len(o.NewFirst)):
		c.Old, c.New, c.Rounds = p.complete(unit)
	}
	negative := p.negative(unit)
	if c.Margin, c.Amounts = rule.margin.of(summarize(c.Old).Median, negative, unit); !rule.gated {
		c.Amounts = negative // no change is a share of such values
	}
	return c
}

// row returns the row of a unit of p, without the result of the test.
func (p pair) row(unit string, rule rule, c decide.Cell) Row {
	row := Row{Pkg: p.either().pkg, Name: p.either().name, Unit: unit, Better: rule.direction(),
		Old: p.old.summary(unit), New: p.new.summary(unit), Verdict: NotGated, Amounts: c.Amounts}
	if rule.gated {
		row.Margin, row.Points, row.Verdict = &c.Margin, rule.margin.points, CannotJudge
		row.Gate = rule.margin.text(unit)
		switch {
		case row.Old.N == 0:
			row.Verdict = Added
		case row.New.N == 0:
			row.Verdict = Removed
		}
	}
	if c.Rounds != nil {
		row.Pairs = len(c.Rounds)
	}
	if row.Old.Median == nil || row.New.Median == nil {
		return row
	}
	row.P = known(benchmath.AssumeNothing.Compare(newSample(p.old.values[unit]), newSample(p.new.values[unit])).P)
	if c.Trials != nil {
		if countsOf(c.Old, c.Trials.Old) == nil && countsOf(c.New, c.Trials.New) == nil {
			row.Change, row.Noise = known(c.Difference()), known(c.Noise())
		}
		return row
	}
	whole := c.NewFirst == nil || p.paired(len(c.NewFirst)) && len(c.Old) > 0
	switch {
	case !c.Amounts && p.negative(unit):
		return row // no change is a share of such values
	case c.NewFirst != nil && whole:
		change := c
		change.Better, change.Margin = -1, 0
		row.Change = known(change.Change(change.Estimate().Difference))
	case *row.Old.Median == *row.New.Median:
		row.Change = known(0)
	case c.Amounts:
		row.Change = known(*row.New.Median - *row.Old.Median)
	default:
		row.Change = known(*row.New.Median / *row.Old.Median - 1)
	}
	if c.Better != 0 && whole {
		row.Noise = known(c.Noise())
	}
	return row
}
