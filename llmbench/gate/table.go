package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
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

// names returns the names of the rows.
func (r *Report) names() *rowname.Names {
	all := make([]rowname.Benchmark, len(r.Rows))
	for i := range r.Rows {
		all[i] = r.Rows[i].benchmark()
	}
	return rowname.Of(all)
}

func (row *Row) benchmark() rowname.Benchmark {
	return rowname.Benchmark{Package: row.Pkg, Name: row.Name}
}

// labeler returns a function that names the benchmark of a row in a table. The name omits the parts that all rows have in
// common. It contains the package if the report has several packages.
func (r *Report) labeler() (label func(row *Row) string) {
	names := r.names()
	return func(row *Row) string { return redact.Line(names.Rest(row.benchmark())) }
}

// qualify prefixes name with its package if the report has several packages.
func (r *Report) qualify(pkg, name string) string {
	if pkg != "" && slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Pkg != pkg }) {
		name = pkg + "." + name
	}
	return redact.Line(name)
}

// text returns the median and its confidence interval, for example "31.56ms ± 1%".
func (s Summary) text(unit string) string {
	if s.Median == nil {
		return "-"
	}
	b := benchmath.Summary{Center: *s.Median, Lo: math.Inf(-1), Hi: math.Inf(+1)}
	if s.Low != nil && s.High != nil {
		b.Lo, b.Hi = *s.Low, *s.High
	}
	if b.Center < 0 { // the package divides by it
		b.Center, b.Lo, b.Hi = -b.Center, -b.Hi, -b.Lo
	}
	return amount(*s.Median, unit) + " ± " + b.PctRangeString()
}

// amount formats a value for a reader, with four significant digits. A time has the symbol s with a prefix,
// for example "31.56ms" for 31560000 ns, and an amount of memory has the symbol B with a prefix. Other
// values have a prefix only from 1000 on: "1.305k" for 1305 tok/s, but "0.5794" for 0.5794 %.
func amount(v float64, unit string) string {
	if in := nanoseconds(unit); in > 1 { // benchunit knows ns alone
		v, unit = v*in, "ns"
	}
	factor, tidied := benchunit.Tidy(1, unit)
	symbol := ""
	numerator, _, _ := strings.Cut(tidied, "/")
	switch {
	case slices.Contains(strings.FieldsFunc(numerator, func(r rune) bool { return r == '-' || r == '*' }), "sec"):
		symbol = "s"
	case benchunit.ClassOf(tidied) == benchunit.Binary:
		symbol = "B"
	}
	switch {
	case v == 0:
		return "0" + symbol
	case symbol == "" && math.Abs(v) < 1:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return benchunit.Scale(v*factor, benchunit.ClassOf(tidied)) + symbol
}

// ChangeText returns the change with its sign, such as "+5.10%", "+1.00 points" or "-0.20ms".
func (row *Row) ChangeText() string {
	if row.Change == nil && row.P != nil && *row.Old.Median == 0 {
		return "from 0"
	}
	return row.percent(row.Change, 2)
}

// percent formats a change of the row with its sign, or returns "-" if the change is not known.
func (row *Row) percent(v *float64, precision int) string {
	switch {
	case v == nil:
	case row.Amounts && *v > 0:
		return "+" + amount(*v, row.Unit)
	case row.Amounts:
		return amount(*v, row.Unit)
	case row.Points:
		return fmt.Sprintf("%+.*f points", precision, 100**v)
	}
	return percent(v, precision)
}

// Size formats a margin, or the noise of the row, with at most so many digits: "5%", "2 percentage points" or "500.0µs".
func (row *Row) Size(v float64, digits int) string {
	switch {
	case row.Amounts:
		return amount(v, row.Unit)
	case row.Points:
		return fmt.Sprintf("%.*g percentage points", digits, 100*v)
	}
	return fmt.Sprintf("%.*g%%", digits, 100*v)
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

// percent formats a change with its sign, or returns "-" if v is nil.
func percent(v *float64, precision int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.*f%%", precision, 100**v)
}

// decimals formats a probability, or returns "-" if p is nil.
func decimals(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *p)
}
