package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// A lane is a bar in a picture that has one line of bars for each item.
type lane struct {
	label    string
	from, to float64
	color    int
	shift    float64 // vertical offset, if a lane has several bars
	same     bool    // on the lane of the bar before
}

// laned draws lanes from the top down. Their labels are the marks of the y axis.
func laned(p *plot.Plot, lanes []lane) error {
	var ticks plot.ConstantTicks
	y := -1.0
	for _, l := range lanes {
		if !l.same {
			y++
			ticks = append(ticks, plot.Tick{Value: y, Label: l.label})
		}
		if err := bar(p, y+l.shift, l.from, l.to, lookOf(l.color).color, vg.Length(5)); err != nil {
			return err
		}
	}
	p.Y.Tick.Marker = ticks
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.Y.Min, p.Y.Max = -0.7, y+0.7
	if p.X.Min == p.X.Max {
		p.X.Max++
	}
	return nil
}
