package chart

import (
	"cmp"
	"encoding/xml"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bold is the value of WeightBold of golang.org/x/image/font.
const bold = 3

var fonts = font.NewCache(liberation.Collection())

// A words is a font in a size and a colour.
type words struct {
	size  vg.Length
	bold  bool
	color color.NRGBA
}

func (w words) face() font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: w.size}
	if w.bold {
		f.Weight = bold
	}
	return fonts.Lookup(f, w.size)
}

func (w words) width(text string) vg.Length {
	face := w.face()
	return face.Width(text)
}

// draw writes a text on a line at the height y. The share, from 0 to 1, is the part of the text
// that is to the left of x.
func (w words) draw(c draw.Canvas, x, y vg.Length, share float64, text string) {
	if text == "" {
		return
	}
	c.SetColor(w.color)
	c.FillString(w.face(), vg.Point{X: x - vg.Length(share)*w.width(text), Y: y}, text)
}

// fit shortens a text so that it is no wider than width.
func (w words) fit(text string, width vg.Length) string {
	text = strings.Join(strings.Fields(text), " ")
	if w.width(text) <= width {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		if cut := strings.TrimSpace(string(runes[:n])) + "…"; w.width(cut) <= width {
			return cut
		}
	}
	return "…"
}

// lines divides a text into at most n lines that are no wider than width. If there is more text,
// the last line is shortened.
func (w words) lines(text string, width vg.Length, n int) (all []string) {
	rest := strings.Fields(text)
	for len(rest) > 0 && len(all) < n-1 {
		k := 1
		for k < len(rest) && w.width(strings.Join(rest[:k+1], " ")) <= width {
			k++
		}
		all = append(all, w.fit(strings.Join(rest[:k], " "), width))
		rest = rest[k:]
	}
	if len(rest) > 0 {
		all = append(all, w.fit(strings.Join(rest, " "), width))
	}
	return all
}

// Brief returns a number as text with three significant digits. Whole numbers below 100,000 keep
// all digits. Numbers from 0.001 to 1e7 have no exponent.
func Brief(v float64) string {
	size := math.Abs(v)
	switch {
	case v == 0: // also -0
		return "0"
	case math.IsNaN(v) || math.IsInf(v, 0), size < 1e-3 || size >= 1e7:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case v == math.Trunc(v) && size < 1e5:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// exactly returns a number as text, with the fewest digits from which the same number can be read.
func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// named returns a label with its unit.
func (a *Axis) named() string {
	switch {
	case a.Unit == "":
		return a.Label
	case a.Label == "":
		return a.Unit
	}
	return a.Label + " (" + a.Unit + ")"
}

// base returns the unit of the points.
func (a *Axis) base() string { return cmp.Or(a.Base, a.Unit) }

func (a *Axis) scale() float64 { return cmp.Or(a.Scale, 1) }

// escape escapes a text for XML and HTML.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // writing to a Builder never fails
	return b.String()
}

// A group marks the elements that a function draws as a series of an SVG.
type group func(index int, of func())

// indexOf returns the index of a series in the legend, or -1 if the series has no name.
func indexOf(all []*Series, s *Series) int {
	return slices.IndexFunc(all, func(o *Series) bool { return o.Name == s.Name })
}
