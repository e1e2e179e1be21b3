package screen

import (
	"slices"
	"strings"
)

// An Entry is a -count sample of a benchmark.
type Entry struct {
	Benchmark string             // its name
	Figures   map[string]float64 // by unit, those that are withheld left out
	Withheld  []Withheld
	True      map[string]float64 // by unit, what the log of a simulated server has; nil for other servers
	Doubted   []string           // units of figures that the client may have changed
	Next      string             // what a person may do next, or ""
	Notes     []string           // what else the reader must know, such as failures; of one or several lines
}

// A Withheld figure is one that is left out of the results.
type Withheld struct {
	Unit  string
	Value float64 // as measured
	Most  float64 // the share by which Value may be wrong: 0.1 is 10 %; 0: Value means nothing
}

// An Overview has the entries of the benchmarks of a process. Its zero value has none.
type Overview struct {
	Results int // lines of results
	Skipped int // benchmarks

	rows []*row   // in the order in which they came
	next []string // of each entry that measured a server
}

// A row is a benchmark.
type row struct {
	name     string
	samples  int
	figures  map[string][]float64 // by unit
	truths   map[string][]float64 // the same of the server's log
	doubted  []string
	withheld []Withheld
	more     []string // units of figures that no column has, in order
	notes    []string
}

// row returns the row of a benchmark, which it adds if there is none.
func (o *Overview) row(benchmark string) *row {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	for _, r := range o.rows {
		if r.name == name {
			return r
		}
	}
	r := &row{name: name, figures: map[string][]float64{}, truths: map[string][]float64{}}
	o.rows = append(o.rows, r)
	return r
}

// Add adds a sample. The row of a benchmark with several samples has their medians.
func (o *Overview) Add(e Entry) {
	r := o.row(e.Benchmark)
	r.samples++
	for unit, v := range e.Figures {
		if slices.ContainsFunc(columns, func(c column) bool { return c.unit == unit }) {
			r.figures[unit] = append(r.figures[unit], v)
		}
	}
	for _, w := range e.Withheld {
		r.withhold(w)
	}
	for _, note := range e.Notes {
		r.notes = appendNew(r.notes, note)
	}
	for unit, v := range e.True {
		r.truths[unit] = append(r.truths[unit], v)
	}
	for _, unit := range e.Doubted {
		r.doubted = appendNew(r.doubted, unit)
	}
	if e.Figures != nil {
		o.next = appendNew(o.next, e.Next)
	}
}

// AddFigure adds a figure that no column has to the row of a benchmark.
func (o *Overview) AddFigure(benchmark, unit string, v float64) {
	r := o.row(benchmark)
	r.more = appendNew(r.more, unit)
	r.figures[unit] = append(r.figures[unit], v)
	r.samples = max(r.samples, len(r.figures[unit]))
}

// Has reports whether there is a row of a benchmark or of one that it has run.
func (o *Overview) Has(benchmark string) bool {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	return slices.ContainsFunc(o.rows, func(r *row) bool { return r.name == name || strings.HasPrefix(r.name, name+"/") })
}

// withhold adds a withheld figure. Of several of a unit the one that may be the most wrong counts.
func (r *row) withhold(w Withheld) {
	for i, have := range r.withheld {
		if have.Unit == w.Unit {
			if have.Most > 0 && (w.Most == 0 || w.Most > have.Most) {
				r.withheld[i] = w
			}
			return
		}
	}
	r.withheld = append(r.withheld, w)
}

// withholds returns the withheld figure of a unit.
func (r *row) withholds(unit string) (w Withheld, yes bool) {
	for _, w := range r.withheld {
		if w.Unit == unit {
			return w, true
		}
	}
	return w, false
}

func appendNew(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// median returns the median of a unit's values.
func (r *row) median(unit string) (m float64, known bool) { return median(r.figures[unit]) }

// median returns the median of values, if there are any.
func median(all []float64) (m float64, known bool) {
	values := slices.Sorted(slices.Values(all))
	n := len(values)
	if n == 0 {
		return 0, false
	}
	return (values[(n-1)/2] + values[n/2]) / 2, true
}
