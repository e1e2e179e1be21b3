package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Whose doing it is that figures were withheld: the value of withheld= in a Unit line.
const (
	withheldServer = "server" // what was measured: more of such results are a regression
	withheldClient = "client" // the program or the machine that measures: more of such results cannot be judged
)

// reasonsOf returns the units of a side that say why figures were withheld.
func (m *matcher) reasonsOf(s *samples) (units []string) {
	if s == nil {
		return nil
	}
	for _, unit := range s.units {
		if ruleOf(m.rules, unit).withheld != "" && slices.ContainsFunc(s.values[unit], func(v float64) bool { return v > 0 }) {
			units = append(units, unit)
		}
	}
	return units
}

// marked returns, for each result, whether it has a value above 0 of the unit.
func (s *samples) marked(unit string) []bool {
	all := make([]bool, s.n)
	for i, result := range s.of[unit] {
		all[result] = s.values[unit][i] > 0
	}
	return all
}

// withheldUnits returns the gated units of p that no result with the reason has and some results without the reason
// have. Only these show that a result without the reason was sound.
func (m *matcher) withheldUnits(p pair, reason string) (units []string) {
	for _, unit := range m.unitsOf(p) {
		r := ruleOf(m.rules, unit)
		if !r.gated && r.limit == nil {
			continue
		}
		with, without := false, false
		for _, s := range []*samples{p.old, p.new} {
			marked := s.marked(reason)
			for _, result := range s.of[unit] {
				with, without = with || marked[result], without || !marked[result]
			}
		}
		if without && !with {
			units = append(units, unit)
		}
	}
	return units
}

// marks returns the cell that tests whether one side has a reason for withholding in more results. A result that has
// neither the reason nor a figure that the reason withholds says nothing, for example because an older version of the
// program that wrote the file did not report reasons. ok is false if no result is known to be without the reason.
func (m *matcher) marks(p pair, reason string, o Options) (c decide.Cell, withheld []string, ok bool) {
	if p.old == nil || p.new == nil {
		return c, nil, false
	}
	withheld = m.withheldUnits(p, reason)
	c = decide.Cell{Better: -1, Marks: true, InTurns: true, NewFirst: o.NewFirst}
	side := func(s *samples) (values []float64, rounds []int) {
		for result, has := range s.marked(reason) {
			v := 0.
			if has {
				v = 1
			} else if !slices.ContainsFunc(withheld, func(unit string) bool { return slices.Contains(s.of[unit], result) }) {
				continue
			}
			values, rounds = append(values, v), append(rounds, result)
		}
		return values, rounds
	}
	old, ofOld := side(p.old)
	new, ofNew := side(p.new)
	if o.NewFirst == nil {
		c.Old, c.New = old, new
		return c, withheld, len(old) > 0 && len(new) > 0
	}
	if !p.paired(len(o.NewFirst)) {
		return c, withheld, false
	}
	c.Rounds = []int{}
	for i, round := range ofOld {
		if j := slices.Index(ofNew, round); j >= 0 {
			c.Old, c.New, c.Rounds = append(c.Old, old[i]), append(c.New, new[j]), append(c.Rounds, round)
		}
	}
	return c, withheld, len(c.Rounds) > 0
}

// marksRow returns the row of a reason, without the result of its test. The numbers of values in it are numbers of
// results with the reason.
func (p pair) marksRow(unit string, r rule, withheld []string) Row {
	count := func(s *samples) (n, of int) {
		if s == nil {
			return 0, 0
		}
		for _, has := range s.marked(unit) {
			if has {
				n++
			}
		}
		return n, s.n
	}
	w := &Withheld{By: r.withheld, Says: r.says, Units: withheld}
	w.Old, w.OfOld = count(p.old)
	w.New, w.OfNew = count(p.new)
	return Row{Pkg: p.new.pkg, Name: p.new.name, Unit: unit, Better: r.direction(), Old: p.old.summary(unit), New: p.new.summary(unit),
		Withheld: w, Verdict: NotGated}
}

// judgeMarks completes the verdict of a row about withheld figures. found says that the test after each round has shown
// that new has the reason in more results. What the client or the machine withholds is no regression of the server.
func (row *Row) judgeMarks(found bool) {
	if found {
		row.Verdict = Regression
	}
	switch {
	case row.Verdict == Regression && row.Withheld.By == withheldClient:
		row.Verdict = CannotJudge
	case row.Verdict == Pass: // the sides do not differ, which says nothing about how good new is
		row.Verdict = NotGated
	}
}

