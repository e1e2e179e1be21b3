package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A column of the table has the figures of a unit.
type column struct {
	title, unit string
	// weight is the importance. The columns of the least weight are left out of a narrow
	// table, and those of weight 0 without a word.
	weight int
}

// columns are the columns of a wide table.
var columns = []column{
	{"tok/s", "output-tok/s", 9},
	{"req/s", "req/s", 4},
	{"good/s", "good-req/s", 8},
	{"TTFT p50", "p50-ttft-ns", 7},
	{"p99", "p99-ttft-ns", 3},
	{"TPOT", "mean-tpot-ns", 6},
	{"p99", "p99-tpot-ns", 0},
	{"ITL p50", "p50-itl-ns", 0},
	{"ITL p99", "p99-itl-ns", 2},
	{"E2E p50", "p50-e2e-ns", 5},
	{"p99", "p99-e2e-ns", 0},
}

// Of each row so many notes are shown, and of each note so many lines. The log has all.
const maxNotes, maxNoteLines = 5, 4

// maxLabel is the greatest width of the first column.
const maxLabel = 18

// String returns the table, in lines of at most so many columns. It returns "" if there is nothing to
// show.
func (o *Overview) String(width int) string {
	if len(o.rows) == 0 {
		return ""
	}
	groups := o.groups()
	shown, dropped := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return !o.has(c.unit) }), []string(nil)
	lines := render(groups, shown)
	for widest(lines) > width && len(shown) > 1 {
		at := 0
		for i, c := range shown {
			if c.weight < shown[at].weight {
				at = i
			}
		}
		if shown[at].weight > 0 {
			dropped = append(dropped, shown[at].unit)
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

// wrapName wraps the name of a benchmark, between its elements where that is possible.
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

// writeNotes writes what is to be said about a row.
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
		write("* withheld: " + strings.Join(r.withheld, ", "))
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

// A group has the rows whose names differ in the last element only.
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

// has reports whether a row has a figure of a unit, or would have it.
func (o *Overview) has(unit string) bool {
	return slices.ContainsFunc(o.rows, func(r *row) bool { return len(r.figures[unit]) > 0 || slices.Contains(r.withheld, unit) })
}

// hasColumn reports whether a column has something to show of the row.
func (r *row) hasColumn() bool {
	return slices.ContainsFunc(columns, func(c column) bool { return len(r.figures[c.unit]) > 0 || slices.Contains(r.withheld, c.unit) })
}

// render returns the line with the titles, and a line for each row.
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

// cell returns the figure of a column.
func (r *row) cell(c column) string {
	v, known := r.median(c.unit)
	switch {
	case slices.Contains(r.withheld, c.unit):
		return "*"
	case !known:
		return "-"
	case strings.HasSuffix(c.unit, "-ns"):
		return duration(v)
	}
	return number(v)
}

// widest returns the width of the widest line.
func widest(lines []string) (w int) {
	for _, line := range lines {
		w = max(w, text.StringWidthWithoutEscSequences(line))
	}
	return w
}
