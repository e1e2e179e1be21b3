package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frontier draws throughput over the speed that each user has. More load raises the
// throughput and lowers the speed. The knee is the point of a line, up to its greatest
// throughput, that is farthest from the straight line between its ends, with both axes
// scaled to 0 to 1 (Satopää et al., "Finding a 'Kneedle' in a Haystack",
// https://doi.org/10.1109/ICDCSW.2011.20). The SLO's point is the load with the most
// requests per second within the SLO.
func (g *group) frontier() (*Picture, error) {
	load, systems, _ := g.swept()
	if load == "" {
		return nil, nil
	}
	p := &Picture{ID: slug("frontier", g.title), Title: g.title + ": throughput against speed", height: 300}
	plt := newPlot("", "tokens per second of each user", "output tokens per second of all")
	p.Table.Head = []string{"system", load, "user tok/s", "output tok/s", ""}
	plt.X.Min = 0
	points, slos := 0, 0
	for _, s := range systems {
		l := line{name: s.name, look: s.look}
		var at []*Row
		for _, r := range s.rows {
			x, ok := userSpeed(r)
			y, has := r.spread(outputUnits...)
			if !ok || !has {
				continue
			}
			l.xs, l.ys = append(l.xs, x), append(l.ys, y.mid)
			at = append(at, r)
			points++
		}
		if len(at) == 0 {
			continue
		}
		if err := l.draw(plt); err != nil {
			return nil, err
		}
		p.legend = append(p.legend, l)
		knee, slo := kneeOf(l), sloOf(at)
		for i, r := range at {
			_, x, _ := r.load()
			said := ""
			if i == knee {
				said = "knee"
				if err := ring(plt, l.xs[i], l.ys[i], ink, draw.RingGlyph{}, 7); err != nil {
					return nil, err
				}
			}
			if i == slo {
				slos++
				said += map[bool]string{true: " and "}[said != ""] + "most within the SLO"
				if err := ring(plt, l.xs[i], l.ys[i], l.look.color, draw.BoxGlyph{}, 9); err != nil {
					return nil, err
				}
			}
			p.Table.add(s.name, exactly(x), brief(l.xs[i]), exactly(l.ys[i]), said)
		}
	}
	if points < 2 {
		return nil, nil
	}
	headroom(plt)
	plt.X.Max *= 1.03
	p.plots = [][]*plot.Plot{{plt}}
	p.Caption = fmt.Sprintf("Output tokens per second of all users against those of one, a point a %s, for %s. A ring marks the knee of a line", load, names(systems))
	if slos > 0 {
		p.Caption += ", a box the load with the most requests within the SLO"
	}
	p.Caption += ". The speed of a user is user-tok/s; without it 1 / mean TPOT, or output tokens per request / mean latency, or else p50 latency."
	return p, nil
}

// userSpeed returns the tokens per second of one user.
func userSpeed(r *Row) (float64, bool) {
	if v, has := r.spread("user-tok/s"); has {
		return v.mid, true
	}
	if v, has := r.spread("mean-tpot-ns"); has && v.mid > 0 {
		return 1e9 / v.mid, true
	}
	e2e, has := r.spread("mean-e2e-ns", "p50-e2e-ns")
	tokens, also := r.spread("out-tok/req")
	return 1e9 * tokens.mid / e2e.mid, has && also && e2e.mid > 0
}

// kneeOf returns the index of a line's knee, or -1 if there are fewer than three points up to
// the greatest throughput. The points after that are a collapse, not a knee.
func kneeOf(l line) int {
	peak := 0
	for i, y := range l.ys {
		if y > l.ys[peak] {
			peak = i
		}
	}
	if peak < 2 {
		return -1
	}
	xs, ys := l.xs[:peak+1], l.ys[:peak+1]
	x0, x1, y0, y1 := slices.Max(xs), slices.Min(xs), slices.Min(ys), slices.Max(ys)
	if x0 == x1 || y0 == y1 {
		return -1
	}
	knee, most := -1, 0.02 // closer points are on a straight line
	for i := 1; i < peak; i++ {
		// Throughput rises as speed falls.
		if d := (ys[i]-y0)/(y1-y0) - (xs[i]-x0)/(x1-x0); d > most {
			knee, most = i, d
		}
	}
	return knee
}

// sloOf returns the index of the row with the most requests per second within the SLO, or -1.
func sloOf(rows []*Row) int {
	at, most := -1, 0.0
	for i, r := range rows {
		if v, has := r.spread("good-req/s"); has && v.mid > most {
			at, most = i, v.mid
		}
	}
	return at
}

// ring marks a point.
func ring(p *plot.Plot, x, y float64, c color.Color, shape draw.GlyphDrawer, radius vg.Length) error {
	s, err := plotter.NewScatter(plotter.XYs{{X: x, Y: y}})
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: radius, Shape: shape}
	p.Add(s)
	return nil
}
