package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A column of the table shows the values of one unit.
type column struct {
	title, unit string
	truth       bool // the values come from the server's log
	// weight is the importance of the column. If the table is too wide, the columns with the smallest
	// weight are omitted first. A line below the table lists omitted columns, except columns of weight 0.
	weight int
}

// columns has all possible columns, in order.
var columns = []column{
	{title: "tok/s", unit: "output-tok/s", weight: 12},
	{title: "req/s", unit: "req/s", weight: 4},
	{title: "good/s", unit: "good-req/s", weight: 11},
	{title: "TTFT p50", unit: "p50-ttft-ns", weight: 10},
	{title: "true", unit: "p50-ttft-ns", weight: 7, truth: true},
	{title: "p99", unit: "p99-ttft-ns", weight: 3},
	{title: "TPOT", unit: "mean-tpot-ns", weight: 9},
	{title: "true", unit: "mean-tpot-ns", weight: 6, truth: true},
	{title: "p99", unit: "p99-tpot-ns"},
	{title: "ITL p50", unit: "p50-itl-ns"},
	{title: "ITL p99", unit: "p99-itl-ns", weight: 2},
	{title: "E2E p50", unit: "p50-e2e-ns", weight: 8},
	{title: "true", unit: "p50-e2e-ns", weight: 5, truth: true},
	{title: "p99", unit: "p99-e2e-ns"},
}

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
	shown, dropped := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return !o.has(c) }), []string(nil)
	lines := render(groups, shown)
	for widest(lines) > width && len(shown) > 1 {
		at := 0
		for i, c := range shown {
			if c.weight < shown[at].weight {
				at = i
			}
		}
		if shown[at].weight > 0 {
			dropped = append(dropped, shown[at].name())
		}
		shown = slices.Delete(shown, at, at+1)
		lines = render(groups, shown)
	}
	var b strings.Builder
	write := func(indent, s string) {
		for paragraph := range strings.SplitSeq(printable(s), "\n") {
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
func (c column) name() string {
	if c.truth {
		return "true " + c.unit
	}
	return c.unit
}

// has reports whether a row has a value for the column, including a withheld value.
func (o *Overview) has(c column) bool {
	return slices.ContainsFunc(o.rows, func(r *row) bool {
		if c.truth {
			return len(r.truths[c.unit]) > 0
		}
		return r.knows(c.unit)
	})
}

// hasColumn reports whether any column has a value for the row, including a withheld value.
func (r *row) hasColumn() bool {
	return slices.ContainsFunc(columns, func(c column) bool { return r.knows(c.unit) })
}

// knows reports whether the row has a value of the unit, including a withheld value.
func (r *row) knows(unit string) bool {
	_, withheld := r.withholds(unit)
	return withheld || len(r.figures[unit]) > 0
}

// render returns a line with the titles, and a line for each row.
func render(groups []*group, shown []column) []string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	header := table.Row{""}
	var configs []table.ColumnConfig
	for i, c := range shown {
		header = append(header, c.title)
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
			cells := table.Row{text.Snip(printable(label), maxLabel, "~")}
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
func (r *row) cell(c column) string {
	v, known := r.median(c.unit)
	if c.truth {
		if v, known = median(r.truths[c.unit]); !known {
			return "-"
		}
		return value(c.unit, v)
	}
	w, withheld := r.withholds(c.unit)
	switch {
	case withheld && w.Most > 0:
		return value(c.unit, w.Value) + "*"
	case withheld:
		return "*"
	case !known:
		return "-"
	}
	return value(c.unit, v)
}

// widest returns the width of the widest line.
func widest(lines []string) (w int) {
	for _, line := range lines {
		w = max(w, text.StringWidthWithoutEscSequences(line))
	}
	return w
}
