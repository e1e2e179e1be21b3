package chart

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// outlying is how many times as large as all other numbers an outlier is, and outliers the share of the numbers that may
// be outliers. One always may.
const (
	outlying = 5
	outliers = 0.05
)

// usual returns the largest of the numbers that is no outlier. It is infinite if there are no outliers.
func usual(numbers []float64) float64 {
	down := slices.SortedFunc(slices.Values(numbers), func(a, b float64) int { return cmp.Compare(b, a) })
	for k := 1; k <= max(1, int(outliers*float64(len(down)))) && k+2 < len(down); k++ {
		if down[k] > 0 && down[k-1] > outlying*down[k] {
			return down[k]
		}
	}
	return math.Inf(1)
}

// upTo returns the numbers that are at most largest.
func upTo(numbers []float64, largest float64) []float64 {
	return slices.DeleteFunc(numbers, func(v float64) bool { return v > largest })
}

// clips reports whether an axis may end below the largest numbers. The notes of a panel then say so; turned panels have
// none.
func (f *frame) clips(a *Axis) bool {
	log := a == &f.panel.Y && f.log || a == &f.panel.X && a.Log
	return a.Clip && !log && !f.panel.turned()
}

// off reports whether a point is outside the scales of a panel.
func (f *frame) off(p *Point) bool {
	return f.clips(&f.panel.Y) && p.Value > f.values.hi || f.clips(&f.panel.X) && p.X > f.places.hi
}

// A note is a text beside a point.
type note struct {
	series *Series
	text   string
	at     vg.Point     // the point
	box    vg.Rectangle // where the text is; empty if there is no room
	arrow  int          // the mark of a point that is outside the scales, or -1
}

// notes writes the labels of points where there is room, and marks points that are outside the scales.
func (f *frame) notes(c draw.Canvas, all []*Series, g group) {
	if f.panel.turned() {
		return
	}
	said := words{size: f.text.size, color: ink}
	var notes []*note
	var taken []vg.Rectangle
	around := func(at vg.Point, r vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: at.X - r, Y: at.Y - r}, Max: vg.Point{X: at.X + r, Y: at.Y + r}}
	}
	for _, s := range f.panel.Series {
		for _, p := range s.shown(f.log) {
			n := &note{series: s, text: p.Label, at: f.point(p.X, p.Value), arrow: -1}
			y := p.Value
			if f.clips(&f.panel.Y) && p.High > f.values.hi {
				n.arrow, y = Triangle, p.High
				n.text = "↑ " + Brief(y*f.panel.Y.scale())
			}
			if f.clips(&f.panel.X) && p.X > f.places.hi {
				n.arrow = Right
				n.text = "→ " + Brief(p.X*f.panel.X.scale())
			}
			if n.arrow >= 0 {
				n.at = vg.Point{X: min(f.point(p.X, y).X, f.right-5), Y: min(f.point(p.X, y).Y, f.top-5)}
			}
			if !s.Bare {
				taken = append(taken, around(n.at, vg.Length(max(3, s.Look.Size))+1))
			}
			if n.text != "" {
				notes = append(notes, n)
			}
		}
	}
	for _, n := range notes {
		w, h := said.width(n.text), f.text.size
		for _, at := range beside(w, h) {
			box := vg.Rectangle{Min: n.at.Add(at)}
			box.Max = box.Min.Add(vg.Point{X: w, Y: h})
			inside := box.Min.X >= f.left && box.Max.X <= f.right && box.Min.Y >= f.bottom && box.Max.Y <= f.top
			if inside && !slices.ContainsFunc(taken, func(o vg.Rectangle) bool { return overlap(box, o) }) {
				n.box, taken = box, append(taken, box)
				break
			}
		}
	}
	for _, s := range f.panel.Series {
		if !slices.ContainsFunc(notes, func(n *note) bool { return n.series == s }) {
			continue
		}
		g(indexOf(all, s), func() {
			for _, n := range notes {
				if n.series != s {
					continue
				}
				if n.arrow >= 0 {
					Look{Color: s.Look.Color, Mark: n.arrow, Size: 4}.mark(c, n.at, false)
				}
				if n.box != (vg.Rectangle{}) {
					if n.arrow >= 0 { // lines must not cross the number
						c.FillPolygon(paper, []vg.Point{n.box.Min, {X: n.box.Max.X, Y: n.box.Min.Y}, n.box.Max, {X: n.box.Min.X, Y: n.box.Max.Y}})
					}
					said.draw(c, n.box.Min.X, n.box.Min.Y+0.15*f.text.size, 0, n.text)
				}
			}
		})
	}
}

// beside returns where the lower left corner of a text of the given size may be, relative to its point: near the point
// first, and then farther away.
func beside(w, h vg.Length) (all []vg.Point) {
	for _, d := range []vg.Length{6, 13, 24} {
		all = append(all, vg.Point{X: d, Y: -0.4 * h}, vg.Point{X: -w - d, Y: -0.4 * h}, vg.Point{X: -w / 2, Y: d}, vg.Point{X: -w / 2, Y: -h - d},
			vg.Point{X: d, Y: d - 2}, vg.Point{X: -w - d, Y: d - 2}, vg.Point{X: d, Y: -h - d + 2}, vg.Point{X: -w - d, Y: -h - d + 2})
	}
	return all
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
