package report

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// latencies are the latencies whose distributions are drawn.
var latencies = []struct {
	title, unit string
	add         func(d *records.Dist, q *records.Request)
}{
	{"time to first token", "ttft-ns", one((*records.Request).TTFT)},
	{"time per output token", "tpot-ns", one((*records.Request).TPOT)},
	{"inter-token latency", "itl-ns", (*records.Dist).AddGaps},
	{"latency", "e2e-ns", one((*records.Request).E2E)},
}

func one(of func(*records.Request) (time.Duration, bool)) func(*records.Dist, *records.Request) {
	return func(d *records.Dist, q *records.Request) {
		if v, has := of(q); has {
			d.Add(v)
		}
	}
}

// percents are the quantiles at which distributions are drawn, closer together in the tail.
var percents = func() (all []float64) {
	for p := 0.0; p < 0.99; p += 0.01 {
		all = append(all, p)
	}
	return append(all, 0.99, 0.992, 0.994, 0.996, 0.998, 0.999, 1)
}()

// tabled are the quantiles in the table.
var tabled = []float64{0, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1}

// cdf draws the distributions of the latencies of successful requests: a line for all
// samples together, and a band from the smallest to the largest quantile of the samples.
func (s *samples) cdf() (*Picture, error) {
	p := &Picture{ID: slug("cdf", s.name), Title: s.name + ": distributions"}
	p.Table.Head = []string{"", "n"}
	for _, q := range tabled {
		switch q {
		case 0:
			p.Table.Head = append(p.Table.Head, "least")
		case 1:
			p.Table.Head = append(p.Table.Head, "most")
		default:
			p.Table.Head = append(p.Table.Head, fmt.Sprintf("p%g", 100*q))
		}
	}
	for i, l := range latencies {
		pooled := &records.Dist{}
		var each []*records.Dist
		for _, run := range s.runs {
			d := pooled
			if len(s.runs) > 1 {
				d = &records.Dist{}
				each = append(each, d)
			}
			for q := range run.All() {
				if q.OK() {
					l.add(d, q)
					if d != pooled {
						l.add(pooled, q)
					}
				}
			}
		}
		if pooled.N == 0 {
			continue
		}
		values := pooled.Sketch(percents...)
		a := axisOf(l.unit, values[len(values)-1])
		a.Label = l.title
		plane := &chart.Panel{Title: l.title, Turned: true, X: chart.Axis{Label: "share of requests", To: 1, Zero: true}, Y: a}
		if l.unit == "itl-ns" {
			plane.X.Label = "share of gaps"
		}
		lo, hi := band(each)
		drawn := &chart.Series{Bare: true, Look: chart.Look{Color: chart.Color(i)}}
		for i, q := range percents {
			p := chart.At(q, values[i])
			if lo != nil {
				p.Low, p.High = min(lo[i], values[i]), max(hi[i], values[i])
			}
			drawn.Points = append(drawn.Points, p)
		}
		plane.Series = []*chart.Series{drawn}
		p.panels = append(p.panels, plane)
		row := []string{l.unit[:len(l.unit)-3] + " (" + a.Unit + ")", fmt.Sprint(pooled.N)}
		for i, v := range pooled.Quantiles(tabled...) {
			cell := brief(v * a.Scale)
			if !sample.EnoughFor(pooled.N, tabled[i]) {
				cell = "" // too few values, as in benchmark files
			}
			row = append(row, cell)
		}
		p.Table.add(row...)
	}
	if len(p.panels) == 0 {
		return nil, nil
	}
	p.columns = 2
	p.Caption = fmt.Sprintf("Cumulative distributions over the successful requests of %s.", plural(len(s.runs), "sample"))
	if len(s.runs) > 1 {
		p.Caption += " Bands reach from the smallest to the largest sample."
	}
	return p, nil
}

// band returns the smallest and the largest quantile of samples.
func band(each []*records.Dist) (lo, hi []float64) {
	for _, d := range each {
		if d.N == 0 {
			continue
		}
		for i, v := range d.Sketch(percents...) {
			if len(lo) <= i {
				lo, hi = append(lo, v), append(hi, v)
			}
			lo[i], hi[i] = min(lo[i], v), max(hi[i], v)
		}
	}
	return lo, hi
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
