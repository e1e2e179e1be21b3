package pictures

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A latency describes a latency whose distribution is drawn. Its figures are the units that become
// wrong if the client distorts the latency.
type latency struct {
	title, unit string
	figures     []string
	add         func(d *records.Dist, q *records.Request)
}

var latencies = []latency{
	{"time to first token", "ttft-ns", []string{sample.MeanTTFT, sample.P50TTFT, sample.P99TTFT}, one((*records.Request).TTFT)},
	{"time per output token", "tpot-ns", []string{sample.MeanTPOT}, one((*records.Request).TPOT)},
	{"inter-token latency", "itl-ns", []string{sample.P99ITL}, (*records.Dist).AddITLs},
	{"inter-token latency, per token", "token-itl-ns", []string{sample.P99TokenITL}, (*records.Dist).AddTokenGaps},
	{"latency", "e2e-ns", columns.Latency, one((*records.Request).E2E)},
}

func one(of func(*records.Request) (time.Duration, bool)) func(*records.Dist, *records.Request) {
	return func(d *records.Dist, q *records.Request) {
		if v, has := of(q); has {
			d.Add(v)
		}
	}
}

// percents holds the percentiles at which distributions are drawn. They are closer together at the
// upper end.
var percents = []float64{0, 1, 2, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 98, 99, 99.9, 100}

// tabled holds the percentiles in the table.
var tabled = []float64{0, 10, 50, 90, 95, 99, 99.9, 100}

// Distributions draws the distributions of the latencies of successful requests. Each row with
// records has a line, from all its samples together, and a band, from the smallest to the largest
// value of the percentile in the samples. It returns nil if no row has records.
func Distributions(id, title string, rows []*results.Row) *Picture {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *results.Row) bool { return len(r.Runs) == 0 })
	d := &distributions{Picture: &Picture{ID: id, Title: title, columns: 2}, rows: rows, labels: systems.Labels(rows)}
	d.Table.Head = []string{"", "n"}
	if d.named() {
		d.Table.Head = []string{"benchmark", "", "n"}
	}
	for _, q := range tabled {
		switch q {
		case 0:
			d.Table.Head = append(d.Table.Head, "least")
		case 100:
			d.Table.Head = append(d.Table.Head, "most")
		default:
			d.Table.Head = append(d.Table.Head, fmt.Sprintf("p%g", q))
		}
	}
	for _, l := range latencies {
		d.add(l)
	}
	if len(d.panels) == 0 {
		return nil
	}
	d.Caption = fmt.Sprintf("Cumulative distributions of the latencies of successful requests, of %s.", numbers.Count(len(rows), "benchmark"))
	if d.banded {
		d.Caption += " Lines are all samples together, bands reach from the smallest to the largest sample."
	}
	if d.doubted {
		d.Caption += " Those with " + Mark + " in the table are in doubt: see the warnings."
	}
	return d.Picture
}

// distributions is a picture of distributions that is being drawn.
type distributions struct {
	*Picture
	rows            []*results.Row
	labels          []string // the labels of the rows
	banded, doubted bool
}

// named reports whether rows have labels.
func (d *distributions) named() bool {
	return slices.ContainsFunc(d.labels, func(l string) bool { return l != "" })
}

// add adds a latency: its panel, and its rows of the table. If no row has the latency, it adds
// nothing.
func (d *distributions) add(l latency) {
	plane := newPlane(l.title, l)
	var pooled []*records.Dist // one for each row
	for i, r := range d.rows {
		pooled = append(pooled, plane.add(d, i, r, l))
	}
	if len(plane.Series) == 0 {
		return
	}
	scale := plane.finish(l)
	d.panels = append(d.panels, plane.Panel)
	for i, r := range d.rows {
		if pooled[i].N == 0 {
			continue
		}
		doubt := r.Doubt(l.figures...)
		d.doubted = d.doubted || doubt != ""
		cells := []Cell{{Text: headed(l.title, scale), Doubt: doubt}, count(float64(pooled[i].N))}
		if d.named() {
			cells = append([]Cell{{Text: d.labels[i]}}, cells...)
		}
		for k, v := range pooled[i].Quantiles(fractions(tabled)...) {
			cell := brief(scale, v)
			if !sample.EnoughFor(pooled[i].N, tabled[k]/100) {
				cell = Cell{}
			}
			cells = append(cells, cell)
		}
		d.Table.Add(cells...)
	}
}

// A plane is a panel of distributions that is being drawn.
type plane struct {
	*chart.Panel
	least, largest float64 // the smallest 5th percentile of a row, and the largest value
}

func newPlane(title string, l latency) *plane {
	p := &plane{Panel: &chart.Panel{Title: title, Turned: true, X: chart.Axis{Label: "share of requests", Unit: "%", From: 0, To: 100}}}
	if l.unit == "itl-ns" {
		p.X.Label = "share of gaps"
	}
	return p
}

// add adds the line of a row, with the label and the look for the index. It returns the
// distribution of the row.
func (p *plane) add(d *distributions, index int, r *results.Row, l latency) *records.Dist {
	all, each := distsOf(r.SoundRuns(l.figures...), l.add)
	if all.N == 0 {
		return all
	}
	values := all.Sketch(fractions(percents)...)
	p.Series = append(p.Series, d.line(index, all.N, values, each))
	if low := values[slices.Index(percents, 5)]; p.least == 0 || low < p.least {
		p.least = low
	}
	p.largest = max(p.largest, values[len(values)-1])
	return all
}

// finish sets the axis of the values, which begins at the smallest value. It returns the scale of
// the values.
func (p *plane) finish(l latency) human.Scale {
	scale := human.ScaleOf(l.unit, p.largest)
	p.Y = axisOf("", scale)
	p.Y.Zero, p.Y.Both = false, false              // the values tell which scale is legible, and one drawing is half as long as two
	p.Y.Log = p.least > 0 && p.largest > 4*p.least // the smallest values may be 0
	return scale
}

// line returns the line of a row. The row has n values, and values holds their percentiles. Each
// holds the distributions of the samples.
func (d *distributions) line(row, n int, values []float64, each []*records.Dist) *chart.Series {
	s := &chart.Series{Name: d.labels[row], Look: chart.LineLookOf(row), Bare: true}
	low, high := slices.Clone(values), slices.Clone(values)
	for _, of := range each {
		for k, v := range of.Sketch(fractions(percents)...) {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	for k, v := range values {
		if percents[k] < 100 && !sample.EnoughFor(n, percents[k]/100) {
			continue // too few values for this percentile, as in benchmark files
		}
		d.banded = d.banded || low[k] != high[k]
		s.Points = append(s.Points, chart.Point{X: percents[k], Value: numbers.Rounded(v, 4), Low: numbers.Rounded(low[k], 4), High: numbers.Rounded(high[k], 4)})
	}
	return s
}

// distsOf returns the distribution of all runs together. If there are several runs, it also returns the distribution
// of each.
func distsOf(runs []*records.Run, add func(*records.Dist, *records.Request)) (pooled *records.Dist, each []*records.Dist) {
	pooled = &records.Dist{}
	for _, run := range runs {
		d := pooled
		if len(runs) > 1 {
			d = &records.Dist{}
		}
		for q := range run.Measured() {
			if q.OK() {
				add(d, q)
				if d != pooled {
					add(pooled, q)
				}
			}
		}
		if d != pooled && d.N > 0 {
			each = append(each, d)
		}
	}
	return pooled, each
}

func fractions(percents []float64) (all []float64) {
	for _, p := range percents {
		all = append(all, p/100)
	}
	return all
}
