package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is the style sheet for the charts in a page. The page defines the colours, which are the
// variables --ink, --soft, --grid, --paper and --c1 to --c6.
//
//go:embed chart.css
var Style string

// Script is the script for the charts in a page. It starts when the page is complete. It makes no
// network requests, and adds all controls itself.
//
//go:embed chart.js
var Script string

// HTML returns the chart as a part of a page. All texts in it are escaped.
func (c *Chart) HTML() (text string, err error) {
	defer c.recovered(&err)
	panels, err := c.panels()
	if err != nil {
		return "", err
	}
	all := c.legend()
	cols := min(c.columns(), len(panels))
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="chart" data-id="%s" data-title="%s">`, escape(c.ID), escape(c.Title))
	c.keys(&b, all)
	fmt.Fprintf(&b, `<div class="panels cols%d">`, cols)
	data := figure{Names: []string{}}
	for _, s := range all {
		data.Names = append(data.Names, s.Name)
	}
	for _, p := range panels {
		scales := p.scales()
		class := "panel"
		if scales[0] {
			class += " log"
		}
		fmt.Fprintf(&b, `<div class="%s">`, class)
		var f *frame
		for _, log := range scales {
			name := ""
			if len(scales) > 1 {
				name = map[bool]string{false: "linear", true: "logarithmic"}[log]
			}
			f = p.svg(&b, c, c.size(cols), log, all, strings.TrimSpace(name+map[bool]string{true: " wide"}[cols == 1]))
			if cols == 1 {
				p.svg(&b, c, narrow, log, all, strings.TrimSpace(name+" narrow"))
			}
		}
		b.WriteString(`</div>`)
		data.Panels = append(data.Panels, p.data(c, all, f))
	}
	b.WriteString(`</div>`)
	encoded, err := json.Marshal(data) // no text in it can end the script element
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, `<script type="application/json">%s</script></div>`, encoded)
	return b.String(), nil
}

// keys writes the legend if there are several series, or if marks are in doubt.
func (c *Chart) keys(b *strings.Builder, all []*Series) {
	if len(all) < 2 && !c.doubtful() {
		return
	}
	b.WriteString(`<ul class="legend">`)
	if len(all) > 1 {
		for i, s := range all {
			fmt.Fprintf(b, `<li data-s="%d">%s %s</li>`, i, swatch(s), escape(s.Name))
		}
	}
	if c.doubtful() {
		in := newCanvas(14, 11, variable)
		Look{Color: Ink}.mark(draw.NewCanvas(in, 14, 14), vg.Point{X: 7, Y: 7}, true)
		fmt.Fprintf(b, `<li><svg width="14" height="14" aria-hidden="true">%s</svg> in doubt</li>`, in)
	}
	b.WriteString(`</ul>`)
}

func swatch(s *Series) string {
	in := newCanvas(14, 11, variable)
	s.swatch(draw.NewCanvas(in, 26, 14), vg.Point{X: 1, Y: 7})
	return `<svg width="26" height="14" aria-hidden="true">` + in.String() + `</svg>`
}

// svg writes a panel as an SVG element.
func (p *Panel) svg(b *strings.Builder, c *Chart, s size, log bool, all []*Series, class string) *frame {
	high := p.height(s)
	in := newCanvas(high, s.text, variable)
	f := p.draw(draw.NewCanvas(in, s.width, high), s, log, all, func(index int, of func()) {
		in.begin(fmt.Sprintf(`data-s="%d"`, index))
		of()
		in.close()
	})
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(b, `<svg%s role="img" aria-label="%s" %s data-frame="%s">%s</svg>`, class, escape(p.said(c)), in.svg(s.width), f.numbers(high), in)
	return f
}

// said returns the description of the panel for screen readers.
func (p *Panel) said(c *Chart) string {
	text := p.name(c)
	if p.X.Label != "" {
		text += " over " + p.X.Label
	}
	var names []string
	for _, s := range p.Series {
		if s.Name != "" && len(names) < 12 {
			names = append(names, s.Name)
		}
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}

// numbers returns what the script needs to find points. First come the left, right, upper and lower
// edges of the area of the points. For the places, and then for the values, the ends of the scale
// follow, and whether it is logarithmic.
func (f *frame) numbers(high vg.Length) string {
	text := []string{short(f.left), short(f.right), short(high - f.top), short(high - f.bottom)}
	for _, s := range []scale{f.places, f.values} {
		text = append(text, exactly(s.lo), exactly(s.hi), map[bool]string{false: "0", true: "1"}[s.log])
	}
	return strings.Join(text, " ")
}

// A figure is the data of a chart that its script reads.
type figure struct {
	Names  []string `json:"names"`
	Panels []plane  `json:"panels"`
}

type plane struct {
	Name   string    `json:"name"`
	X      axisData  `json:"x"`
	Y      axisData  `json:"y"`
	Turned bool      `json:"turned,omitempty"`
	Lanes  []string  `json:"lanes,omitempty"`
	By     bool      `json:"by,omitempty"` // tips show the points of other series with the same text
	Series []dataSet `json:"series"`
}

type axisData struct {
	Label string  `json:"label,omitempty"`
	Unit  string  `json:"unit,omitempty"`
	Base  string  `json:"base,omitempty"`
	Scale float64 `json:"scale,omitempty"`
}

// A dataSet is the data of a series. Each point begins with its place and its value. The low value,
// the high value, the text and the doubt follow, up to the last one that is needed.
type dataSet struct {
	Name   int     `json:"s"`
	Along  bool    `json:"along,omitempty"` // the script finds points by their place alone
	Shift  float64 `json:"shift,omitempty"` // how far bars are moved downwards
	Bars   bool    `json:"bars,omitempty"`
	Dots   bool    `json:"dots,omitempty"` // tips of other series do not show the points
	Points [][]any `json:"points"`
}

func (a *Axis) data() axisData {
	d := axisData{Label: a.Label, Unit: a.Unit}
	if a.scale() != 1 || a.base() != a.Unit {
		d.Base, d.Scale = a.base(), a.scale()
	}
	return d
}

func (p *Panel) data(c *Chart, all []*Series, f *frame) plane {
	d := plane{Name: p.name(c), X: p.X.data(), Y: p.Y.data(), Turned: p.turned(), Lanes: p.Lanes, By: p.ByText, Series: []dataSet{}}
	for _, s := range p.Series {
		set := dataSet{Name: indexOf(all, s), Bars: s.Kind == Bars, Dots: s.Kind == Dots, Shift: -math.Round(10*float64(f.shift(s))) / 10, Points: [][]any{}}
		if p.Lanes == nil {
			set.Shift = 0
		}
		set.Along = s.Kind == Steps || s.Kind == Lines && s.Bare
		for _, q := range s.shown(false) {
			set.Points = append(set.Points, q.data())
		}
		d.Series = append(d.Series, set)
	}
	return d
}

func (q *Point) data() []any {
	all := []any{q.X, q.Value}
	if q.Low != q.Value || q.High != q.Value || q.Text != "" || q.Doubt != "" {
		all = append(all, q.Low, q.High)
	}
	if q.Text != "" || q.Doubt != "" {
		all = append(all, q.Text)
	}
	if q.Doubt != "" {
		all = append(all, q.Doubt)
	}
	return all
}
