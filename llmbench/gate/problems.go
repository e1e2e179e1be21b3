package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

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
