// Package overview writes the figures of benchmarks for people, as a table. It computes nothing but
// medians of -count samples.
package overview

import (
	"slices"
	"strings"
)

// An Entry is a -count sample of a benchmark.
type Entry struct {
	Benchmark string             // its name
	Figures   map[string]float64 // by unit, those that are withheld left out
	Withheld  []string           // units
	Notes     []string           // what else the reader must know, such as failures; of one or several lines
}

// An Overview has the entries of the benchmarks of a process. Its zero value has none.
type Overview struct {
	rows []*row // in the order in which they came
}

// A row is a benchmark.
type row struct {
	name     string
	samples  int
	figures  map[string][]float64 // by unit
	withheld []string
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
	r := &row{name: name, figures: map[string][]float64{}}
	o.rows = append(o.rows, r)
	return r
}

// Add adds a sample. The row of a benchmark with several samples has their medians.
func (o *Overview) Add(e Entry) {
	r := o.row(e.Benchmark)
	r.samples++
	for unit, v := range e.Figures {
		r.figures[unit] = append(r.figures[unit], v)
	}
	for _, unit := range e.Withheld {
		r.withheld = appendNew(r.withheld, unit)
	}
	for _, note := range e.Notes {
		r.notes = appendNew(r.notes, note)
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

func appendNew(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// median returns the median of a unit's values.
func (r *row) median(unit string) (m float64, known bool) {
	values := slices.Sorted(slices.Values(r.figures[unit]))
	n := len(values)
	if n == 0 {
		return 0, false
	}
	return (values[(n-1)/2] + values[n/2]) / 2, true
}
