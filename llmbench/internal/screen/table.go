package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// maxNotes is the maximum number of notes that are shown for a row, and maxNoteLines is the maximum number
// of lines of a note. The log has all of them.
const maxNotes, maxNoteLines = 5, 4

// maxLabel is the maximum width of the first column.
const maxLabel = 18

// String returns the table, in lines of at most width columns. It returns "" if there is nothing to show.
func (o *Overview) String(width int) string {
	if len(o.rows) == 0 {
		return ""
	}
	groups := o.groups()
	shown, dropped := slices.DeleteFunc(slices.Clone(columns.Terminal), func(c columns.Column) bool { return !o.has(c) }), []string(nil)
	lines := render(groups, shown)
	for widest(lines) > width && len(shown) > 1 {
		at := 0
		for i, c := range shown {
			if c.Weight < shown[at].Weight {
				at = i
			}
		}
		if shown[at].Weight > 0 {
			dropped = append(dropped, name(shown[at]))
		}
		shown = slices.Delete(shown, at, at+1)
		lines = render(groups, shown)
	}
	var b strings.Builder
	write := func(indent, s string) {
		for paragraph := range strings.SplitSeq(redact.Printable(s), "\n") {
			for line := range strings.SplitSeq(text.WrapSoft(strings.TrimLeft(paragraph, " "), max(1, width-len(indent))), "\n") {
				b.WriteString(indent + strings.TrimRight(line, " ") + "\n")
			}
		}
	}
	for i, line := range lines {
		lines[i] = text.Trim(line, width)
	}
	if len(shown) > 0 {
		b.WriteString(lines[0] + "\n")
	}
	lines = lines[1:]
	for _, g := range groups {
		if g.heading != "" {
			for _, line := range wrapName(g.heading, width) {
				write("", text.WrapHard(line, width))
			}
		}
		for _, r := range g.rows {
			b.WriteString(lines[0] + "\n")
			lines = lines[1:]
			r.writeNotes(func(s string) { write("    ", s) })
		}
	}
	if len(dropped) > 0 {
		write("", "No room for "+strings.Join(dropped, ", ")+".")
	}
	return b.String()
}

// wrapName wraps the name of a benchmark, if possible between its elements.
func wrapName(name string, width int) (lines []string) {
	line := ""
	for element := range strings.SplitAfterSeq(name, "/") {
		if line != "" && text.StringWidthWithoutEscSequences(line+element) > width {
			lines = append(lines, line)
			line = ""
		}
		line += element
	}
	return append(lines, line)
}

// writeNotes writes the lines below a row.
func (r *row) writeNotes(write func(string)) {
	if r.samples > 1 {
		write(fmt.Sprintf("medians of %d samples", r.samples))
	}
	var more []string
	for _, unit := range r.more {
		if v, known := r.median(unit); known {
			more = append(more, figure(unit, v))
		}
	}
	if len(more) > 0 {
		write(strings.Join(more, ", "))
	}
	if len(r.withheld) > 0 {
		var all []string
		for _, w := range r.withheld {
			all = append(all, w.String())
		}
		write("* withheld: " + strings.Join(all, "; "))
	}
	for i, note := range r.notes {
		if i == maxNotes {
			write(fmt.Sprintf("and %d more notes in the log", len(r.notes)-i))
			break
		}
		lines := strings.SplitN(note, "\n", maxNoteLines+1)
		write(strings.Join(lines[:min(len(lines), maxNoteLines)], "\n"))
	}
}

// A group has the rows whose names differ only in the last element.
type group struct {
	heading string
	rows    []*row
}

// groups returns the rows in groups.
func (o *Overview) groups() (all []*group) {
	for _, r := range o.rows {
		heading := ""
		if at := strings.LastIndexByte(r.name, '/'); at >= 0 {
			heading = r.name[:at]
		}
		at := slices.IndexFunc(all, func(g *group) bool { return g.heading == heading })
		if at < 0 {
			at = len(all)
			all = append(all, &group{heading: heading})
		}
		all[at].rows = append(all[at].rows, r)
	}
	return all
}

// name returns the name of a column for use in a sentence.
func name(c columns.Column) string {
	if c.Truth {
		return "true " + c.Units[0]
	}
	return c.Units[0]
}

// has reports whether the table may have the column: a row has a value, which may be withheld.
func (o *Overview) has(c columns.Column) bool {
	known := func(unit string) bool {
		return slices.ContainsFunc(o.rows, func(r *row) bool { return r.knows(unit) })
	}
	if c.With != "" && !known(c.With) || c.Without != "" && known(c.Without) {
		return false
	}
	if c.Truth {
		return slices.ContainsFunc(o.rows, func(r *row) bool { return len(r.truths[c.Units[0]]) > 0 })
	}
	return known(c.Units[0])
}

// hasColumn reports whether any column has a value for the row, including a withheld value.
func (r *row) hasColumn() bool {
	return slices.ContainsFunc(columns.Terminal, func(c columns.Column) bool { return r.knows(c.Units[0]) })
}

// knows reports whether the row has a value of the unit, including a withheld value.
func (r *row) knows(unit string) bool {
	_, withheld := r.withholds(unit)
	return withheld || len(r.figures[unit]) > 0
}

// render returns a line with the titles, and a line for each row.
func render(groups []*group, shown []columns.Column) []string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	header := table.Row{""}
	var configs []table.ColumnConfig
	for i, c := range shown {
		header = append(header, c.Title)
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for _, g := range groups {
		for _, r := range g.rows {
			label := r.name[strings.LastIndexByte(r.name, '/')+1:]
			if g.heading != "" {
				label = "  " + label
			}
			cells := table.Row{text.Snip(redact.Printable(label), maxLabel, "~")}
			for _, c := range shown {
				if r.hasColumn() {
					cells = append(cells, r.cell(c))
				}
			}
			t.AppendRow(cells)
		}
	}
	lines := strings.Split(t.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// cell returns the text of a column.
func (r *row) cell(c columns.Column) string {
	unit := c.Units[0]
	v, known := r.median(unit)
	if c.Truth {
		if v, known = median(r.truths[unit]); !known {
			return "-"
		}
		return value(unit, v)
	}
	w, withheld := r.withholds(unit)
	switch {
	case withheld && w.Most > 0:
		return value(unit, w.Value) + "*"
	case withheld:
		return "*"
	case !known:
		return "-"
	}
	return value(unit, v)
}

// widest returns the width of the widest line.
func widest(lines []string) (w int) {
	for _, line := range lines {
		w = max(w, text.StringWidthWithoutEscSequences(line))
	}
	return w
}
