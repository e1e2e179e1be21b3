package gate

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/markdown"
)

// Markdown writes the report in GitHub's Markdown, for a pull request or $GITHUB_STEP_SUMMARY: what [Report.Brief] writes,
// and then tables of all rows in a collapsed section. Markdown returns the error of w.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	sign := map[Verdict]string{Pass: "✅", Regression: "❌", CannotJudge: "⚠️"}[r.Verdict]
	fmt.Fprintf(&b, "### %s benchgate: %s\n\n%s", sign, markdown.EscapeInline(r.headline()), markdown.EscapeInline(r.title()))
	for _, s := range r.settings() {
		fmt.Fprintf(&b, ", %s: %s", markdown.EscapeInline(s.Key), markdown.EscapeInline(s.Value))
	}
	b.WriteString("\n")
	rows := r.deciding()
	if len(rows) > 0 {
		r.decision(rows).markdown(&b)
	}
	if remarks := r.remarks(rows); len(remarks) > 0 {
		b.WriteString("\n")
		for _, s := range remarks {
			text := strings.TrimLeft(s, " ")
			fmt.Fprintf(&b, "%s- %s\n", s[:len(s)-len(text)], markdown.Escape(text))
		}
	}
	if hint := r.hint(); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown.Escape(hint))
	}
	gated, others, silent := r.tables()
	if len(gated)+len(others) > 0 {
		b.WriteString("\n<details><summary>All rows</summary>\n")
		for _, t := range gated {
			t.markdown(&b)
		}
		fmt.Fprintf(&b, "\n%s\n", strings.ReplaceAll(markdown.EscapeInline(r.legend()), "\n", "  \n"))
		for _, t := range others {
			t.markdown(&b)
		}
		if text := leftOut(silent); text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown writes the table, with numbers aligned to the right.
func (t *table) markdown(b *strings.Builder) {
	if t.title != "" {
		fmt.Fprintf(b, "\n**%s**\n", markdown.EscapeInline(t.title))
	}
	fmt.Fprintf(b, "\n| %s |\n|", strings.Join(t.head, " | "))
	for _, s := range t.head {
		if s == "" || s == "verdict" {
			b.WriteString(" --- |")
		} else {
			b.WriteString(" ---: |")
		}
	}
	b.WriteString("\n")
	for _, row := range t.rows {
		b.WriteString("|")
		for _, s := range row {
			s = markdown.EscapeInline(s)
			if s == "REGRESSION" {
				s = "**" + s + "**"
			}
			fmt.Fprintf(b, " %s |", s)
		}
		b.WriteString("\n")
	}
}
