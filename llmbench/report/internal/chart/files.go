package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// ungrouped draws a series of a picture that has no groups.
func ungrouped(_ int, of func()) { of() }

// draw draws a panel with its series. A series has the same index as in the legend.
func (p *Panel) draw(c draw.Canvas, s size, log bool, all []*Series, g group) *frame {
	f := p.frame(c, s, log)
	for _, s := range p.Series {
		g(indexOf(all, s), func() { f.series(c, s) })
	}
	f.labels(c)
	f.notes(c, all, g)
	return f
}

// A sheet is the layout of a picture file: a title, rows of panels, and a legend.
type sheet struct {
	chart  *Chart
	panels []*Panel
	size   size
	cols   int
	rows   []vg.Length // the height of each row of panels
	keys   []key
	width  vg.Length
	height vg.Length
	title  []string
}

// A key is an entry of the legend of a picture file. Its position is relative to the upper left
// corner of the legend.
type key struct {
	series *Series
	x, y   vg.Length
}

const (
	gap    = 14 // between panels
	margin = 10
)

func (c *Chart) sheet() (*sheet, error) {
	all, err := c.panels()
	if err != nil {
		return nil, err
	}
	s := &sheet{chart: c, panels: all, cols: min(c.columns(), len(all))}
	s.size = c.size(s.cols)
	s.width = vg.Length(s.cols)*s.size.width + vg.Length(s.cols-1)*gap + 2*margin
	s.title = words{size: 14, bold: true}.lines(c.Title, s.width-2*margin, 2)
	s.height = 2*margin + vg.Length(len(s.title))*18
	for i, p := range all {
		if i%s.cols == 0 {
			s.rows = append(s.rows, 0)
		}
		last := &s.rows[len(s.rows)-1]
		*last = max(*last, p.height(s.size))
	}
	for _, h := range s.rows {
		s.height += h + gap
	}
	s.height += s.legend()
	return s, nil
}

var keyWords = words{size: 11, color: ink}

// legend computes the positions of the entries of the legend, and returns its height.
func (s *sheet) legend() vg.Length {
	all := s.chart.legend()
	if len(all) < 2 {
		return 0
	}
	x, y := vg.Length(0), vg.Length(0)
	for _, l := range all {
		w := min(keyWords.width(l.Name), s.width-2*margin-30) + 48
		if x > 0 && x+w > s.width-2*margin {
			x, y = 0, y+17
		}
		s.keys = append(s.keys, key{l, x, y})
		x += w
	}
	return y + 17
}

// draw draws the sheet onto a canvas that has the size of the sheet.
func (s *sheet) draw(c draw.Canvas, g group) {
	y := c.Max.Y - margin
	for _, l := range s.title {
		y -= 18
		words{size: 14, bold: true, color: ink}.draw(c, c.Min.X+margin, y+4, 0, l)
	}
	all := s.chart.legend()
	for i, p := range s.panels {
		row, col := i/s.cols, i%s.cols
		if col == 0 && row > 0 {
			y -= s.rows[row-1] + gap
		}
		x := c.Min.X + margin + vg.Length(col)*(s.size.width+gap)
		tile := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - p.height(s.size)}, Max: vg.Point{X: x + s.size.width, Y: y}}}
		p.draw(tile, s.size, p.scales()[0], all, g)
	}
	y -= s.rows[len(s.rows)-1] + gap
	for _, k := range s.keys {
		at := vg.Point{X: c.Min.X + margin + k.x, Y: y - k.y - 6}
		k.series.swatch(c, at)
		keyWords.draw(c, at.X+30, at.Y-4, 0, keyWords.fit(k.series.Name, s.width-2*margin-30))
	}
}

// swatch draws a sample of the series. It begins at a point, and extends 24 units to the right.
func (s *Series) swatch(c draw.Canvas, at vg.Point) {
	switch s.Kind {
	case Lines, Steps:
		c.StrokeLines(s.Look.line(1.8), []vg.Point{at, at.Add(vg.Point{X: 24})})
	case Limits:
		c.StrokeLines(s.Look.line(1.8), []vg.Point{at.Add(vg.Point{X: 12, Y: -6}), at.Add(vg.Point{X: 12, Y: 6})})
		return
	case Bars:
		c.FillPolygon(s.Look.Color.rgb(), []vg.Point{at.Add(vg.Point{Y: -3.5}), at.Add(vg.Point{Y: 3.5}), at.Add(vg.Point{X: 24, Y: 3.5}), at.Add(vg.Point{X: 24, Y: -3.5})})
		return
	}
	if !s.Bare {
		look := s.Look
		look.Size = min(look.Size, 5)
		look.mark(c, at.Add(vg.Point{X: 12}), false)
	}
}

// recovered turns a panic into an error.
func (c *Chart) recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("picture %s: %v", c.ID, r)
	}
}

// SVG writes the chart as an SVG file on a white background, with a title and the legend.
func (c *Chart) SVG(w io.Writer) (err error) {
	defer c.recovered(&err)
	s, err := c.sheet()
	if err != nil {
		return err
	}
	dst := newCanvas(s.height, s.size.text, hex)
	s.draw(draw.NewCanvas(dst, s.width, s.height), ungrouped)
	_, err = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" font-family="Liberation Sans,Arial,Helvetica,sans-serif" %s><rect width="100%%" height="100%%" fill="%s"/>%s</svg>`+"\n",
		short(s.width), short(s.height), dst.svg(s.width), hex(paper), dst)
	return err
}

// PNG writes the chart as a PNG file on a white background, at twice its size.
func (c *Chart) PNG(w io.Writer) (err error) {
	defer c.recovered(&err)
	s, err := c.sheet()
	if err != nil {
		return err
	}
	dst := vgimg.NewWith(vgimg.UseWH(s.width, s.height), vgimg.UseDPI(144), vgimg.UseBackgroundColor(paper))
	s.draw(draw.New(dst), ungrouped)
	_, err = vgimg.PngCanvas{Canvas: dst}.WriteTo(w)
	return err
}

// CSV writes one line for each point of the chart. It has the exact numbers, in the units of the
// points. A text that a spreadsheet would take for a formula is preceded by an apostrophe.
func (c *Chart) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"panel", "series", "place", "place of", "value", "low", "high", "unit", "note"})
	for _, p := range c.Panels {
		for _, s := range p.Series {
			for _, q := range s.Points {
				place := exactly(q.X)
				if i := int(q.X); p.Lanes != nil && i >= 0 && i < len(p.Lanes) {
					place = p.Lanes[i]
				}
				note := strings.TrimSpace(q.Text + " " + q.Doubt)
				out.Write(redact.Cells(p.name(c), s.Name, place, strings.TrimSpace(p.X.Label+" "+p.X.base()), exactly(q.Value), exactly(q.Low), exactly(q.High), p.Y.base(), note))
			}
		}
	}
	out.Flush()
	return out.Error()
}

// name returns the panel's title. Without a title it returns the label of the Y axis.
func (p *Panel) name(c *Chart) string {
	switch {
	case p.Title != "":
		return p.Title
	case p.Y.Label != "":
		return p.Y.Label
	}
	return c.Title
}
