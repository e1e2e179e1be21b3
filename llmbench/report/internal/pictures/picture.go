package pictures

import (
	"html/template"
	"io"
	"path/filepath"
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

// Names returns the names of the files of the picture: as SVG and as PNG.
func (p *Picture) Names() (svg, png string) {
	name := filepath.Base(p.ID)
	return name + ".svg", name + ".png"
}

// Slug turns words into an ID.
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
