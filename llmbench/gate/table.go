package gate

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A table holds the formatted rows of one unit.
type table struct {
	title string
	gated bool
	head  []string // headers of the columns; the first column is the benchmark
	rows  [][]string
}

// tables returns one table for each unit, in the order in which the units appear. The tables of gated units
// are apart. Rows that are not gated and say nothing are left out; tables returns their number.
func (r *Report) tables() (gated, others []*table, silent int) {
	byUnit := map[string]*table{}
	label := r.labeler()
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Withheld != nil {
			continue // it is a line of its own
		}
		if !row.gated() && row.silent() {
			silent++
			continue
		}
		key := row.Unit
		if row.Limit != nil {
			key += " budget"
		}
		t := byUnit[key]
		if t == nil {
			t = &table{title: row.title(), gated: row.gated(), head: []string{"", "old", "new", "change", "p", "n"}}
			byUnit[key] = t
			if t.gated {
				t.head = append(t.head, "at worst", "detectable", "p worse", "verdict")
				gated = append(gated, t)
			} else {
				others = append(others, t)
			}
		}
		cells := []string{label(row), row.Old.text(row.Unit), row.New.text(row.Unit), row.ChangeText(), decimals(row.P), row.nText()}
		if t.gated {
			cells = append(cells, row.percent(row.Bound, 1), row.percent(row.Detectable, 1), decimals(row.PAdjusted), row.verdictText())
		}
		t.rows = append(t.rows, cells)
	}
	return gated, others, silent
}

// silent reports whether a row says nothing: the median of a side is not known to within 100 %, and the sides do not
// differ.
func (row *Row) silent() bool {
	return row.P != nil && *row.P > moveP && (row.Old.vague() || row.New.vague())
}

// vague reports whether the interval of a median reaches further than the median's own size. A median of 0 is not vague:
// beside it, the interval says that something happened, such as failures in some samples.
func (s Summary) vague() bool {
	return s.Median != nil && *s.Median != 0 && s.Low != nil && s.High != nil && max(*s.Median-*s.Low, *s.High-*s.Median) > math.Abs(*s.Median)
}

// leftOut says how many rows tables has left out. It returns "" for none.
func leftOut(silent int) string {
	if silent == 0 {
		return ""
	}
	return numbers.Count(silent, "row") + " left out: no difference, and a median that is not known to within 100 %"
}

// title returns the unit of a row, its direction and its margin.
func (row *Row) title() string {
	s := redact.Line(row.Unit)
	if row.Source != nil {
		s += fmt.Sprintf(" (%s: %s)", redact.Line(row.Source.Tool), redact.Line(row.Source.Key))
	}
	if row.Better != "" {
		s += ", " + row.Better + " is better"
	}
	if row.Limit != nil {
		return s + ", budget " + row.limitText()
	}
	if row.Margin == nil {
		return s + ", not gated"
	}
	return fmt.Sprintf("%s, may be %s worse", s, row.Gate)
}

func (row *Row) nText() string {
	if row.Old.N == row.New.N {
		return fmt.Sprint(row.Old.N)
	}
	return fmt.Sprintf("%d+%d", row.Old.N, row.New.N)
}

func (row *Row) verdictText() string {
	switch {
	case row.Verdict == Regression:
		return "REGRESSION"
	case row.Improved:
		return string(row.Verdict) + ", better"
	}
	return string(row.Verdict)
}

// text writes the table with aligned columns: names and verdicts to the left, numbers to the right.
func (t *table) text(b *strings.Builder) {
	b.WriteString("\n")
	if t.title != "" {
		fmt.Fprintln(b, t.title)
	}
	lines := append([][]string{t.head}, t.rows...)
	width := make([]int, len(t.head))
	for _, line := range lines {
		for i, s := range line {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		var l strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			switch {
			case i == 0:
				l.WriteString(s + pad)
			case t.head[i] == "verdict":
				l.WriteString("  " + s)
			default:
				l.WriteString("  " + pad + s)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
}
