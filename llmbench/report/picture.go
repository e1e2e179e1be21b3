package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// A Picture is a chart with a table of what it shows.
type Picture struct {
	ID      string // unique in a report, and valid in a file name
	Title   string
	Caption string // description, also for screen readers
	Table   Table

	panels  []*chart.Panel
	columns int // panels beside each other
}

// A Table is rows of cells.
type Table struct {
	Head []string
	Rows [][]string

	// Exact has the exact values of cells that are shown with fewer digits, in the order of
	// Rows. A reader sees them under the pointer, and rows are sorted by them. Where Exact is
	// shorter or empty, cells are exact.
	Exact [][]string
}

func (t *Table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

func (p *Picture) chart() *chart.Chart {
	return &chart.Chart{ID: p.ID, Title: p.Title, Panels: p.panels, Columns: p.columns}
}

// SVG writes the picture as SVG on white.
func (p *Picture) SVG(w io.Writer) error { return p.chart().SVG(w) }

// PNG writes the picture as PNG on white, at twice its size.
func (p *Picture) PNG(w io.Writer) error { return p.chart().PNG(w) }

// CSV writes the points of the picture: a line each, with exact values in the units of
// benchmark files.
func (p *Picture) CSV(w io.Writer) error { return p.chart().CSV(w) }

// Empty reports whether the picture has nothing to draw, so that it is only a table.
func (p *Picture) Empty() bool { return p.chart().Empty() }

// HTML returns the picture as a part of a page, or "" if it is empty.
func (p *Picture) HTML() (template.HTML, error) {
	if p.Empty() {
		return "", nil
	}
	text, err := p.chart().HTML()
	return template.HTML(text), err // the chart escapes its texts
}

// axisOf returns the axis for values of a unit up to a largest one: nanoseconds are shown as
// µs, ms or s. A reader can make the axis logarithmic.
func axisOf(unit string, largest float64) chart.Axis {
	name, isTime := strings.CutSuffix(unit, "-ns")
	if !isTime {
		return chart.Axis{Unit: unit, Zero: true, Both: true}
	}
	a := chart.Axis{Label: name, Unit: "µs", Base: "ns", Scale: 1e-3, Zero: true, Both: true}
	switch {
	case largest >= 2e9:
		a.Unit, a.Scale = "s", 1e-9
	case largest >= 2e6:
		a.Unit, a.Scale = "ms", 1e-6
	}
	return a
}

// loadAxis returns the axis of a load with marks at some values. The axis is logarithmic if
// they span more than a factor of ten.
func loadAxis(load string, xs []float64) chart.Axis {
	a := chart.Axis{Label: load, Ticks: xs}
	if n := len(xs); n > 0 && xs[0] > 0 {
		a.Log = xs[n-1] > 10*xs[0]
	}
	return a
}

// point returns the median with its range as a point of a chart.
func (s spread) point(x float64) chart.Point {
	p := chart.Point{X: x, Value: s.mid, Low: s.lo, High: s.hi}
	if s.n > 1 {
		p.Text = fmt.Sprintf("median of %d samples", s.n)
	}
	return p
}

// slug turns words into an ID.
func slug(words ...string) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, strings.Join(words, "-"))
	for strings.Contains(text, "--") {
		text = strings.ReplaceAll(text, "--", "-")
	}
	return strings.Trim(text, "-")
}

// brief spells a value with four digits.
func brief(v float64) string {
	if v == 0 { // and -0
		return "0"
	}
	if math.Abs(v) < 1e-3 || math.Abs(v) >= 1e7 {
		return fmt.Sprintf("%.4g", v)
	}
	text := fmt.Sprintf("%.*f", max(0, 3-int(math.Floor(math.Log10(max(1e-9, math.Abs(v)))))), v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
