package pictures

import (
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// A Picture is a chart, and a table with the same values.
type Picture struct {
	ID      string // must be unique in a report, and valid in a file name
	Title   string
	Caption string // a description, also for screen readers
	Table   Table

	panels  []*chart.Panel
	columns int  // the number of panels in a row
	half    bool // as chart.Chart.Half
}

func (p *Picture) chart() *chart.Chart {
	return &chart.Chart{ID: p.ID, Title: p.Title, Panels: p.panels, Columns: p.columns, Half: p.half}
}

// SVG writes the picture as SVG on a white background.
func (p *Picture) SVG(w io.Writer) error { return p.chart().SVG(w) }

// PNG writes the picture as PNG on a white background, at twice its size.
func (p *Picture) PNG(w io.Writer) error { return p.chart().PNG(w) }

// CSV writes one line for each point of the picture. It has the exact values, in the units of
// benchmark files.
func (p *Picture) CSV(w io.Writer) error { return p.chart().CSV(w) }

// Half reports whether the picture is drawn for a place that is half as wide as a page.
func (p *Picture) Half() bool { return p.half }

// Empty reports whether the picture has nothing to draw. Then it is only a table.
func (p *Picture) Empty() bool { return p.chart().Empty() }

// HTML returns the picture as a part of a page, or "" if it is empty.
func (p *Picture) HTML() (template.HTML, error) {
	if p.Empty() {
		return "", nil
	}
	text, err := p.chart().HTML()
	return template.HTML(text), err // the chart has escaped its texts
}

// Names returns the names of the picture's SVG file and PNG file.
func (p *Picture) Names() (svg, png string) {
	name := filepath.Base(p.ID)
	return name + ".svg", name + ".png"
}

// Slug makes an ID from words.
func Slug(words ...string) string {
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
