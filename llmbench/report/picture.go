package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Picture is one or more plots in rows, with a table of what they show.
type Picture struct {
	ID      string // unique in a report, and valid in a file name
	Title   string
	Caption string // description, also for screen readers
	Table   Table

	plots  [][]*plot.Plot
	legend []line
	height vg.Length // height of a row of plots
}

// A Table is rows of cells.
type Table struct {
	Head []string
	Rows [][]string
}

func (t *Table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

const (
	pictureWidth = 720 // points
	plotHeight   = 210
	legendRow    = 13
)

// size returns the picture's width and height, and the number of columns of its legend.
func (p *Picture) size() (w, h vg.Length, columns int) {
	longest := 1
	for _, l := range p.legend {
		longest = max(longest, len(l.name))
	}
	columns = max(1, min(4, pictureWidth/(40+longest*5)))
	rows := (len(p.legend) + columns - 1) / columns
	height := p.height
	if height == 0 {
		height = plotHeight
	}
	return pictureWidth, height*vg.Length(len(p.plots)) + vg.Length(rows)*legendRow + 6, columns
}

// draw draws the picture onto a canvas of its size.
func (p *Picture) draw(c draw.Canvas) {
	_, _, columns := p.size()
	rows := (len(p.legend) + columns - 1) / columns
	below := vg.Length(rows) * legendRow
	if rows > 0 {
		p.drawLegend(draw.Crop(c, 8, -8, 2, below-c.Rectangle.Size().Y), columns, rows)
	}
	c = draw.Crop(c, 2, -8, below+4, 0)
	tiles := draw.Tiles{Rows: len(p.plots), Cols: len(p.plots[0]), PadX: 10, PadY: 8, PadTop: 4}
	for i, row := range plot.Align(p.plots, tiles, c) {
		for j, tile := range row {
			if p.plots[i][j] != nil {
				p.plots[i][j].Draw(tile)
			}
		}
	}
}

func (p *Picture) drawLegend(c draw.Canvas, columns, rows int) {
	size := c.Rectangle.Size()
	style := newPlot("", "", "").X.Tick.Label
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	for i, l := range p.legend {
		x := c.Min.X + size.X*vg.Length(i%columns)/vg.Length(columns)
		y := c.Max.Y - size.Y*(vg.Length(i/columns)+0.5)/vg.Length(rows)
		c.StrokeLine2(draw.LineStyle{Color: l.look.color, Width: 1.5, Dashes: l.look.dashes}, x, y, x+22, y)
		if !l.bare {
			c.DrawGlyph(draw.GlyphStyle{Color: l.look.color, Radius: 2.5, Shape: l.look.mark}, vg.Point{X: x + 11, Y: y})
		}
		c.FillText(style, vg.Point{X: x + 27, Y: y}, l.name)
	}
}

// SVG writes the picture as SVG on white.
func (p *Picture) SVG(w io.Writer) error {
	text, err := p.svg(true)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// PNG writes the picture as PNG on white, at twice its size.
func (p *Picture) PNG(w io.Writer) (err error) {
	defer p.recovered(&err)
	width, height, _ := p.size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144), vgimg.UseBackgroundColor(paper))
	p.draw(draw.New(c))
	_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// recovered turns a panic into an error: the plot library panics at values that it cannot
// draw.
func (p *Picture) recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("picture %s: %v", p.ID, r)
	}
}

func (p *Picture) svg(alone bool) (text string, err error) {
	defer p.recovered(&err)
	width, height, _ := p.size()
	c := vgsvg.NewWith(vgsvg.UseWH(width, height))
	dc := draw.New(c)
	if alone {
		dc.SetColor(paper)
		dc.Fill(dc.Rectangle.Path())
	}
	p.draw(dc)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	_, body, found := strings.Cut(b.String(), "<svg")
	if !found {
		return "", errors.New("picture " + p.ID + ": no svg")
	}
	// Renderers replace an unknown family by a serif one.
	body = strings.ReplaceAll(body, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	if alone {
		return `<?xml version="1.0" encoding="UTF-8"?>` + "\n<svg" + body, nil
	}
	return body, nil
}

// inline returns the picture as an element of a page, with CSS variables as colours.
func (p *Picture) inline() (string, error) {
	body, err := p.svg(false)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`<svg role="img" aria-labelledby="%s-title" aria-describedby="%s-says"`, p.ID, p.ID) + variables.Replace(body), nil
}

// columnsOf arranges plots in rows of a number of columns.
func columnsOf(n int, all []*plot.Plot) (rows [][]*plot.Plot) {
	n = min(n, len(all))
	for len(all) > 0 {
		row := make([]*plot.Plot, n)
		copy(row, all)
		rows = append(rows, row)
		all = all[min(n, len(all)):]
	}
	return rows
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
