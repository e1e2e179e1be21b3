package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Color is an index of the colours of series, or one of the constants.
type Color int

// Colours that belong to no series.
const (
	Ink  Color = -1 // that of text
	Soft Color = -2 // less prominent than Ink
)

// The colours on a light page. The colours of series differ in brightness too, so that they differ
// for all kinds of colour vision, and each has a contrast of at least 3 to the paper, as
// WCAG 2.2 wants of graphics (https://www.w3.org/TR/WCAG22/#non-text-contrast).
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

// A Look is the style of a series. The zero value is a solid line of the first colour with
// circles.
type Look struct {
	Color Color
	Dash  int     // index of the kinds of dashes; 0 is solid
	Mark  int     // index of the shapes of marks; 0 is a circle
	Ring  bool    // marks are outlines
	Size  float64 // radius of marks in about pixels; 0 means 3
}

// LookOf returns the look of the series of an index from 0. Colours, dashes and marks differ,
// so that up to 42 looks differ without their dashes.
func LookOf(i int) Look {
	return Look{Color: Color(i % len(palette)), Dash: i / len(palette) % len(dashes), Mark: i % len(marks)}
}

// LineLookOf returns the look of a line without marks, of an index from 0. Up to six lines
// differ without their colours.
func LineLookOf(i int) Look {
	return Look{Color: Color(i % len(palette)), Dash: (i + i/len(palette)) % len(dashes)}
}

// Dotted is the index of dots among dashes.
const Dotted = 2

var dashes = [][]vg.Length{nil, {7, 3}, {2, 2}, {9, 3, 2, 3}, {14, 4}, {9, 3, 2, 3, 2, 3}}

// Shapes of marks, for Look.Mark.
const (
	Circle = iota
	Square
	Triangle
	Diamond
	Down // a triangle that points down
	Cross
	Star
)

// marks are the corners of the shapes, for a radius of 1. A circle has none.
var marks = [][]vg.Point{
	Circle:   nil,
	Square:   corners(4, math.Pi/4, 1.2, 1.2),
	Triangle: corners(3, math.Pi/2, 1.3, 1.3),
	Diamond:  corners(4, math.Pi/2, 1.35, 1.35),
	Down:     corners(3, -math.Pi/2, 1.3, 1.3),
	Cross:    cross(),
	Star:     corners(10, math.Pi/2, 1.5, 0.7),
}

// corners returns n corners around 0, alternately at two distances.
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

// mark draws a mark at a place.
func (l Look) mark(c draw.Canvas, at vg.Point, hollow bool) {
	r := vg.Length(l.Size)
	if r == 0 {
		r = 3
	}
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
