package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// maxSubjects is the maximum number of rows that are named in one reason.
const maxSubjects = 8

// reasons explains why the verdict is not Pass. It returns a line for each regression except the given ones, which a table
// shows, for each row that cannot be judged because of its noise, and for each problem. Problems with the same message
// share a line.
func (r *Report) reasons(except ...*Row) []string {
	var lines []string
	begin := r.worder()
	for i := range r.Rows {
		switch row := &r.Rows[i]; {
		case row.Withheld != nil:
			if row.Withheld.New+row.Withheld.Old > 0 {
				lines = append(lines, fmt.Sprintf("%s: %s", r.qualify(row.Pkg, row.Name), r.withheldText(row)))
			}
		case row.Verdict == Regression && slices.Contains(except, row): // the table says all
		case row.Limit != nil && !row.Lacks && (row.Verdict == Regression || row.Verdict == CannotJudge && row.PAdjusted != nil):
			lines = append(lines, fmt.Sprintf("%s %s", begin(row), row.limitReason()))
		case row.Verdict == Regression:
			lines = append(lines, fmt.Sprintf("%s %s, may be %s worse", begin(row), row.ChangeText(), row.Size(*row.Margin, 4)))
		}
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Lacks {
			lines = append(lines, fmt.Sprintf("%s %s", begin(row), row.lackReason()))
		} else if row.Verdict == CannotJudge && row.Margin != nil && row.PAdjusted != nil && !r.troubled(row) {
			lines = append(lines, fmt.Sprintf("%s %s", begin(row), row.noiseText()))
		} else if r.NoWorse && row.Verdict == Pass && row.Margin != nil && r.Settled {
			lines = append(lines, fmt.Sprintf("%s may be %s, worse than the margin of %s allows: want %s",
				begin(row), row.percent(row.Bound, 2), row.Size(*row.Margin, 4), row.wants()))
		}
	}
	for _, g := range r.grouped() {
		lines = append(lines, g.line())
	}
	return lines
}

// power returns a line that says what a pass would have found, unless the headline says it.
func (r *Report) power() []string {
	if found := r.found(); r.Verdict == Pass && found != "" && r.countWithin() == r.Cells {
		return []string{found}
	}
	return nil
}

// troubled reports whether a problem applies to the row.
func (r *Report) troubled(row *Row) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.concerns(row) })
}

// noiseText explains why a row cannot be judged.
func (row *Row) noiseText() string {
	switch {
	case row.Noise == nil:
		return "the noise is not known: want a quieter machine or more samples"
	case row.Few:
		return fmt.Sprintf("cannot judge: %s is worse than the margin of %s by more than the noise, %s, but too few samples show it (p worse %s): want about %d samples a side",
			row.ChangeText(), row.Size(*row.Margin, 4), row.Size(*row.Noise, 2), decimals(row.PAdjusted), row.Wanted)
	case row.Detectable == nil && *row.Noise <= *row.Margin:
		return fmt.Sprintf("cannot judge: with noise of %s, no regression would be found, however large: want a quieter machine or more samples", row.Size(*row.Noise, 2))
	case row.Points:
		return fmt.Sprintf("cannot judge: the counts allow errors of %s, more than the margin of %s: want about %d samples a side, more observations in each, or a wider margin",
			row.Size(*row.Noise, 2), row.Size(*row.Margin, 4), row.Wanted)
	case row.Wanted == 0:
		return fmt.Sprintf("cannot judge: the noise, %s, is more than the margin of %s: want a quieter machine, more samples or a wider margin",
			row.Size(*row.Noise, 2), row.Size(*row.Margin, 4))
	}
	return fmt.Sprintf("cannot judge: the noise, %s, is more than the margin of %s: want a quieter machine, about %d samples a side or a wider margin",
		row.Size(*row.Noise, 2), row.Size(*row.Margin, 4), row.Wanted)
}

// wants says what a row needs to be shown to be no worse.
func (row *Row) wants() string {
	if row.Points {
		return "more observations"
	}
	return "a quieter machine or more samples"
}

// why returns the first problem in brief, and the number of other problems.
func (r *Report) why() string {
	all := r.grouped()
	if len(all) == 0 {
		return "no problem is known"
	}
	s := all[0].line()
	if n := len(all[0].subjects) - 1; n > 0 {
		s = redact.Line(fmt.Sprintf("%s and %d more: %s", all[0].subjects[0], n, all[0].first.Message))
	}
	if n := len(all) - 1; n > 0 {
		s += fmt.Sprintf(", and %s", numbers.Count(n, "other problem"))
	}
	return s
}

// A reason is a problem, and the rows to which the problem applies.
type reason struct {
	first    Problem
	subjects []string
}

// grouped returns one reason for all problems with the same file and message.
func (r *Report) grouped() []*reason {
	type key struct{ file, message string }
	var all []*reason
	byKey := map[key]*reason{}
	for _, p := range r.Problems {
		k := key{p.File, p.Message}
		if p.whole() {
			k.message += p.Position()
		}
		if byKey[k] == nil {
			byKey[k] = &reason{first: p}
			all = append(all, byKey[k])
		}
		if s := p.subject(r); !slices.Contains(byKey[k].subjects, s) {
			byKey[k].subjects = append(byKey[k].subjects, s)
		}
	}
	return all
}

// line returns the reason as a line of text, with the position of the first row.
func (s *reason) line() string {
	var parts []string
	for _, part := range []string{s.first.Position(), list(s.subjects, maxSubjects), s.first.Message} {
		if part != "" {
			parts = append(parts, redact.Line(part))
		}
	}
	return strings.Join(parts, ": ")
}

// list joins names, at most limit of them.
func list(names []string, limit int) string {
	s := strings.Join(names[:min(limit, len(names))], ", ")
	if n := len(names) - limit; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
