package chart

import (
	"fmt"
	"math"
	"slices"
)

// A Chart is one or more panels with a common legend.
type Chart struct {
	ID      string // must be unique in a page, and valid in a file name
	Title   string
	Panels  []*Panel
	Columns int // the number of panels in a row where there is room: 1 to 3; 0 means 1
	// If Half is true, a single panel is drawn for a place that is half as wide as a page.
	Half bool
}

// A Panel is a plot of series of points. A point has a place on the X axis, which is horizontal,
// and a value on the Y axis.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []*Series
	Shades []Shade // parts of the X axis with a different background

	// If Turned is true, the X axis is vertical, and the Y axis is horizontal.
	Turned bool
	// If Lanes is not nil, each place is a lane, and the lanes are drawn from the top down. The X
	// of a point is the index of its lane. Such a panel is always turned. A lane whose text is
	// empty has no label, and takes less room.
	Lanes []string
	// If Beside is true, the bars of several series in a lane are drawn side by side. Otherwise
	// they are drawn over each other.
	Beside bool

	// If ByText is true, points of several series with the same text belong together, such as the points of
	// one load. Otherwise points at the same place do.
	ByText bool
}

// An Axis says how places or values are shown.
type Axis struct {
	Label string  // what the axis shows
	Unit  string  // the unit of the numbers at the marks, or ""
	Base  string  // the unit of the points; "" means Unit
	Scale float64 // the numbers at the marks are the points' numbers times Scale; 0 means 1

	Log  bool // the axis is logarithmic when the page is opened
	Both bool // a reader can switch between linear and logarithmic; only for Y

	Zero     bool      // the axis includes 0 if it is linear
	From, To float64   // the axis includes this range, in the numbers of the points; both 0 means that the points decide
	Ticks    []float64 // where the marks are, in the numbers of the points; nil means at round numbers

	// If Clip is true and the axis is linear, it ends below few numbers that are much larger than all others. An arrow with
	// the number is at the edge instead.
	Clip bool
}

// A Kind says how the points of a series are drawn.
type Kind int

const (
	Lines  Kind = iota // joined points, with a band from Low to High
	Steps              // each value holds until the next place
	Dots               // marks, not joined
	Bars               // bars from Low to High, with a mark at Value
	Limits             // short lines across the lane, or at right angles to the direction of values
)

// A Series is points with a name and a look. Series that have the same name in several panels share
// one entry of the legend.
type Series struct {
	Name   string
	Look   Look
	Kind   Kind
	Bare   bool // if true, there are no marks at the values
	Values bool // if true, the values of bars are written behind the bars
	Points []Point
}

// A Point is a value at a place. Low <= Value <= High must hold. A point with a number that is not
// finite is not drawn.
type Point struct {
	X, Value  float64
	Low, High float64 // the range of the value, or the two ends of a bar
	Text      string  // is shown beside the value, or ""
	Label     string  // is written beside the mark where there is room, or ""
	Doubt     string  // says why the value is in doubt, or "" if it is not; the mark of a value in doubt is hollow
}

// At returns a point whose value has no range.
func At(x, value float64) Point { return Point{X: x, Value: value, Low: value, High: value} }

// A Shade is a part of the X axis with a different background.
type Shade struct{ From, To float64 }

func (p *Point) finite() bool {
	for _, v := range []float64{p.X, p.Value, p.Low, p.High} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// shown returns the points that can be drawn on a linear or a logarithmic axis.
func (s *Series) shown(log bool) []Point {
	var all []Point
	for _, p := range s.Points {
		if p.finite() && (!log || p.Value > 0) {
			all = append(all, p)
		}
	}
	return all
}

// turned reports whether the axis of the values is horizontal.
func (p *Panel) turned() bool { return p.Turned || p.Lanes != nil }

// empty reports whether the panel has no point to draw.
func (p *Panel) empty() bool {
	return !slices.ContainsFunc(p.Series, func(s *Series) bool { return len(s.shown(false)) > 0 })
}

// scales returns the variants of a panel. True stands for a logarithmic Y axis. The first variant
// is shown when the page is opened.
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

// panels returns the panels that have a point. It is an error if there is none.
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

// columns returns the number of panels in a row.
func (c *Chart) columns() int { return max(1, min(3, c.Columns, len(c.Panels))) }

// legend returns one series for each name, in the order in which the names first occur. If there is
// only one series and no point is in doubt, there is no legend.
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
