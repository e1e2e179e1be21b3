package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A size is the size in which a panel is drawn, in units of about a pixel.
type size struct {
	width, height vg.Length // the height applies to panels without lanes
	text          vg.Length // the font size of the texts at the axes
}

// These are the sizes of panels for each number of columns. A panel in a single column has a
// different size in a narrow window.
var (
	sizes  = [...]size{1: {980, 340, 12}, 2: {430, 265, 12}, 3: {330, 215, 11}}
	half   = size{560, 390, 13}
	narrow = size{370, 270, 11}
)

// size returns the size of the panels of a chart in so many columns.
func (c *Chart) size(columns int) size {
	if c.Half && columns == 1 {
		return half
	}
	return sizes[columns]
}

// A frame is everything in a panel except the points.
type frame struct {
	panel  *Panel
	log    bool // whether the Y axis is logarithmic
	text   words
	places scale // the scale of the X axis
	values scale // the scale of the Y axis
	left, right,
	top, bottom vg.Length // the edges of the area of the points; y grows upwards
	lane vg.Length // the height of a lane, or 0
	head vg.Length // the height of the label of a lane
}

const (
	barWidth  = 7
	laneSpace = 5
)

// laneHeights returns the height of a lane, and the height of its label.
func (p *Panel) laneHeights(text vg.Length) (lane, head vg.Length) {
	bars := 1
	if p.Beside {
		bars = max(1, p.bars())
	}
	for _, l := range p.Lanes {
		if l != "" {
			head = text + 5
		}
	}
	return head + vg.Length(bars)*barWidth + laneSpace, head
}

// bars returns how many series are bars.
func (p *Panel) bars() (n int) {
	for _, s := range p.Series {
		if s.Kind == Bars {
			n++
		}
	}
	return n
}

// height returns the height of a panel.
func (p *Panel) height(s size) vg.Length {
	if p.Lanes == nil {
		return s.height
	}
	lane, _ := p.laneHeights(s.text)
	return lane*vg.Length(len(p.Lanes)) + p.above(s) + 2*s.text + 18
}

// head returns the lines above the points: the lines of the title, and the label of the vertical axis.
func (p *Panel) head(s size) (title []string, axis string) {
	vertical := &p.Y
	if p.turned() {
		vertical = &p.X
	}
	text := p.Title
	switch {
	case p.Lanes != nil:
	case text != "" && vertical.Label == "" && vertical.Unit != "":
		text += " (" + vertical.Unit + ")"
	default:
		axis = words{size: s.text}.fit(vertical.named(), s.width-8)
	}
	return words{size: s.text + 2, bold: true}.lines(text, s.width-8, 2), axis
}

// above returns the height of the lines above the points.
func (p *Panel) above(s size) vg.Length {
	title, axis := p.head(s)
	high := vg.Length(len(title)) * (s.text + 5)
	if axis != "" {
		high += s.text + 4
	}
	return high + 6
}

// frame draws a panel without its series onto a canvas.
func (p *Panel) frame(c draw.Canvas, s size, log bool) *frame {
	f := &frame{panel: p, log: log, text: words{size: s.text, color: soft}}
	f.scales()
	w := c.Rectangle.Size().X
	y := c.Max.Y
	title, axis := p.head(s)
	for _, l := range title {
		y -= s.text + 5
		words{size: s.text + 2, bold: true, color: ink}.draw(c, c.Min.X+2, y+2, 0, l)
	}
	if axis != "" {
		f.text.draw(c, c.Min.X+2, y-s.text, 0, axis)
	}
	f.top = c.Max.Y - p.above(s)
	f.bottom = c.Min.Y + 2*s.text + 16
	f.left, f.right = c.Min.X+4, c.Max.X-6
	vertical, across := &f.values, &f.places
	vAxis, aAxis := &p.Y, &p.X
	if p.turned() {
		vertical, across, vAxis, aAxis = across, vertical, aAxis, vAxis
	}
	var marks []tick
	if p.Lanes == nil {
		marks = vertical.ticks(vAxis, max(2, int((f.top-f.bottom)/(3.2*s.text))))
		gutter := 3 * s.text // most panels get the same width, so that they are aligned
		for _, t := range marks {
			gutter = max(gutter, f.text.width(t.label)+4)
		}
		f.left = c.Min.X + 2 + min(gutter, w/3)
		vertical.from, vertical.to = f.bottom, f.top
	} else {
		f.lane, f.head = p.laneHeights(s.text)
		vertical.from, vertical.to = f.top, f.bottom
	}
	across.from, across.to = f.left, f.right
	f.shades(c)
	f.vertical(c, vertical, marks)
	f.across(c, across, across.ticks(aAxis, max(2, int((f.right-f.left)/(5.5*s.text)))))
	f.text.draw(c, (f.left+f.right)/2, c.Min.Y+4, 0.5, f.text.fit(aAxis.named(), f.right-f.left))
	return f
}

