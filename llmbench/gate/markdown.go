package gate

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report in GitHub's Markdown, for a pull request or $GITHUB_STEP_SUMMARY: what [Report.Brief] writes,
// and then tables of all rows in a collapsed section. Markdown returns the error of w.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	sign := map[Verdict]string{Pass: "✅", Regression: "❌", CannotJudge: "⚠️"}[r.Verdict]
	fmt.Fprintf(&b, "### %s benchgate: %s\n\n%s", sign, escape(r.headline()), escape(r.title()))
	for _, s := range r.settings() {
		fmt.Fprintf(&b, ", %s: %s", escape(s.Key), escape(s.Value))
	}
	b.WriteString("\n")
	if t := r.decision(); t != nil {
		t.markdown(&b)
	}
	if remarks := r.remarks(); len(remarks) > 0 {
		b.WriteString("\n")
		for _, s := range remarks {
			text := strings.TrimLeft(s, " ")
			fmt.Fprintf(&b, "%s- %s\n", s[:len(s)-len(text)], EscapeMarkdown(text))
		}
	}
	if hint := r.hint(); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", EscapeMarkdown(hint))
	}
	gated, others, silent := r.tables()
	if len(gated)+len(others) > 0 {
		b.WriteString("\n<details><summary>All rows</summary>\n")
		for _, t := range gated {
			t.markdown(&b)
		}
		fmt.Fprintf(&b, "\n%s\n", strings.ReplaceAll(escape(r.legend()), "\n", "  \n"))
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
		fmt.Fprintf(b, "\n**%s**\n", escape(t.title))
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
			s = escape(s)
			if s == "REGRESSION" {
				s = "**" + s + "**"
			}
			fmt.Fprintf(b, " %s |", s)
		}
		b.WriteString("\n")
	}
}

// EscapeMarkdown returns text with everything escaped that GitHub Flavored Markdown (https://github.github.com/gfm/)
// would take for a column, for markup, for a link or for a mention of a user, also where a block begins. Ends of
// lines remain.
func EscapeMarkdown(text string) string {
	var b strings.Builder
	for line := range strings.Lines(escape(text)) {
		b.WriteString(escapeStart(line))
	}
	return b.String()
}

// escape is EscapeMarkdown for a text that follows another one on its line, or that is in a table.
var escape = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `~`, `\~`, `#`, `\#`, `$`, `\$`,
	`<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, `@`, `&#64;`, `://`, `\://`, `www.`, `www\.`,
).Replace

// escapeStart escapes what would make a line an item of a list, code, a heading or a part of a table.
func escapeStart(line string) string {
	ends := func(i int, set string) bool {
		return i == len(line) || strings.IndexByte(set, line[i]) >= 0
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	switch {
	case digits == len(line):
	case digits > 0 && strings.IndexByte(".)", line[digits]) >= 0 && ends(digits+1, " \t\n"):
		return line[:digits] + `\` + line[digits:]
	case strings.IndexByte("-+=:", line[0]) >= 0 && ends(1, " \t\n-+=:"):
		return `\` + line
	case line[0] == ' ' || line[0] == '\t':
		return "&#32;" + line[1:]
	}
	return line
}
