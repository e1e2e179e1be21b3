package gate

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
)

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
