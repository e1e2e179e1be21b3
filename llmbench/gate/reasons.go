package gate

import (
	"fmt"
	"slices"
	"strings"
)

// maxSubjects is the maximum number of rows that are named for one reason.
const maxSubjects = 8

// reasons explains why the verdict is not Pass. It returns a line for each regression
// and for each problem; problems with the same message share a line.
func (r *Report) reasons() []string {
	var lines []string
	for _, row := range r.Rows {
		if row.Verdict == Regression {
			lines = append(lines, fmt.Sprintf("%s %s: %s, may be %.4g%% worse",
				r.qualify(row.Pkg, row.Name), printable(row.Unit), row.changeText(), 100**row.Margin))
		}
	}
	return append(lines, r.problemLines()...)
}

// problemLines returns a line for each message about a file, with the position of the
// first row.
func (r *Report) problemLines() []string {
	type reason struct {
		first    Problem
		subjects []string
	}
	type key struct{ file, message string }
	var all []*reason
	byKey := map[key]*reason{}
	for _, p := range r.Problems {
		k := key{p.File, p.Message}
		if p.whole() {
			k.message += p.position()
		}
		if byKey[k] == nil {
			byKey[k] = &reason{first: p}
			all = append(all, byKey[k])
		}
		if s := p.subject(r); !slices.Contains(byKey[k].subjects, s) {
			byKey[k].subjects = append(byKey[k].subjects, s)
		}
	}
	var lines []string
	for _, s := range all {
		names := strings.Join(s.subjects[:min(maxSubjects, len(s.subjects))], ", ")
		if n := len(s.subjects) - maxSubjects; n > 0 {
			names += fmt.Sprintf(" and %d more", n)
		}
		var parts []string
		for _, part := range []string{s.first.position(), names, s.first.Message} {
			if part != "" {
				parts = append(parts, printable(part))
			}
		}
		lines = append(lines, strings.Join(parts, ": "))
	}
	return lines
}
