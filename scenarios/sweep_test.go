package scenarios

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// saturated is by how much less twice the users raise the throughput of a server
// that is full.
const saturated = 0.1

// BenchmarkSweep doubles the number of users until that raises throughput by less
// than a tenth, and says at which of them the server is best used: where throughput
// over latency is greatest. Its last row is that knee, of the rows above it; there is
// none if the client distorts what it is made of.
func BenchmarkSweep(b *testing.B) {
	flow(b, func(b *testing.B, s server, full bool) {
		s = s.changed(b, eightSlots)
		in, out, most := pick(full, 512, 64), pick(full, 128, 16), pick(full, 4096, 512)
		b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
			w := &sweeper{points: map[int][]search.Point{}}
			for c := 1; c <= most && !w.saturated(); c *= 2 {
				b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
					l := llmbench.Load{Concurrency: c, Withheld: func(units []string) { w.withheld(c, units) }}
					w.add(c, s.run(b, s.random(b, l, max(16, 8*c), pick(full, c, 1), in, out)))
				})
			}
			b.Run(fmt.Sprintf("knee=power/upto=%d", most), w.knee)
		})
	})
}

// A sweeper keeps what each concurrency came to, in each -count sample.
type sweeper struct {
	loads  []int
	points map[int][]search.Point
	knees  int    // samples of the knee so far
	why    string // there is none
}

// withheld takes what the client distorts at a concurrency.
func (w *sweeper) withheld(c int, units []string) {
	for _, unit := range []string{"output-tok/s", "p50-e2e-ns"} {
		if w.why == "" && slices.Contains(units, unit) {
			w.why = fmt.Sprintf("%v: the client distorts %s at concurrency %d", search.ErrCannotJudge, unit, c)
		}
	}
}

// add takes a sample at a concurrency.
func (w *sweeper) add(c int, samples []sample.Sample) {
	type span struct{ begin, end time.Duration }
	passes := map[int]span{}
	p := search.Point{Load: float64(c)}
	n := 0
	for i := range samples {
		r := &samples[i]
		s, seen := passes[r.Pass]
		if !seen {
			s.begin = r.Due
		}
		passes[r.Pass] = span{min(s.begin, r.Due), max(s.end, r.End)}
		if d, has := r.E2E(); has && r.Outcome == sample.OK {
			p.Latency += d.Seconds()
			p.Throughput += float64(r.OutputTokens)
			n++
		}
	}
	var elapsed time.Duration
	for _, s := range passes {
		elapsed += s.end - s.begin
	}
	p.Latency /= float64(n)
	p.Throughput /= elapsed.Seconds()
	if w.points[c] == nil {
		w.loads = append(w.loads, c)
	}
	w.points[c] = append(w.points[c], p)
}

// sample returns the i-th sample of each concurrency that has so many.
func (w *sweeper) sample(i int) (all []search.Point) {
	for _, c := range w.loads {
		if i < len(w.points[c]) {
			all = append(all, w.points[c][i])
		}
	}
	return all
}

// saturated reports whether every sample of the last concurrency is of a server
// that is full.
func (w *sweeper) saturated() bool {
	if len(w.loads) == 0 {
		return false
	}
	last := w.loads[len(w.loads)-1]
	for i := range w.points[last] {
		if !search.Saturated(w.sample(i), saturated) {
			return false
		}
	}
	return true
}

// knee is the benchmark of the last row: one sample of the rows above gives one.
func (w *sweeper) knee(b *testing.B) {
	llmbench.Watch(b)
	points := w.sample(w.knees)
	w.knees++
	if len(points) == 0 {
		llmbench.Skip(b, "it is of the rows above, and they were not measured")
	}
	if w.why != "" {
		llmbench.Skip(b, w.why) // the row above failed, if that is wanted
	}
	at, err := search.Knee(points, saturated)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() { // it is measured already
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(points[at].Load, "knee-concurrency")
	b.ReportMetric(points[at].Throughput, "knee-output-tok/s")
}
