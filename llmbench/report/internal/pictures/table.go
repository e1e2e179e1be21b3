package pictures

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// A Table is rows of cells.
type Table struct {
	Head []string
	Rows [][]string

	// Exact has the exact values of cells that are shown with fewer digits, in the order of
	// Rows. A reader sees them under the pointer, and rows are sorted by them. Where Exact is
	// shorter or empty, cells are exact.
	Exact [][]string
}

// A Cell is a text, or a number with its exact value.
type Cell struct {
	Text  string
	Exact string // the value or the samples with all digits, and the unit of benchmark files; "" of a text
	Doubt string // why the number may be wrong, or ""
}

// Mark is behind numbers of a table that are in doubt. The warnings and the chart say why.
const Mark = "†"

// Add adds a row.
func (t *Table) Add(cells ...Cell) {
	texts, exact := make([]string, len(cells)), make([]string, len(cells))
	for i, c := range cells {
		texts[i], exact[i] = c.Text, c.Exact
		if c.Doubt != "" && c.Text != "" {
			texts[i] += " " + Mark
			exact[i] = strings.TrimSpace(c.Exact + " in doubt")
		}
	}
	t.Rows, t.Exact = append(t.Rows, texts), append(t.Exact, exact)
}

// Texts returns cells without numbers.
func Texts(all ...string) (cells []Cell) {
	for _, s := range all {
		cells = append(cells, Cell{Text: s})
	}
	return cells
}

// Number returns the cell of a value of a unit, which a scale shows.
func Number(scale human.Scale, unit string, v float64) Cell {
	return Cell{Text: scale.Number(v), Exact: Exactly(v) + " " + unit}
}

// brief returns the cell of a value whose exact one is in the chart.
func brief(scale human.Scale, v float64) Cell { return Cell{Text: scale.Number(v)} }

// count returns the cell of a number that is shown as it is.
func count(v float64) Cell {
	s := human.Scale{Factor: 1}
	c := Cell{Text: s.Number(v)}
	if exact := Exactly(v); exact != c.Text {
		c.Exact = exact
	}
	return c
}

// Figure returns the cell of a unit of a row: the median, and the range and the number of
// several samples.
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

// Exactly spells a value with the fewest digits that read back as the same value.
func Exactly(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// headed returns the head of a column of values on a scale.
func headed(title string, scale human.Scale) string {
	if scale.Unit == "" {
		return title
	}
	return title + " (" + scale.Unit + ")"
}