// shows reports whether the row says why a unit is missing, and the sides differ in that.
func (row *Row) shows(s Subject) bool {
	return row.Withheld != nil && (row.Verdict == Regression || row.Verdict == CannotJudge) &&
		row.Pkg == s.Pkg && row.Name == s.Name && slices.Contains(row.Withheld.Units, s.Unit)
}

// showsWithheld reports whether a row about withheld figures shows a difference of the sides.
func (r *Report) showsWithheld() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool {
		return row.Withheld != nil && (row.Improved || row.Verdict == Regression || row.Verdict == CannotJudge)
	})
}

// nothing returns the problem that no row can be judged.
func (m *matcher) nothing(marked []gatedRow) Problem {
	for _, g := range marked {
		r := g.marksRow(g.unit, ruleOf(m.rules, g.unit), nil)
		return Problem{Message: "no gated row is in both files, so nothing can be judged: " + r.Withheld.count(shortLabel(m.new.label), g.unit)}
	}
	return Problem{Message: "no gated row is in both files, so nothing can be judged: want old results that have one"}
}

// Text says in how many results of both sides figures were withheld. new names the new side, and unit is the reason.
func (w *Withheld) Text(new, unit string) string {
	does, runs, two := strings.Cut(strings.ReplaceAll(w.Says, "-", " "), ":")
	count := fmt.Sprintf("%d of %s", w.New, numbers.Count(w.OfNew, "run"))
	if !two {
		return redact.Line(fmt.Sprintf("%s: %s have %s%s", new, count, unit, w.before()))
	}
	return redact.Line(fmt.Sprintf("%s %s: %s %s%s", new, does, count, runs, w.before()))
}

// before says in how many old results figures were withheld, or is "" if there are no old results.
func (w *Withheld) before() string {
	if w.OfOld == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %d before", w.Old, w.OfOld)
}

// count is like Text, but does not say that the new side does anything else than the old one.
func (w *Withheld) count(new, unit string) string {
	_, runs, two := strings.Cut(strings.ReplaceAll(w.Says, "-", " "), ":")
	if !two {
		runs = "have " + unit
	}
	return redact.Line(fmt.Sprintf("%d of %s of %s %s%s", w.New, numbers.Count(w.OfNew, "run"), new, runs, w.before()))
}

// withheldText describes a row about figures that were withheld, with the units that are missing for that reason.
func (r *Report) withheldText(row *Row) string {
	w := row.Withheld
	text := w.count(r.newLabel(), row.Unit)
	if row.Verdict == Regression || row.Verdict == CannotJudge {
		text = w.Text(r.newLabel(), row.Unit)
	}
	if len(w.Units) > 0 {
		text += fmt.Sprintf("; %s withheld", list(w.Units, 3))
	}
	return text
}

// Said describes a row about a budget or about withheld figures in words. It returns "" for other rows.
func (r *Report) Said(row *Row) string {
	switch {
	case row.Withheld != nil:
		return r.withheldText(row)
	case row.Limit != nil && !row.Lacks:
		return row.limitReason()
	}
	return ""
}

// betterWithheld describes the first row about figures that were withheld more often in old results, or returns "".
func (r *Report) betterWithheld() string {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Withheld != nil && row.Improved {
			return "better: " + row.Withheld.count(r.newLabel(), row.Unit)
		}
	}
	return ""
}

// newLabel names the new side in a sentence.
func (r *Report) newLabel() string {
	return shortLabel(cmp.Or(r.NewVersion, r.New))
}

// shortLabel returns the name of a side without what follows a comma, as in "the working tree, equal to the base".
func shortLabel(label string) string {
	label, _, _ = strings.Cut(label, ",")
	return label
}

// withheldRows returns the rows about withheld figures that have the verdict v.
func (r *Report) withheldRows(v Verdict) (rows []*Row) {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Withheld != nil && row.Verdict == v {
			rows = append(rows, row)
		}
	}
	return rows
}

// whyLost says why a gated unit is missing in all new results of a benchmark, if these say themselves why figures were
// withheld; otherwise it returns "".
func (m *matcher) whyLost(p pair) string {
	for _, unit := range m.reasonsOf(p.new) {
		r := ruleOf(m.rules, unit)
		w := p.marksRow(unit, r, nil).Withheld
		return w.Text(shortLabel(m.new.label), unit)
	}
	return ""
}
