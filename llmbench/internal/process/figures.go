package process

import (
	"maps"
	"testing"
)

// Figures are the values of one unit that the -count samples of a benchmark have reported.
type Figures struct {
	Benchmark string // the name, with the prefix "Benchmark"
	Unit      string
	Values    map[int]float64 // by sample, counted from 0 over the samples with any figure
}

// reported holds what [Report] was called with.
type reported struct {
	samples map[string]*samples
	figures []*Figures // in the order of their first values
}

type samples struct {
	of     *testing.B // the newest sample, whose benchmark may be called several times
	number int        // of the newest sample
	byUnit map[string]*Figures
}

// Report reports a metric of b as [testing.B.ReportMetric] does, and keeps it for [Reported], except for ns/op, which a
// benchmark reports to have none. Like ReportMetric, it must be called after the last call of b.Loop.
func Report(b *testing.B, value float64, unit string) {
	b.ReportMetric(value, unit)
	if unit == "ns/op" {
		return
	}
	current.mu.Lock()
	defer current.mu.Unlock()
	r := &current.reported
	s := r.samples[b.Name()]
	switch {
	case s == nil:
		s = &samples{of: b, byUnit: map[string]*Figures{}}
		r.samples[b.Name()] = s
	case s.of != b:
		s.of = b
		s.number++
	}
	f := s.byUnit[unit]
	if f == nil {
		f = &Figures{b.Name(), unit, map[int]float64{}}
		s.byUnit[unit], r.figures = f, append(r.figures, f)
	}
	f.Values[s.number] = value
}

// Reported returns copies of all metrics that [Report] has reported.
func Reported() (all []Figures) {
	current.mu.Lock()
	defer current.mu.Unlock()
	for _, f := range current.reported.figures {
		all = append(all, Figures{f.Benchmark, f.Unit, maps.Clone(f.Values)})
	}
	return all
}
