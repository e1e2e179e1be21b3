package report

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of pictures in a light page. The colours of lines are from the set that Okabe and
// Ito made for all kinds of colour vision (https://jfly.uni-koeln.de/color/). Lines differ in
// dashes and marks too. In a page each colour is a CSS variable, which a dark page sets to
// another value.
var (
	ink    = color.NRGBA{0x22, 0x22, 0x23, 0xff}
	grid   = color.NRGBA{0xdd, 0xdd, 0xde, 0xff}
	paper  = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	colors = []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff}, // blue
		{0xd5, 0x5e, 0x00, 0xff}, // vermillion
		{0x00, 0x9e, 0x73, 0xff}, // bluish green
		{0xe6, 0x9f, 0x00, 0xff}, // orange
		{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
		{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	}
	dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	marks  = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}}
)

// variables maps the colours, as the SVG spells them, to CSS variables.
var variables = func() *strings.Replacer {
	var pairs []string
	add := func(c color.NRGBA, name string) {
		pairs = append(pairs, fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B), "var(--"+name+")")
	}
	add(ink, "ink")
	add(grid, "grid")
	add(paper, "paper")
	for i, c := range colors {
		add(c, fmt.Sprintf("c%d", i+1))
	}
	return strings.NewReplacer(pairs...)
}()

// A look is the style of a line.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	mark   draw.GlyphDrawer
}

func lookOf(i int) look {
	return look{colors[i%len(colors)], dashes[i/len(colors)%len(dashes)], marks[i%len(marks)]}
}

// newPlot returns an empty plot whose y axis begins at 0.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = 11
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color = ink, ink
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = 9, 8
		a.Label.TextStyle.Font.Variant, a.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	p.Title.TextStyle.Color, p.Title.TextStyle.Font.Variant = ink, "Sans"
	p.Title.Padding = 3
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = grid, grid
	g.Vertical.Width, g.Horizontal.Width = 0.5, 0.5
	p.Add(g)
	p.X.Tick.Marker, p.Y.Tick.Marker = niceTicks{7}, niceTicks{5}
	p.Y.Min = 0
	return p
}

// headroom keeps the highest point away from the edge.
func headroom(p *plot.Plot) {
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
	p.Y.Max += 0.05 * (p.Y.Max - p.Y.Min)
}

// niceTicks returns about that number of marks, at 1, 2 or 5 times a power of ten.
type niceTicks struct{ n float64 }

func (t niceTicks) Ticks(lo, hi float64) (all []plot.Tick) {
	rough := (hi - lo) / t.n
	if !(rough > 0) || math.IsInf(rough, 0) {
		return []plot.Tick{{Value: lo, Label: brief(lo)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, by := range []float64{1, 2, 5, 10} {
		if step*by >= rough {
			step *= by
			break
		}
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
		all = append(all, plot.Tick{Value: i * step, Label: brief(i * step)})
	}
	return all
}

// A line is the points of a line, with a band if there were several samples.
type line struct {
	name   string
	look   look
	xs, ys []float64
	lo, hi []float64 // of the band, or nil
	bare   bool      // without marks
	steps  bool
}

func (l *line) add(x float64, s spread) {
	l.xs, l.ys = append(l.xs, x), append(l.ys, s.mid)
	l.lo, l.hi = append(l.lo, s.lo), append(l.hi, s.hi)
}

// banded reports whether the line has a visible band.
func (l *line) banded() bool {
	for i := range l.lo {
		if l.lo[i] != l.hi[i] {
			return true
		}
	}
	return false
}

// scale multiplies the values of the line.
func (l line) scale(x, y float64) line {
	mul := func(v []float64, by float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = v[i] * by
		}
		return out
	}
	l.xs, l.ys, l.lo, l.hi = mul(l.xs, x), mul(l.ys, y), mul(l.lo, y), mul(l.hi, y)
	return l
}

// draw adds the line to a plot.
func (l *line) draw(p *plot.Plot) error {
	if len(l.xs) == 0 {
		return nil
	}
	if l.banded() {
		var around plotter.XYs
		for i := range l.xs {
			around = append(around, plotter.XY{X: l.xs[i], Y: l.hi[i]})
		}
		for i := len(l.xs) - 1; i >= 0; i-- {
			around = append(around, plotter.XY{X: l.xs[i], Y: l.lo[i]})
		}
		band, err := plotter.NewPolygon(around)
		if err != nil {
			return err
		}
		shade := l.look.color
		shade.A = 0x40
		band.Color, band.LineStyle.Width = shade, 0
		p.Add(band)
	}
	points := make(plotter.XYs, len(l.xs))
	for i := range l.xs {
		points[i] = plotter.XY{X: l.xs[i], Y: l.ys[i]}
	}
	drawn, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	drawn.Color, drawn.Width, drawn.Dashes = l.look.color, 1.5, l.look.dashes
	if l.steps {
		drawn.StepStyle = plotter.PostStep
	}
	p.Add(drawn)
	if l.bare {
		return nil
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: l.look.color, Radius: 2.5, Shape: l.look.mark}
	p.Add(dots)
	return nil
}

// An axis is the unit in which a picture shows a unit of benchmark files.
type axis struct {
	label string
	scale float64
}

// axisOf returns the axis for a largest value: nanoseconds become µs, ms or s.
func axisOf(unit string, largest float64) axis {
	name, isTime := strings.CutSuffix(unit, "-ns")
	if !isTime {
		return axis{unit, 1}
	}
	switch {
	case largest >= 2e9:
		return axis{name + " (s)", 1e-9}
	case largest >= 2e6:
		return axis{name + " (ms)", 1e-6}
	}
	return axis{name + " (µs)", 1e-3}
}

// loadAxis makes the x axis a load, with marks at the points. The axis is logarithmic if the
// points span more than a factor of ten.
func loadAxis(p *plot.Plot, xs []float64) {
	lo, hi := math.Inf(1), 0.0
	for _, x := range xs {
		lo, hi = min(lo, x), max(hi, x)
	}
	if len(xs) == 0 || lo <= 0 {
		return
	}
	log := hi > 10*lo
	at := math.Log
	if !log {
		at = func(x float64) float64 { return x }
	}
	var ticks plot.ConstantTicks
	last := math.Inf(-1)
	for _, x := range xs {
		label := ""
		if where := (at(x) - at(lo)) / max(1e-9, at(hi)-at(lo)); where-last > 0.12 || len(ticks) == 0 {
			label, last = exactly(x), where
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	p.X.Tick.Marker = ticks
	if log {
		p.X.Scale = plot.LogScale{}
	}
	p.X.Min, p.X.Max = lo, hi
	if lo == hi {
		p.X.Min, p.X.Max = lo-1, hi+1
	}
}
