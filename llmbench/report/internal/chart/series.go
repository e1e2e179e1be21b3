package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// series draws a series inside the frame.
func (f *frame) series(c draw.Canvas, s *Series) {
	points := s.shown(f.log)
	if len(points) == 0 {
		return
	}
	switch s.Kind {
	case Lines, Steps:
		f.band(c, s, points)
		f.joined(c, s, points)
	case Bars:
		f.barsOf(c, s, points)
	case Limits:
		f.limits(c, s, points)
		return
	}
	if s.Bare {
		return
	}
	up := vg.Point{Y: f.shift(s)}
	looks := []Look{s.Look}
	if s.Kind == Bars { // a mark in the colour of the bar would be invisible, and one in ink hides a narrow bar
		looks = []Look{s.Look, s.Look}
		looks[0].Size = 4.5
		looks[1].Color, looks[1].Size = Ink, 2
	}
	for _, p := range points {
		for _, look := range looks {
			if !f.off(&p) {
				look.mark(c, f.point(p.X, p.Value).Add(up), p.Doubt != "")
			}
		}
	}
}

// joined draws the line that joins the points.
func (f *frame) joined(c draw.Canvas, s *Series, points []Point) {
	var all []vg.Point
	for i, p := range points {
		if s.Kind == Steps && i > 0 {
			all = append(all, f.point(p.X, points[i-1].Value))
		}
		all = append(all, f.point(p.X, p.Value))
	}
	c.StrokeLines(s.Look.line(1.8), all)
}

// band draws the area between the low and the high values, unless it would be empty.
func (f *frame) band(c draw.Canvas, s *Series, points []Point) {
	var all []vg.Point
	wide := false
	for _, p := range points {
		all = append(all, f.point(p.X, p.High))
		wide = wide || p.Low != p.High
	}
	if !wide {
		return
	}
	for i := len(points) - 1; i >= 0; i-- {
		all = append(all, f.point(points[i].X, points[i].Low))
	}
	tone := s.Look.Color.rgb()
	tone.A = 0x33
	c.FillPolygon(tone, all)
}

// barsOf draws bars. The bars of values in doubt are outlines.
func (f *frame) barsOf(c draw.Canvas, s *Series, points []Point) {
	const high = barWidth - 1
	up := f.shift(s)
	said := words{size: f.text.size, color: ink}
	for _, p := range points {
		from, to := f.point(p.X, p.Low), f.point(p.X, p.High)
		if f.log && p.Low <= 0 {
			from.X = f.left
		}
		from.Y, to.Y = from.Y+up-high/2, to.Y+up+high/2
		if to.X-from.X < 1.5 { // so that the bar is still visible
			to.X = from.X + 1.5
		}
		if text := Brief(p.Value * f.panel.Y.scale()); s.Values {
			at := min(to.X+4, f.right-said.width(text))
			said.draw(c, at, from.Y, 0, text)
		}
		shape := []vg.Point{from, {X: to.X, Y: from.Y}, to, {X: from.X, Y: to.Y}}
		if p.Doubt != "" {
			c.FillPolygon(paper, shape)
			c.StrokeLines(s.Look.line(1.3), append(shape, from))
			continue
		}
		c.FillPolygon(s.Look.Color.rgb(), shape)
	}
}

// limits draws a short line at each value.
func (f *frame) limits(c draw.Canvas, s *Series, points []Point) {
	for _, p := range points {
		at := f.point(p.X, p.Value)
		from, to := at, at
		if f.panel.turned() {
			half := max(f.lane-f.head, 2*barWidth) / 2
			from.Y, to.Y = at.Y+f.shift(s)-half, at.Y+f.shift(s)+half
		} else {
			from.X, to.X = at.X-6, at.X+6
		}
		c.StrokeLines(s.Look.line(1.8), []vg.Point{from, to})
	}
}
