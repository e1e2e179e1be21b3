package chart

import (
	"cmp"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Color is an index into the colours of series, or one of the constants below.
type Color int

// These colours belong to no series.
const (
	Ink  Color = -1 // the colour of text
	Soft Color = -2 // less prominent than Ink
)

// These are the colours on a light page. The colours of series also differ in brightness. So they
// can be told apart with every kind of colour vision. Each has a contrast of at least 3 to the
// paper, as WCAG 2.2 requires for graphics (https://www.w3.org/TR/WCAG22/#non-text-contrast).
var (
	ink     = color.NRGBA{0x22, 0x22, 0x23, 0xff}
	soft    = color.NRGBA{0x5c, 0x5c, 0x64, 0xff}
	grid    = color.NRGBA{0xe2, 0xe2, 0xe6, 0xff}
	paper   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	palette = []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff}, // blue
		{0xd1, 0x57, 0x00, 0xff}, // vermillion
		{0x00, 0x89, 0x63, 0xff}, // bluish green
		{0xa8, 0x6f, 0x00, 0xff}, // ochre
		{0xae, 0x4d, 0x88, 0xff}, // reddish purple
		{0x5a, 0x5f, 0x7d, 0xff}, // slate
	}
)

func (c Color) rgb() color.NRGBA {
	switch {
	case c == Soft:
		return soft
	case c < 0:
		return ink
	}
	return palette[int(c)%len(palette)]
}

// A Look is the style of a series. The zero value is a solid line with circles, in the first
// colour.
type Look struct {
	Color Color
	Dash  int     // the index of the kind of dashes; 0 is a solid line
	Mark  int     // the index of the shape of the marks; 0 is a circle
	Ring  bool    // if true, the marks are outlines
	Size  float64 // the radius of the marks in units of about a pixel; 0 means 3
}

// LookOf returns the look of the i-th series, counted from 0. Looks differ in colour, dashes and
// marks. Up to 42 looks can be told apart even without the dashes.
func LookOf(i int) Look {
	return Look{Color: Color(i % len(palette)), Dash: i / len(palette) % len(dashes), Mark: i % len(glyphs)}
}

// LineLookOf returns the look of the i-th line without marks, counted from 0. Up to six lines can
// be told apart even without their colours.
func LineLookOf(i int) Look {
	return Look{Color: Color(i % len(palette)), Dash: (i + i/len(palette)) % len(dashes)}
}

// Dotted is the index of the dotted line, for Look.Dash.
const Dotted = 2

var dashes = [][]vg.Length{nil, {7, 3}, {2, 2}, {9, 3, 2, 3}, {14, 4}, {9, 3, 2, 3, 2, 3}}

// These are the shapes of marks, for Look.Mark.
const (
	Circle = iota
	Square
	Triangle
	Diamond
	Down // a triangle that points down
	Cross
	Star
	Right // a triangle that points to the right, for points outside the scale
)

// Colors returns the number of the colour of the i-th look, from 1, and a character with the shape of its marks.
func Colors(i int) (color int, glyph string) {
	look := LookOf(i)
	return int(look.Color) + 1, glyphs[look.Mark]
}

var glyphs = [...]string{Circle: "●", Square: "■", Triangle: "▲", Diamond: "◆", Down: "▼", Cross: "✚", Star: "★"}

// marks holds the corners of each shape for a radius of 1. A circle has no corners.
var marks = [][]vg.Point{
	Circle:   nil,
	Square:   corners(4, math.Pi/4, 1.2, 1.2),
	Triangle: corners(3, math.Pi/2, 1.3, 1.3),
	Diamond:  corners(4, math.Pi/2, 1.35, 1.35),
	Down:     corners(3, -math.Pi/2, 1.3, 1.3),
	Cross:    cross(),
	Star:     corners(10, math.Pi/2, 1.5, 0.7),
	Right:    corners(3, 0, 1.3, 1.3),
}

// corners returns n corners around the origin. Their distances from it alternate between two
// values.
func corners(n int, from, even, odd float64) (all []vg.Point) {
	for i := range n {
		r := even
		if i%2 == 1 {
			r = odd
		}
		sin, cos := math.Sincos(from + 2*math.Pi*float64(i)/float64(n))
		all = append(all, vg.Point{X: vg.Length(r * cos), Y: vg.Length(r * sin)})
	}
	return all
}

func cross() []vg.Point {
	const a, b = 1.3, 0.45
	return []vg.Point{{X: -b, Y: a}, {X: b, Y: a}, {X: b, Y: b}, {X: a, Y: b}, {X: a, Y: -b}, {X: b, Y: -b},
		{X: b, Y: -a}, {X: -b, Y: -a}, {X: -b, Y: -b}, {X: -a, Y: -b}, {X: -a, Y: b}, {X: -b, Y: b}}
}

// mark draws a mark at a point.
func (l Look) mark(c draw.Canvas, at vg.Point, hollow bool) {
	r := cmp.Or(vg.Length(l.Size), 3)
	var path vg.Path
	if shape := marks[l.Mark%len(marks)]; shape == nil {
		path.Move(at.Add(vg.Point{X: r}))
		path.Arc(at, r, 0, 2*math.Pi)
	} else {
		path.Move(at.Add(shape[0].Scale(r)))
		for _, p := range shape[1:] {
			path.Line(at.Add(p.Scale(r)))
		}
	}
	path.Close()
	switch {
	case l.Ring:
		c.SetLineStyle(draw.LineStyle{Color: l.Color.rgb(), Width: 1.5})
		c.Stroke(path)
	case hollow:
		c.SetColor(paper)
		c.Fill(path)
		c.SetLineStyle(draw.LineStyle{Color: l.Color.rgb(), Width: 1.3})
		c.Stroke(path)
	default:
		c.SetColor(l.Color.rgb())
		c.Fill(path)
	}
}

func (l Look) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.Color.rgb(), Width: width, Dashes: dashes[l.Dash%len(dashes)]}
}