// scales sets the scales of the frame. They depend on the points of the panel.
func (f *frame) scales() {
	p := f.panel
	var xs, ys, highs []float64
	for _, s := range p.Series {
		for _, q := range s.shown(f.log) {
			xs, highs = append(xs, q.X), append(highs, q.High)
			ys = append(ys, q.Value, q.High)
			if q.Low > 0 || !f.log {
				ys = append(ys, q.Low)
			}
		}
	}
	if f.clips(&p.Y) {
		ys = upTo(ys, usual(highs))
	}
	if f.clips(&p.X) {
		xs = upTo(xs, usual(xs))
	}
	f.values = scaleOf(&p.Y, ys, f.log, 0.05)
	pad := 0.03
	if p.Turned || p.Y.Zero && p.X.Zero {
		pad = 0.01
	}
	if p.Lanes != nil {
		f.places = scale{lo: -0.5, hi: float64(len(p.Lanes)) - 0.5}
		return
	}
	f.places = scaleOf(&p.X, xs, p.X.Log, pad)
}

// gridLine returns the style of a line of the grid. The line at 0 is stronger if there are values
// on both sides of it.
func gridLine(zero bool) draw.LineStyle {
	if zero {
		return draw.LineStyle{Color: soft, Width: 1}
	}
	return draw.LineStyle{Color: grid, Width: 1}
}

// vertical draws the marks of the vertical axis, or the labels of the lanes.
func (f *frame) vertical(c draw.Canvas, s *scale, marks []tick) {
	for _, t := range marks {
		y := s.at(t.at)
		c.StrokeLine2(gridLine(t.at == 0 && s.lo < 0), f.left, y, f.right, y)
	}
	last := vg.Length(-1e9)
	for _, t := range marks {
		if y := s.at(t.at); y-last > f.text.size { // labels do not overlap
			f.text.draw(c, f.left-4, y-0.35*f.text.size, 1, t.label)
			last = y
		}
	}
}

// labels draws the labels of the lanes, each above the bars of its lane, and the lines between the
// lanes.
func (f *frame) labels(c draw.Canvas) {
	said := words{size: f.text.size, color: ink}
	for i, l := range f.panel.Lanes {
		if y := f.top - f.lane*vg.Length(i); f.head > 0 {
			c.StrokeLine2(gridLine(false), f.left, y, f.right, y)
		}
		text := said.fit(l, f.right-f.left)
		at := vg.Point{X: f.left, Y: f.top - f.lane*vg.Length(i) - f.text.size - 2}
		if text != "" { // the background hides the lines of the grid behind the label
			to := at.Add(vg.Point{X: said.width(text) + 3, Y: f.text.size})
			from := at.Add(vg.Point{Y: -3})
			c.FillPolygon(paper, []vg.Point{from, {X: to.X, Y: from.Y}, to, {X: from.X, Y: to.Y}})
		}
		said.draw(c, at.X, at.Y, 0, text)
	}
}

// across draws the marks of the horizontal axis. It leaves out labels that would overlap.
func (f *frame) across(c draw.Canvas, s *scale, marks []tick) {
	for _, t := range marks {
		x := s.at(t.at)
		c.StrokeLine2(gridLine(t.at == 0 && s.lo < 0), x, f.bottom, x, f.top)
	}
	c.StrokeLine2(draw.LineStyle{Color: soft, Width: 1}, f.left, f.bottom, f.right, f.bottom)
	last := vg.Length(-1e9)
	for _, t := range marks {
		half := f.text.width(t.label) / 2
		at := max(s.at(t.at), f.left-20+half)
		at = min(at, f.right+5-half)
		if at-half > last {
			f.text.draw(c, at, f.bottom-f.text.size-5, 0.5, t.label)
			last = at + half + 5
		}
	}
}

// shades draws the parts of the X axis that have a different background.
func (f *frame) shades(c draw.Canvas) {
	tone := grid
	tone.A = 0x99
	for _, s := range f.panel.Shades {
		from, to := f.point(s.From, f.values.lo), f.point(s.To, f.values.hi)
		c.FillPolygon(tone, []vg.Point{from, {X: from.X, Y: to.Y}, to, {X: to.X, Y: from.Y}})
	}
}

// point returns the position of a value at a place.
func (f *frame) point(x, value float64) vg.Point {
	if f.panel.turned() {
		return vg.Point{X: f.values.at(value), Y: f.places.at(x)}
	}
	return vg.Point{X: f.places.at(x), Y: f.values.at(value)}
}

// shift returns how far the bar of a series is above the middle of its lane.
func (f *frame) shift(s *Series) vg.Length {
	below := f.head / 2 // bars are below the label
	if !f.panel.Beside || s.Kind != Bars {
		return -below
	}
	i, n := 0, f.panel.bars()
	for _, o := range f.panel.Series {
		if o == s {
			break
		}
		if o.Kind == Bars {
			i++
		}
	}
	return (vg.Length(n-1)/2-vg.Length(i))*barWidth - below
}
