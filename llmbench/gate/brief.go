package gate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// mostDeciding is the maximum number of rows that decide in a brief report.
const mostDeciding = 10

// Brief writes the part of the report that a reader needs first, for a terminal: the verdict, the rows that decide it,
// at most ten of them, and what to do. [Report.Text] writes all rows. Brief returns the error of w.
func (r *Report) Brief(w io.Writer) error {
	var b strings.Builder
	r.brief(&b)
	if rest := r.rest(); rest != "" {
		fmt.Fprintf(&b, "-v also prints %s, with p-values and intervals\n", rest)
	}
	fmt.Fprintln(&b, r.headline())
	_, err := io.WriteString(w, b.String())
	return err
}

// brief writes Brief without its last lines.
func (r *Report) brief(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n\n%s\n", r.headline(), r.title())
	for _, s := range r.settings() {
		fmt.Fprintf(b, "%s: %s\n", s.Key, s.Value)
	}
	rows := r.deciding()
	if len(rows) > 0 {
		r.decision(rows).text(b)
	}
	b.WriteString("\n")
	for _, s := range r.remarks(rows) {
		fmt.Fprintf(b, "  %s\n", s)
	}
	if hint := r.hint(); hint != "" {
		fmt.Fprintln(b, hint)
	}
}

// remarks returns what a reader should know besides the rows that decide, a line each: large changes of rows that are not
// gated, what is missing, why rows cannot be judged, and notes. A table shows the rows shown.
func (r *Report) remarks(shown []*Row) (lines []string) {
	if moves := r.moves(shown...); len(moves) > 0 {
		lines = append(lines, movesTitle())
		for _, s := range moves {
			lines = append(lines, "  "+s)
		}
	}
	own := slices.DeleteFunc(slices.Clone(shown), func(row *Row) bool { return row.Source != nil }) // a line has the figures of another tool
	lines = append(lines, slices.Concat(r.lacking(), r.reasons(own...), r.power())...)
	for _, s := range r.Notes {
		lines = append(lines, "note: "+redact.Line(s))
	}
	return lines
}

// deciding returns the gated rows that decide the verdict, worst first, and at most mostDeciding. Rows of one side only are
// last, except if that is a problem.
func (r *Report) deciding() (rows []*Row) {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.gated() {
			rows = append(rows, row)
		}
	}
	rank := map[Verdict]int{Regression: 0, CannotJudge: 1, Pass: 2, NoWorse: 2, Removed: 4, Added: 5}
	if r.NoWorse {
		rank[NoWorse] = 3
	}
	of := func(row *Row) int {
		if slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.whole() && p.concerns(row) }) {
			return rank[CannotJudge]
		}
		return rank[row.Verdict]
	}
	slices.SortStableFunc(rows, func(x, y *Row) int {
		return cmp.Or(cmp.Compare(of(x), of(y)), cmp.Compare(y.excess(), x.excess()))
	})
	return rows[:min(len(rows), mostDeciding)]
}

// decision returns the table of the rows that decide, with their names in words.
func (r *Report) decision(rows []*Row) *table {
	t := &table{head: []string{"", "old", "new", "change", "allowed", "verdict"}}
	name := r.namer()
	for _, row := range rows {
		allowed := ""
		switch {
		case row.Limit != nil:
			allowed = row.limitText()
		case row.Margin != nil:
			allowed = row.Gate + " worse"
		}
		t.rows = append(t.rows, []string{name(row), row.Old.text(row.Unit), row.New.text(row.Unit), row.ChangeText(), allowed, row.verdictText()})
	}
	return t
}

// rest says how many rows Brief does not show. It returns "" if there are none.
func (r *Report) rest() string {
	gated, others := 0, 0
	for i := range r.Rows {
		switch row := &r.Rows[i]; {
		case row.gated():
			gated++
		case row.Withheld == nil && !row.silent():
			others++
		}
	}
	var parts []string
	if n := gated - mostDeciding; n > 0 {
		parts = append(parts, numbers.Count(n, "more gated row"))
	}
	if others > 0 {
		parts = append(parts, numbers.Count(others, "row")+" without a margin")
	}
	return strings.Join(parts, " and ")
}
