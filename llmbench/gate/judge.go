package gate

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// report tests the gated rows and returns the report.
func (m *matcher) report(o Options) *Report {
	r := &Report{Verdict: Pass, Planned: o.Planned, Power: Power, Old: m.old.name, New: m.new.name,
		Config: m.settings(), Rows: []Row{}, Problems: append([]Problem{}, m.problems...)}
	var gated []gatedRow
	for _, p := range m.pairs {
		for _, unit := range m.unitsOf(p) {
			rule := ruleOf(m.rules, unit)
			if rule.gated {
				g := gatedRow{p.cell(unit, rule), len(r.Rows), p.either().line}
				r.Samples = max(r.Samples, len(g.old), len(g.new))
				gated = append(gated, g)
			}
			r.Rows = append(r.Rows, p.row(unit, rule))
		}
	}
	r.Cells = len(gated)
	plan := newPlan(o.Planned, r.Cells, o.Alpha)
	alpha, looks := plan.alpha(r.Samples)
	r.Alpha = alpha
	decided := true // no row can become a regression, and no benchmark is unlike
	for _, p := range m.pairs {
		unlike := m.unlike(p)
		if looks {
			r.Problems = append(r.Problems, unlike...)
		} else if len(unlike) > 0 { // further samples may change the medians
			decided = false
		}
	}
	gated = slices.DeleteFunc(gated, func(g gatedRow) bool { return !r.judgeable(g, plan) })
	cells, reverse := make([]cell, len(gated)), make([]cell, len(gated))
	for i, g := range gated {
		cells[i], reverse[i] = g.cell, g.reversed()
	}
	better := testCells(reverse, r.Cells)
	for i, p := range testCells(cells, r.Cells) {
		row := &r.Rows[gated[i].index]
		row.PWorse, row.PHolm = known(p.worse), known(p.holm)
		row.Improved, row.Verdict = looks && atMost(better[i].holm, alpha), Pass
		row.Detectable = known(cells[i].detectable(r.Cells, plan))
		switch {
		case looks && atMost(p.holm, alpha):
			row.Verdict, r.Verdict = Regression, Regression
		case o.RequireQuiet && !row.quiet():
			if plan.complete(r.Samples) {
				row.Verdict = CannotJudge
				r.problemf(gated[i], "%s: want a quieter machine, more samples or a wider margin", row.noiseText())
			}
			decided = false
		default:
			decided = decided && plan.decided(cells[i])
		}
	}
	r.Settled = plan.complete(r.Samples) || r.Verdict == Regression || decided || len(r.Problems) > 0
	if len(r.Problems) > 0 {
		r.Verdict = CannotJudge
	}
	return r
}

// A gatedRow is a gated row before its test.
type gatedRow struct {
	cell
	index int // of the row in Report.Rows
	line  int // of the first result
}

// problemf adds a problem of a gated row.
func (r *Report) problemf(g gatedRow, format string, args ...any) {
	row := r.Rows[g.index]
	r.Problems = append(r.Problems, Problem{r.Old, g.line, row.Pkg, row.Name, row.Unit, fmt.Sprintf(format, args...)})
}

// judgeable reports whether a gated row can be tested. It adds a problem if there are
// too few samples, because the minimum depends on the number of gated rows.
func (r *Report) judgeable(g gatedRow, p plan) bool {
	n1, n2 := len(g.old), len(g.new)
	if n1 > 0 && n2 > 0 && !enough(max(n1, p.rounds), max(n2, p.rounds), r.Cells, p.final) {
		n := minSamples(r.Cells, p.final)
		if p.rounds > 0 {
			r.problemf(g, "%d samples a side are planned: want at least %d for %s at alpha %.3g", p.rounds, n, plural(r.Cells, "gated cell"), p.final)
		} else {
			r.problemf(g, "%d old and %d new samples: want at least %d of each for %s at alpha %.3g", n1, n2, n, plural(r.Cells, "gated cell"), p.final)
		}
	}
	if p.rounds > 0 && n1 > 0 && n2 > 0 && (n1 != r.Samples || n2 != r.Samples) {
		r.problemf(g, "%d old and %d new samples: want one of each process, %d", n1, n2, r.Samples)
	}
	row := &r.Rows[g.index]
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.concerns(row) })
}

// cell returns the samples of a unit of p, with the direction and margin of rule.
func (p pair) cell(unit string, rule rule) cell {
	c := cell{better: rule.better, margin: rule.margin}
	if p.old != nil {
		c.old = p.old.values[unit]
	}
	if p.new != nil {
		c.new = p.new.values[unit]
	}
	return c
}

// row returns the row of a unit of p, without the result of the test.
func (p pair) row(unit string, rule rule) Row {
	c := p.cell(unit, rule)
	row := Row{Pkg: p.either().pkg, Name: p.either().name, Unit: unit, Better: rule.direction(),
		Old: summarize(c.old), New: summarize(c.new), Verdict: NotGated}
	if rule.gated {
		row.Margin, row.Verdict = &rule.margin, CannotJudge
	}
	if row.Old.Median == nil || row.New.Median == nil {
		return row
	}
	if *row.Old.Median == *row.New.Median {
		row.Change = known(0)
	} else {
		row.Change = known(*row.New.Median / *row.Old.Median - 1)
	}
	if c.better != 0 {
		row.Noise = known(math.Hypot(row.Old.halfWidth(), row.New.halfWidth()))
	}
	row.P = known(benchmath.AssumeNothing.Compare(newSample(c.old), newSample(c.new)).P)
	return row
}

// quiet reports whether the noise of the row is at most its margin.
func (row *Row) quiet() bool { return row.Noise != nil && *row.Noise <= *row.Margin }

// noiseText explains why the row is not quiet.
func (row *Row) noiseText() string {
	if row.Noise == nil {
		return "the noise is not known"
	}
	return fmt.Sprintf("a margin of %.2g%% is less than the noise, %.2g%%", 100**row.Margin, 100**row.Noise)
}
