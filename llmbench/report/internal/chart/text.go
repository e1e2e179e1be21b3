package chart

import (
	"image/color"
	"math"
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

// A words is a kind of text.
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

// draw writes a text whose baseline is at a height. The share of the text that is left of x is
// 0 to 1.
func (w words) draw(c draw.Canvas, x, y vg.Length, share float64, text string) {
	if text == "" {
		return
	}
	c.SetColor(w.color)
	c.FillString(w.face(), vg.Point{X: x - vg.Length(share)*w.width(text), Y: y}, text)
}

// fit shortens a text to a width.
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

// lines divides a text into at most n lines of a width. The last is shortened.
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

// Brief spells a number with three significant digits, and whole numbers below 100,000 with
// all. It uses no exponent from 0.001 to 1e7.
func Brief(v float64) string {
	size := math.Abs(v)
	switch {
	case v == 0: // and -0
		return "0"
	case math.IsNaN(v) || math.IsInf(v, 0), size < 1e-3 || size >= 1e7:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case v == math.Trunc(v) && size < 1e5:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// exactly spells a number with the fewest digits that read back as the same number.
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
func (a *Axis) base() string {
	if a.Base == "" {
		return a.Unit
	}
	return a.Base
}

func (a *Axis) scale() float64 {
	if a.Scale == 0 {
		return 1
	}
	return a.Scale
}
