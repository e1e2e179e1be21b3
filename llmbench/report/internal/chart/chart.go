package chart

import (
	"fmt"
	"math"
	"slices"
)

// A Chart is some panels with one legend.
type Chart struct {
	ID      string // unique in a page, and valid in a file name
	Title   string
	Panels  []*Panel
	Columns int // number of panels beside each other where there is room: 1 to 3; 0 means 1
}

// A Panel is a plot: series of points on two axes. Places are along the X axis, which is
// horizontal, and values are along the Y axis.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []*Series
	Shades []Shade // parts of the X axis with another background

	// Turned draws the X axis vertically, and the Y axis horizontally.
	Turned bool
	// Lanes makes the places lanes from the top down. The X of a point is the index of its
	// lane. Such a panel is always turned. An empty text is a lane without a label, which
	// takes less room.
	Lanes []string
	// Beside draws the bars of several series in a lane beside each other. Otherwise they
	// are drawn at the same height.
	Beside bool

	Height float64 // of the panel in units of about a pixel; 0 means by the number of columns
}

// An Axis says how places or values are shown.
type Axis struct {
	Label string  // what the axis has
	Unit  string  // of the marks, or ""
	Base  string  // unit of the points; "" means Unit
	Scale float64 // marks are the points' numbers multiplied by Scale; 0 means 1

	Log  bool // the axis is logarithmic at first
	Both bool // a reader can choose between linear and logarithmic; only for Y

	Zero     bool      // the axis has 0 if it is linear
	From, To float64   // the axis has at least this range, in the points' numbers; both 0 means that the points decide
	Ticks    []float64 // places of marks, in the points' numbers; nil means round numbers
}

// A Kind is how the points of a series are drawn.
type Kind int

const (
	Lines  Kind = iota // joined points, with a band from Low to High
	Steps              // each value holds until the next place
	Dots               // marks, not joined
	Bars               // bars from Low to High, with a mark at Value
	Limits             // short lines across the lane, or across the direction of values
)

// A Series is points with a name and a look. Series with the same name in several panels are
// one entry of the legend.
type Series struct {
	Name   string
	Look   Look
	Kind   Kind
	Bare   bool // without marks at the values
	Values bool // the values of bars are written behind them
	Points []Point
}

// A Point is a value at a place. Low <= Value <= High must hold. Points with a number that is
// not finite are not drawn.
type Point struct {
	X, Value  float64
	Low, High float64 // range of the value, or the ends of a bar
	Text      string  // said beside the value, or ""
	Doubt     string  // why the value is in doubt, or "" if it is not; marks in doubt are hollow
}

// At returns a point without a range.
func At(x, value float64) Point { return Point{X: x, Value: value, Low: value, High: value} }

// A Shade is a part of the X axis.
type Shade struct{ From, To float64 }

func (p *Point) finite() bool {
	for _, v := range []float64{p.X, p.Value, p.Low, p.High} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// shown returns the points that can be drawn on an axis.
func (s *Series) shown(log bool) []Point {
	var all []Point
	for _, p := range s.Points {
		if p.finite() && (!log || p.Value > 0) {
			all = append(all, p)
		}
	}
	return all
}

// turned reports whether values are horizontal.
func (p *Panel) turned() bool { return p.Turned || p.Lanes != nil }

// empty reports whether the panel has no point to draw.
func (p *Panel) empty() bool {
	return !slices.ContainsFunc(p.Series, func(s *Series) bool { return len(s.shown(false)) > 0 })
}

// scales returns the variants of a panel: whether its Y axis is logarithmic. The first is
// shown at first.
func (p *Panel) scales() []bool {
	positive := slices.ContainsFunc(p.Series, func(s *Series) bool { return len(s.shown(true)) > 0 })
	switch {
	case !positive:
		return []bool{false}
	case p.Y.Both:
		return []bool{p.Y.Log, !p.Y.Log}
	}
	return []bool{p.Y.Log}
}

// panels returns the panels that have a point. A chart must have one.
func (c *Chart) panels() ([]*Panel, error) {
	all := slices.DeleteFunc(slices.Clone(c.Panels), (*Panel).empty)
	if len(all) == 0 {
		return nil, fmt.Errorf("picture %s: no point to draw: want one", c.ID)
	}
	return all, nil
}

// Empty reports whether the chart has no point to draw.
func (c *Chart) Empty() bool {
	_, err := c.panels()
	return err != nil
}

// columns returns the number of panels beside each other.
func (c *Chart) columns() int { return max(1, min(3, c.Columns, len(c.Panels))) }

// legend returns a series of each name, in the order in which they occur. There is no legend
// for one series that is not in doubt.
func (c *Chart) legend() (all []*Series) {
	for _, p := range c.Panels {
		for _, s := range p.Series {
			if s.Name != "" && len(s.shown(false)) > 0 && !slices.ContainsFunc(all, func(o *Series) bool { return o.Name == s.Name }) {
				all = append(all, s)
			}
		}
	}
	return all
}

// doubtful reports whether a point of the chart is in doubt.
func (c *Chart) doubtful() bool {
	for _, p := range c.Panels {
		for _, s := range p.Series {
			if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Doubt != "" }) {
				return true
			}
		}
	}
	return false
}
