package report

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/markdown"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
)

// These are the largest numbers of lines of a kind in texts. So a text has fewer than 60 lines. The
// page has all of them.
const (
	maxSaid     = 12 // paragraphs of the answer
	maxStated   = 3  // what servers said about themselves
	maxLines    = 55 // lines without empty ones
	maxWarnings = 6
	maxNotes    = 4
	maxRunes    = 600 // characters of a line
)

// table returns the first rows of the table that shows the answer. The text has so many other lines.
func (r *Report) table(others int) pictures.Table {
	t := r.brief.Trimmed()
	if most := max(5, maxLines-others); len(t.Rows) > most {
		left := make([]string, len(t.Head))
		left[0] = fmt.Sprintf("%d more rows are on the page", len(t.Rows)-most+1)
		t.Rows = append(t.Rows[:most-1:most-1], left)
	}
	return t
}

// told returns at most so many texts.
func told(all []string, most int) (shown []string) {
	for i, text := range all {
		if i == most {
			return append(shown, fmt.Sprintf("%d more are on the page", len(all)-i))
		}
		if runes := []rune(text); len(runes) > maxRunes {
			text = string(runes[:maxRunes]) + "…"
		}
		shown = append(shown, text)
	}
	return shown
}

// opening returns the first lines of a text: the short answer, or the first paragraph, what servers said about
// themselves, the tiles, and what comes next. The other paragraphs are the rest.
func (r *Report) opening() (lines, rest []string) {
	rest = told(r.Answer, maxSaid)
	if r.Short != "" {
		lines = []string{r.Short}
	} else if len(rest) > 0 {
		lines, rest = rest[:1:1], rest[1:]
	}
	lines = append(lines, told(r.Stated, maxStated)...)
	for _, t := range r.Tiles {
		lines = append(lines, tileText(t))
	}
	if len(r.Next) > 0 {
		lines = append(lines, "Next: "+strings.Join(r.Next, "; "))
	}
	return lines, rest
}

// tileText returns a tile as a line.
func tileText(t answer.Tile) string {
	var values []string
	for _, v := range t.Values {
		values = append(values, strings.TrimSpace(v.Name+" "+v.Text))
	}
	text := t.Label + ": " + strings.Join(values, ", ")
	if t.Detail != "" {
		text += " (" + t.Detail + ")"
	}
	return text
}

// Text returns the answer for a terminal: the short answer with its figures, the table, the paragraphs, what was
// measured, the warnings and the notes, in fewer than 60 lines. The lines of paragraphs are not wrapped.
func (r *Report) Text() string {
	said, rest := r.opening()
	for _, f := range r.Facts {
		rest = append(rest, f[0]+": "+f[1])
	}
	for _, text := range told(r.Warnings, maxWarnings) {
		rest = append(rest, "warning: "+text)
	}
	for _, text := range told(r.Notes, maxNotes) {
		rest = append(rest, "note: "+text)
	}
	var b strings.Builder
	lines := func(all []string) {
		for _, line := range all {
			fmt.Fprintln(&b, redact.Line(line))
		}
	}
	lines(said)
	if t := r.table(len(said) + len(rest)); len(t.Rows) > 0 {
		fmt.Fprintln(&b)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range slices.Concat([][]string{t.Head}, t.Rows) {
			last := len(row) // a cell at the end of a line gets no spaces
			for last > 1 && row[last-1] == "" {
				last--
			}
			for i, cell := range row[:last] {
				fmt.Fprint(w, strings.Repeat("\t", min(i, 1)), redact.Line(cell))
			}
			fmt.Fprintln(w)
		}
		w.Flush() // writing to a Builder never fails
		lines(r.caption())
		fmt.Fprintln(&b)
	}
	lines(rest)
	return b.String()
}

// caption returns the caption of the table as lines.
func (r *Report) caption() []string {
	if r.Lead == nil || r.Lead.Caption == "" {
		return nil
	}
	return []string{r.Lead.Caption}
}

// Markdown returns what [Report.Text] does for a pull request, in GitHub Flavored Markdown
// (https://github.github.com/gfm/).
func (r *Report) Markdown() string {
	said, paragraphs := r.opening()
	var rest []string
	for _, text := range told(r.Warnings, maxWarnings) {
		rest = append(rest, "- ⚠ "+marked(text))
	}
	for _, text := range told(r.Notes, maxNotes) {
		rest = append(rest, "- "+marked(text))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n", marked(r.Title))
	for i, text := range said {
		if text = marked(text); i == 0 {
			text = "**" + text + "**\n"
		} else {
			text = "- " + text
		}
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("\n", 1-min(i, 1)), text)
	}
	if t := r.table(len(said) + 2*len(paragraphs) + len(rest) + 6); len(t.Rows) > 0 {
		rule := []string{":---"}
		for range t.Head[1:] {
			rule = append(rule, "---:")
		}
		fmt.Fprintln(&b)
		for i, row := range slices.Concat([][]string{t.Head, rule}, t.Rows) {
			cells := slices.Clone(row)
			for n := range cells {
				if i != 1 {
					cells[n] = marked(cells[n])
				}
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		for _, text := range r.caption() {
			fmt.Fprintf(&b, "\n%s\n", marked(text))
		}
	}
	for _, text := range paragraphs {
		fmt.Fprintf(&b, "\n%s\n", marked(text))
	}
	if len(rest) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(rest, "\n"))
	}
	if line := r.Line(); line != "" {
		fmt.Fprintf(&b, "\n<sub>%s</sub>\n", marked(line))
	}
	return b.String()
}

// marked escapes a text for Markdown. The text becomes a part of one line.
func marked(text string) string { return markdown.Escape(redact.Line(text)) }
