package process

import (
	"maps"
	"testing"
)

// Figures are the values of one unit that the -count samples of a benchmark have reported. A sample that failed has none.
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

// samples are the samples of a benchmark that have reported a metric. Package testing may call the newest one several times.
type samples struct {
	all    []*testing.B
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
	if s == nil {
		s = &samples{byUnit: map[string]*Figures{}}
		r.samples[b.Name()] = s
	}
	if n := len(s.all); n == 0 || s.all[n-1] != b {
		s.all = append(s.all, b)
	}
	f := s.byUnit[unit]
	if f == nil {
		f = &Figures{b.Name(), unit, map[int]float64{}}
		s.byUnit[unit], r.figures = f, append(r.figures, f)
	}
	f.Values[len(s.all)-1] = value
}

// Reported returns copies of all metrics that [Report] has reported. It omits samples that have failed, of which package
// testing prints no result either.
func Reported() (all []Figures) {
	current.mu.Lock()
	defer current.mu.Unlock()
	for _, f := range current.reported.figures {
		values := maps.Clone(f.Values)
		maps.DeleteFunc(values, func(sample int, _ float64) bool { return current.reported.samples[f.Benchmark].all[sample].Failed() })
		if len(values) > 0 {
			all = append(all, Figures{f.Benchmark, f.Unit, values})
		}
	}
	return all
}
