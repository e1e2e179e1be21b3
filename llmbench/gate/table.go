package gate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// A table is the rows of one unit, ready to be printed.
type table struct {
	title string
	gated bool
	head  []string // of the columns; the first is the benchmark
	rows  [][]string
}

// tables has one table for each unit, in the order in which units appear, those
// of gated units last.
func (r *Report) tables() []*table {
	var all []*table
	byUnit := map[string]*table{}
	label, _ := r.labeler()
	for i := range r.Rows {
		row := &r.Rows[i]
		t := byUnit[row.Unit]
		if t == nil {
			t = &table{title: row.title(), gated: row.Margin != nil, head: []string{"", "old", "new", "change", "p", "n"}}
			if t.gated {
				t.head = append(t.head, "detectable", "p worse", "verdict")
			}
			byUnit[row.Unit] = t
			all = append(all, t)
		}
		cells := []string{label(row), row.Old.text(row.Unit), row.New.text(row.Unit), row.changeText(), decimals(row.P), row.nText()}
		if t.gated {
			cells = append(cells, percent(row.Detectable, 1), decimals(row.PHolm), row.verdictText())
		}
		t.rows = append(t.rows, cells)
	}
	slices.SortStableFunc(all, func(a, b *table) int {
		switch {
		case a.gated == b.gated:
			return 0
		case b.gated:
			return -1
		}
		return +1
	})
	return all
}

// title names the unit of a row, and how it is judged.
func (row *Row) title() string {
	s := printable(row.Unit)
	if row.Better != "" {
		s += ", " + row.Better + " is better"
	}
	if row.Margin == nil {
		return s + ", not gated"
	}
	return fmt.Sprintf("%s, may be %.4g%% worse", s, 100**row.Margin)
}

// labeler returns what rows are called in tables: their names without the parts
// that all of them have, which it returns too, and with the package when there
// are several.
func (r *Report) labeler() (label func(row *Row) string, common string) {
	var shared [][]byte
	for i, row := range r.Rows {
		_, parts := benchfmt.Name(row.Name).Parts()
		if i == 0 {
			shared = slices.DeleteFunc(slices.Clone(parts), func(p []byte) bool { return p[0] == '-' })
		}
		shared = slices.DeleteFunc(shared, func(p []byte) bool { return !containsPart(parts, p) })
	}
	return func(row *Row) string {
		base, parts := benchfmt.Name(row.Name).Parts()
		s := string(base)
		for _, p := range parts {
			if !containsPart(shared, p) {
				s += string(p)
			}
		}
		return r.qualify(row.Pkg, s)
	}, string(bytes.Join(shared, nil))
}

func containsPart(parts [][]byte, part []byte) bool {
	return slices.ContainsFunc(parts, func(p []byte) bool { return bytes.Equal(p, part) })
}

// qualify puts the package before a name when the report has several.
func (r *Report) qualify(pkg, name string) string {
	if _, one := r.pkg(); !one && pkg != "" {
		name = pkg + "." + name
	}
	return printable(name)
}

// pkg is the package of all rows, if they have one in common.
func (r *Report) pkg() (pkg string, one bool) {
	for i, row := range r.Rows {
		if i > 0 && row.Pkg != pkg {
			return "", false
		}
		pkg = row.Pkg
	}
	return pkg, true
}

// text is the median and its confidence interval, "1.305k ± 1%".
func (s Summary) text(unit string) string {
	if s.Median == nil {
		return "-"
	}
	b := benchmath.Summary{Center: *s.Median, Lo: math.Inf(-1), Hi: math.Inf(+1)}
	if s.Low != nil && s.High != nil {
		b.Lo, b.Hi = *s.Low, *s.High
	}
	return benchunit.Scale(*s.Median, benchunit.ClassOf(unit)) + " ± " + b.PctRangeString()
}

func (row *Row) changeText() string {
	if row.Change == nil && row.P != nil {
		return "from 0"
	}
	return percent(row.Change, 2)
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

// percent is a change with its sign, or "-".
func percent(v *float64, precision int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.*f%%", precision, 100**v)
}

// decimals is a probability, or "-".
func decimals(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *p)
}

// printable is s without what a terminal could take for a command.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
