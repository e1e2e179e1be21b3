package report

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
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
	p := &Picture{ID: slug("frontier", g.title), Title: g.title + ": throughput against speed"}
	plane := &chart.Panel{X: chart.Axis{Label: "tokens per second of each user", Zero: true}, Y: chart.Axis{Label: "output tokens per second of all", Zero: true, Both: true}}
	knees := &chart.Series{Name: "knee", Kind: chart.Dots, Look: chart.Look{Color: chart.Ink, Ring: true, Size: 7}}
	slos := &chart.Series{Name: "most within the SLO", Kind: chart.Dots, Look: chart.Look{Color: chart.Ink, Mark: chart.Square, Ring: true, Size: 7}}
	p.Table.Head = []string{"system", load, "user tok/s", "output tok/s", ""}
	points := 0
	for _, s := range systems {
		l := &chart.Series{Name: s.name, Look: s.look}
		var at []*Row
		var xs, ys []float64
		for _, r := range s.rows {
			x, ok := userSpeed(r)
			y, has := r.spread(outputUnits...)
			if !ok || !has {
				continue
			}
			q := chart.At(x, y.mid)
			q.Text = load + " " + r.key(load)
			l.Points = append(l.Points, q)
			xs, ys = append(xs, x), append(ys, y.mid)
			at = append(at, r)
			points++
		}
		if len(at) == 0 {
			continue
		}
		plane.Series = append(plane.Series, l)
		knee, slo := kneeOf(xs, ys), sloOf(at)
		for i, r := range at {
			_, x, _ := r.load()
			said := ""
			if i == knee {
				said = "knee"
				knees.Points = append(knees.Points, l.Points[i])
			}
			if i == slo {
				said += map[bool]string{true: " and "}[said != ""] + "most within the SLO"
				slos.Points = append(slos.Points, l.Points[i])
			}
			p.Table.add(s.name, exactly(x), brief(xs[i]), exactly(ys[i]), said)
		}
	}
	if points < 2 {
		return nil, nil
	}
	plane.Series = append(plane.Series, knees, slos)
	p.panels = []*chart.Panel{plane}
	p.Caption = fmt.Sprintf("Output tokens per second of all users against those of one, a point a %s, for %s. A ring marks the knee of a line", load, names(systems))
	if len(slos.Points) > 0 {
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
func kneeOf(xs, ys []float64) int {
	peak := 0
	for i, y := range ys {
		if y > ys[peak] {
			peak = i
		}
	}
	if peak < 2 {
		return -1
	}
	xs, ys = xs[:peak+1], ys[:peak+1]
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
