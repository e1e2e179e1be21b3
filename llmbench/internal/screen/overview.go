package screen

import (
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Entry describes one -count sample of a benchmark.
type Entry struct {
	Benchmark string             // its name
	Figures   map[string]float64 // metrics by unit, without withheld ones
	Withheld  []Withheld
	True      map[string]float64 // by unit, the true values from the log of a simulated server; nil for other servers
	Doubted   []string           // units of metrics that the client may have changed
	Scaled    bool               // a simulated server runs faster or slower than the server that it imitates, so no SLO is judged
	Next      string             // what the user may do next, or ""
	Notes     []string           // what else the user must know, such as failures; each of one or several lines
	Settings  map[string]string  // the configuration lines of the target, which have what the server stated
}

// A Withheld is a metric that the results omit.
type Withheld struct {
	Unit   string
	Value  float64 // the measured value
	Most   float64 // the share by which Value may be wrong: 0.1 means 10 %; 0 means that Value has no meaning
	Capped bool    // Value may be wrong by more than Most
	Unread bool    // Value has no meaning because answers may have text that was not read, and not because of bursts
	Parts  bool    // Value has no meaning because it is computed from metrics that are withheld
	Idle   bool    // Value is of another load, because users had no sessions for a part of the time
}

// An Overview has the entries of the benchmarks of a process. The zero value has none.
type Overview struct {
	Results int // number of result lines
	Skipped int // number of skipped benchmarks

	rows []*row   // in the order in which the benchmarks came
	next []string // values of Next of the entries that measured a server
}

// A row of the table describes one benchmark.
type row struct {
	name     string
	samples  int
	figures  map[string][]float64 // values by unit
	sound    map[string][]float64 // of these, the values that the client cannot have changed
	truths   map[string][]float64 // true values by unit, from the server's log
	doubted  []string
	scaled   bool // as in Entry
	withheld []Withheld
	settings map[string]string
	more     []string // units without a column, in order
	notes    []string
}

// row returns the row of a benchmark. If there is none, it adds one.
func (o *Overview) row(benchmark string) *row {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	for _, r := range o.rows {
		if r.name == name {
			return r
		}
	}
	r := &row{name: name, figures: map[string][]float64{}, sound: map[string][]float64{}, truths: map[string][]float64{}}
	o.rows = append(o.rows, r)
	return r
}

// parts returns the first word of the row's name, and the values of the keys in the name.
func (r *row) parts() (base string, keys map[string]string) {
	base, elements, _ := strings.Cut(r.name, "/")
	keys = map[string]string{}
	for e := range strings.SplitSeq(elements, "/") {
		if key, value, found := strings.Cut(e, "="); found {
			keys[key] = value
		}
	}
	return base, keys
}

// Add adds a -count sample. If a benchmark has several samples, its row has their medians.
func (o *Overview) Add(e Entry) {
	r := o.row(e.Benchmark)
	r.samples++
	r.settings = e.Settings
	for unit, v := range e.Figures {
		if unit == sample.FailShare || slices.ContainsFunc(columns.Terminal, func(c columns.Column) bool { return c.Units[0] == unit }) {
			r.figures[unit] = append(r.figures[unit], v)
			if !slices.Contains(e.Doubted, unit) {
				r.sound[unit] = append(r.sound[unit], v)
			}
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
	r.scaled = r.scaled || e.Scaled
	if e.Figures != nil {
		o.next = appendNew(o.next, e.Next)
	}
}

// AddFigure adds a value whose unit has no column to the row of a benchmark.
func (o *Overview) AddFigure(benchmark, unit string, v float64) {
	r := o.row(benchmark)
	r.more = appendNew(r.more, unit)
	r.figures[unit] = append(r.figures[unit], v)
	r.samples = max(r.samples, len(r.figures[unit]))
}

// FailedUnknown is the note on a benchmark that failed for a reason that is not known here; see [Overview.Failed].
const FailedUnknown = "failed: standard output says why"

// Failed says why a benchmark failed, if its row has the note FailedUnknown, or if neither the benchmark nor one of its
// sub-benchmarks has a row.
func (o *Overview) Failed(benchmark, why string) {
	if why == "" {
		return
	}
	why = "failed: " + why
	if !o.Has(benchmark) {
		o.Add(Entry{Benchmark: benchmark, Notes: []string{why}})
	}
	for _, r := range o.rows {
		if i := slices.Index(r.notes, FailedUnknown); i >= 0 && r.name == strings.TrimPrefix(benchmark, "Benchmark") {
			r.notes[i] = why
		}
	}
}

// Has reports whether there is a row of the benchmark or of one of its sub-benchmarks.
func (o *Overview) Has(benchmark string) bool {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	return slices.ContainsFunc(o.rows, func(r *row) bool { return r.name == name || strings.HasPrefix(r.name, name+"/") })
}

// withhold adds a withheld metric. If there are several for one unit, it keeps the one that may be wrong by
// the largest share.
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

// withholds returns the withheld metric of a unit, if there is one.
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
	return robust.Median(all), len(all) > 0
}
