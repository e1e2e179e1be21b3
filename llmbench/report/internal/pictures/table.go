package pictures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// A Table is rows of cells.
type Table struct {
	Head []string
	Rows [][]string

	// Units holds the units of benchmark files whose values the columns show. A column beyond its end,
	// or with "", shows none.
	Units []string

	// Exact holds the exact values of cells that are shown with fewer digits. It has the same order
	// as Rows. A reader sees these values under the pointer, and rows are sorted by them. A cell is
	// exact itself if its value here is missing or empty.
	Exact [][]string

	// Systems and Leads hold the number of a system, counted from 1, or 0: Systems of the columns that are about one system,
	// and Leads of the cells in which a system has the best value of the row. Beyond their ends there is none.
	Systems []int
	Leads   [][]int
}

// A Cell is a text or a number. A number has its exact value too.
type Cell struct {
	Text  string
	Exact string // the value or the samples with all digits, and the unit of benchmark files; "" for a text
	Doubt string // says why the number may be wrong, or ""
	Lead  int    // the number of the system that leads here, counted from 1; 0 if none does
}

// Mark follows each number of a table that is in doubt. The warnings and the chart say why it is in
// doubt.
const Mark = "†"

// Add adds a row.
func (t *Table) Add(cells ...Cell) {
	texts, exact, leads := make([]string, len(cells)), make([]string, len(cells)), make([]int, len(cells))
	for i, c := range cells {
		texts[i], exact[i], leads[i] = c.Text, c.Exact, c.Lead
		if c.Doubt != "" && c.Text != "" {
			texts[i] += " " + Mark
			exact[i] = strings.TrimSpace(c.Exact + " in doubt")
		}
	}
	t.Rows, t.Exact, t.Leads = append(t.Rows, texts), append(t.Exact, exact), append(t.Leads, leads)
}

// Texts returns cells that hold texts.
func Texts(all ...string) (cells []Cell) {
	for _, s := range all {
		cells = append(cells, Cell{Text: s})
	}
	return cells
}

// Number returns the cell of a value of a unit. The value is shown on a scale.
func Number(scale human.Scale, unit string, v float64) Cell {
	return Cell{Text: scale.Number(v), Exact: Exactly(v) + " " + unit}
}

// brief returns the cell of a value. Its exact value is in the chart only.
func brief(scale human.Scale, v float64) Cell { return Cell{Text: scale.Number(v)} }

// count returns the cell of a number that is shown without a unit.
func count(v float64) Cell {
	s := human.Scale{Factor: 1}
	c := Cell{Text: s.Number(v)}
	if exact := Exactly(v); exact != c.Text {
		c.Exact = exact
	}
	return c
}

// Figure returns the cell for a unit of a row. It shows the median. If there are several samples,
// it also shows their range and their number.
func Figure(r *results.Row, scale human.Scale, unit string) Cell {
	v := r.Values[unit]
	if len(v) == 0 {
		return Cell{}
	}
	s := results.SpreadOf(v)
	c := Number(scale, unit, s.Mid)
	c.Doubt = r.Doubt(unit)
	if len(v) > 1 {
		c.Text = scale.Number(s.Mid)
		if low, high := scale.Number(s.Low), scale.Number(s.High); low != high {
			c.Text += fmt.Sprintf(" [%s, %s]", low, high)
		}
		c.Exact = fmt.Sprintf("%s [%s, %s] n=%d %s", Exactly(s.Mid), Exactly(s.Low), Exactly(s.High), s.N, unit)
	}
	return c
}

// Exactly returns a value as text, with the fewest digits from which the same value can be read.
func Exactly(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// headed returns the head of a column whose values are shown on a scale.
func headed(title string, scale human.Scale) string {
	if scale.Unit == "" {
		return title
	}
	return title + " (" + scale.Unit + ")"
}

// Trimmed returns a copy of the table without the columns that have no values.
func (t *Table) Trimmed() (kept Table) {
	var columns []int
	for i := range t.Head {
		if i == 0 || slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			columns = append(columns, i)
		}
	}
	kept.Head, kept.Units, kept.Systems = only(t.Head, columns), only(t.Units, columns), only(t.Systems, columns)
	for n, row := range t.Rows {
		kept.Rows = append(kept.Rows, only(row, columns))
		if n < len(t.Exact) {
			kept.Exact = append(kept.Exact, only(t.Exact[n], columns))
		}
		if n < len(t.Leads) {
			kept.Leads = append(kept.Leads, only(t.Leads[n], columns))
		}
	}
	return kept
}

// only returns the cells of some columns of a row, as far as the row has them.
func only[T any](row []T, columns []int) (cells []T) {
	for _, i := range columns {
		if i < len(row) {
			cells = append(cells, row[i])
		}
	}
	return cells
}
