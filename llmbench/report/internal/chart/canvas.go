package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A canvas writes SVG elements. Its output is a fifth as long as the output of package vgsvg: successive
// paths in the same style become one element, with relative coordinates. Each text is given the
// width that was measured for it. A canvas does not support rotation, scaling or images: those
// methods of the nil Canvas panic.
type canvas struct {
	vg.Canvas
	high  vg.Length // the y coordinate of the upper edge
	size  vg.Length // the font size of most texts
	paint func(color.NRGBA) string
	text  strings.Builder

	color color.NRGBA
	width vg.Length
	dash  []vg.Length

	style string // the attributes of the element whose path is being written, or ""
	path  strings.Builder
	x, y  int // the current point of the path, in tenths
}

func newCanvas(high, size vg.Length, paint func(color.NRGBA) string) *canvas {
	return &canvas{high: high, size: size, paint: paint}
}

func (c *canvas) SetLineWidth(w vg.Length)                  { c.width = w }
func (c *canvas) SetLineDash(dash []vg.Length, _ vg.Length) { c.dash = slices.Clone(dash) }
func (c *canvas) SetColor(to color.Color)                   { c.color = color.NRGBAModel.Convert(to).(color.NRGBA) }

// element begins a path with a style. If the current path has the same style, it is continued.
func (c *canvas) element(style string) {
	if c.style != style {
		c.end()
		c.style = style
		c.x, c.y = 0, 0
	}
}

// end writes the path.
func (c *canvas) end() {
	if c.style != "" {
		fmt.Fprintf(&c.text, `<path %s d="%s"/>`, c.style, c.path.String())
	}
	c.path.Reset()
	c.style = ""
}

// begin begins a group with the given attributes.
func (c *canvas) begin(attributes string) {
	c.end()
	c.text.WriteString("<g " + attributes + ">")
}

// close ends the innermost group.
func (c *canvas) close() {
	c.end()
	c.text.WriteString("</g>")
}

// String returns the elements that were written.
func (c *canvas) String() string {
	c.end()
	return c.text.String()
}

func (c *canvas) Stroke(p vg.Path) {
	if c.width <= 0 {
		return
	}
	style := `fill="none" stroke="` + c.paint(c.color) + `"`
	if c.width != 1 {
		style += ` stroke-width="` + short(c.width) + `"`
	}
	if len(c.dash) > 0 {
		var all []string
		for _, d := range c.dash {
			all = append(all, short(d))
		}
		style += ` stroke-dasharray="` + strings.Join(all, " ") + `"`
	}
	if c.color.A < 255 {
		style += ` stroke-opacity="` + opacity(c.color) + `"`
	}
	c.element(style)
	c.draw(p)
}

func (c *canvas) Fill(p vg.Path) {
	style := `fill="` + c.paint(c.color) + `"`
	if c.color.A < 255 {
		style += ` fill-opacity="` + opacity(c.color) + `"`
	}
	c.element(style)
	c.draw(p)
}

// FillString writes a text. The size and colour of most texts are attributes of the outermost
// element, so they are not repeated.
func (c *canvas) FillString(f font.Face, at vg.Point, text string) {
	c.end()
	style := ""
	if f.Font.Size != c.size {
		style += ` font-size="` + short(f.Font.Size) + `"`
	}
	if f.Font.Weight == bold {
		style += ` font-weight="bold"`
	}
	if c.color != soft {
		style += ` fill="` + c.paint(c.color) + `"`
	}
	fmt.Fprintf(&c.text, `<text x="%s" y="%s" textLength="%s"%s>%s</text>`, short(at.X), short(c.high-at.Y), short(f.Width(text)), style, escape(text))
}

// svg returns the attributes of the outermost element, except its size and the font.
func (c *canvas) svg(wide vg.Length) string {
	return fmt.Sprintf(`viewBox="0 0 %s %s" font-size="%s" fill="%s"`, short(wide), short(c.high), short(c.size), c.paint(soft))
}

// draw appends a path to the current element.
func (c *canvas) draw(p vg.Path) {
	for _, part := range p {
		x, y := tenths(part.Pos.X), tenths(c.high-part.Pos.Y)
		switch part.Type {
		case vg.MoveComp:
			if c.path.Len() > 0 && x == c.x && y == c.y {
				continue // the path continues from the current point
			}
			c.command("m", x-c.x, y-c.y)
			c.x, c.y = x, y
		case vg.LineComp:
			switch {
			case x == c.x && y == c.y:
			case y == c.y:
				c.command("h", x-c.x)
			case x == c.x:
				c.command("v", y-c.y)
			default:
				c.command("l", x-c.x, y-c.y)
			}
			c.x, c.y = x, y
		case vg.ArcComp: // two halves, because an arc whose ends are at the same point would be empty
			for _, share := range []float64{0.5, 1} {
				sin, cos := math.Sincos(part.Start + share*part.Angle)
				x := tenths(part.Pos.X + part.Radius*vg.Length(cos))
				y := tenths(c.high - part.Pos.Y - part.Radius*vg.Length(sin))
				r := tenths(part.Radius)
				c.command("a", r, r)
				c.path.WriteString(" 0 0 0")
				c.numbers(" ", x-c.x, y-c.y)
				c.x, c.y = x, y
			}
		case vg.CloseComp:
			c.path.WriteString("z")
			// The next relative command starts from the start of this part.
			c.x, c.y = c.start(p)
		}
	}
}

// start returns the point where a path with a single part starts.
func (c *canvas) start(p vg.Path) (x, y int) { return tenths(p[0].Pos.X), tenths(c.high - p[0].Pos.Y) }

func (c *canvas) command(name string, numbers ...int) {
	c.path.WriteString(name)
	c.numbers("", numbers...)
}

func (c *canvas) numbers(before string, all ...int) {
	for _, n := range all {
		text := strings.TrimSuffix(strconv.FormatFloat(float64(n)/10, 'f', 1, 64), ".0")
		if !strings.HasPrefix(text, "-") {
			c.path.WriteString(before)
		}
		c.path.WriteString(text)
		before = " "
	}
}

func tenths(l vg.Length) int { return int(math.Round(10 * float64(l))) }

// short returns a length as text with one decimal.
func short(l vg.Length) string {
	return strings.TrimSuffix(strconv.FormatFloat(float64(l), 'f', 1, 64), ".0")
}

func opacity(c color.NRGBA) string { return strconv.FormatFloat(float64(c.A)/255, 'f', 2, 64) }

// hex returns a colour in the notation of SVG files.
func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// variable returns the CSS variable that holds a colour in a page.
func variable(c color.NRGBA) string {
	c.A = 255
	switch c {
	case ink:
		return "var(--ink)"
	case soft:
		return "var(--soft)"
	case grid:
		return "var(--grid)"
	case paper:
		return "var(--paper)"
	}
	return fmt.Sprintf("var(--c%d)", 1+slices.Index(palette, c))
}
