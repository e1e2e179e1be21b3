package llmbench

import (
	"fmt"
	"math"
	"runtime/metrics"
	"time"
)

// strain is what the process says of itself during a pass: what its goroutines
// waited for a CPU, and what stopped them all.
type strain struct {
	scheduling, pauses []uint64 // counts of the runtime's histograms
	bounds             [2][]float64
	throttled          time.Duration // by the process's cgroup
}

// takeStrain reads what there has been since the process began
// (https://pkg.go.dev/runtime/metrics).
func takeStrain() strain {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}, {Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	var t strain
	for i, counts := range []*[]uint64{&t.scheduling, &t.pauses} {
		if s[i].Value.Kind() == metrics.KindFloat64Histogram {
			h := s[i].Value.Float64Histogram()
			*counts, t.bounds[i] = h.Counts, h.Buckets
		}
	}
	t.throttled = cgroupThrottled()
	return t
}

// since returns the difference to an earlier reading.
func (t strain) since(before strain) strain {
	minus := func(a, b []uint64) []uint64 {
		d := make([]uint64, len(a))
		for i := range a {
			d[i] = a[i] - b[i]
		}
		return d
	}
	return strain{minus(t.scheduling, before.scheduling), minus(t.pauses, before.pauses), t.bounds, t.throttled - before.throttled}
}

// paused is how long garbage collections stopped every goroutine, by the middle of
// each bucket.
func (t strain) paused() time.Duration {
	var sum float64
	for i, n := range t.pauses {
		lo, hi := t.bounds[1][i], t.bounds[1][i+1]
		if n > 0 && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
			sum += float64(n) * (lo + hi) / 2
		}
	}
	return time.Duration(sum * float64(time.Second))
}

// waited is the upper bound of the 99th percentile of what goroutines waited for a
// CPU.
func (t strain) waited() time.Duration {
	var all, n uint64
	for _, c := range t.scheduling {
		all += c
	}
	for i, c := range t.scheduling {
		if n += c; all > 0 && float64(n) >= 0.99*float64(all) {
			if hi := t.bounds[0][i+1]; !math.IsInf(hi, 0) {
				return time.Duration(hi * float64(time.Second))
			}
			return time.Duration(t.bounds[0][i] * float64(time.Second))
		}
	}
	return 0
}

// String says it for a reader.
func (t strain) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	text := fmt.Sprintf("of its goroutines one in a hundred waited %v or longer for a CPU, and garbage collections stopped them for %v in all", round(t.waited()), round(t.paused()))
	if t.throttled > 0 {
		text += fmt.Sprintf("; its cgroup was throttled for %v", round(t.throttled))
	}
	return text
}
