// Package strain measures what delays the process, and therefore its measurements: waits of its goroutines
// for a CPU, garbage collections, and throttling by its control group.
package strain

import (
	"fmt"
	"math"
	"runtime/metrics"
	"slices"
	"time"
)

// A Strain says what delayed the process in a period.
type Strain struct {
	Waits     Histogram     // how long goroutines waited for a CPU
	GCPauses  Histogram     // how long garbage collections stopped all goroutines
	Throttled time.Duration // how long a control group kept the process from its CPUs
}

// A Histogram counts durations in buckets. There were Counts[i] durations of at least Bounds[i] and less
// than Bounds[i+1] seconds. The first bound may be -Inf and the last one +Inf.
type Histogram struct {
	Counts []uint64
	Bounds []float64
}

// Read returns the strain since the process started (https://pkg.go.dev/runtime/metrics).
func Read() Strain {
	all := []metrics.Sample{{Name: "/sched/latencies:seconds"}, {Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(all)
	s := Strain{Throttled: cgroupThrottled()}
	for i, h := range []*Histogram{&s.Waits, &s.GCPauses} {
		if all[i].Value.Kind() == metrics.KindFloat64Histogram {
			read := all[i].Value.Float64Histogram()
			*h = Histogram{read.Counts, read.Buckets}
		}
	}
	return s
}

// Since returns the strain between the reading before and the later reading s.
func (s Strain) Since(before Strain) Strain {
	return Strain{
		Waits:     s.Waits.combine(before.Waits, func(a, b uint64) uint64 { return a - b }),
		GCPauses:  s.GCPauses.combine(before.GCPauses, func(a, b uint64) uint64 { return a - b }),
		Throttled: s.Throttled - before.Throttled,
	}
}

// Plus returns the sum of the strains of two periods.
func (s Strain) Plus(other Strain) Strain {
	return Strain{
		Waits:     s.Waits.combine(other.Waits, func(a, b uint64) uint64 { return a + b }),
		GCPauses:  s.GCPauses.combine(other.GCPauses, func(a, b uint64) uint64 { return a + b }),
		Throttled: s.Throttled + other.Throttled,
	}
}

// combine applies f, for which f(n, 0) is n, to the counts of each bucket. In a histogram without buckets, all
// counts are 0.
func (h Histogram) combine(other Histogram, f func(a, b uint64) uint64) Histogram {
	if h.Counts == nil {
		h = Histogram{make([]uint64, len(other.Counts)), other.Bounds}
	}
	counts := slices.Clone(h.Counts)
	for i, n := range other.Counts {
		counts[i] = f(counts[i], n)
	}
	return Histogram{counts, h.Bounds}
}

// Paused returns how long garbage collections stopped all goroutines in total. Each pause
// counts as the middle of its bucket.
func (s Strain) Paused() time.Duration {
	var sum float64
	for i, n := range s.GCPauses.Counts {
		lo, hi := s.GCPauses.Bounds[i], s.GCPauses.Bounds[i+1]
		if n > 0 && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
			sum += float64(n) * (lo + hi) / 2
		}
	}
	return seconds(sum)
}

// P99Wait returns the 99th percentile of the goroutines' waits for a CPU, rounded up to the bound of its
// bucket. It returns 0 if there were no waits.
func (s Strain) P99Wait() time.Duration {
	var all, n uint64
	for _, c := range s.Waits.Counts {
		all += c
	}
	for i, c := range s.Waits.Counts {
		if n += c; all > 0 && float64(n) >= 0.99*float64(all) {
			if hi := s.Waits.Bounds[i+1]; !math.IsInf(hi, 0) {
				return seconds(hi)
			}
			return seconds(s.Waits.Bounds[i])
		}
	}
	return 0
}

// String describes the strain for the log.
func (s Strain) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	text := fmt.Sprintf("one wait of a goroutine for a CPU in a hundred took %v or longer, and garbage collections stopped all goroutines for %v in total", round(s.P99Wait()), round(s.Paused()))
	if s.Throttled > 0 {
		text += fmt.Sprintf("; the control group was throttled for %v", round(s.Throttled))
	}
	return text
}

// seconds converts seconds to a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
