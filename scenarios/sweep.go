package scenarios

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// concurrency measures a few numbers of users: throughput rises with the number
// until the server is full; beyond that only latency rises.
func concurrency(b *testing.B, s server) {
	for _, users := range s.concurrencies(1, 8, 16, 64) {
		b.Run(fmt.Sprintf("workload=random-512x128/stream=true/concurrency=%d", users), func(b *testing.B) {
			n := s.requests(max(users, min(8*users, 256)))
			s.run(b, s.random(b, llmbench.Load{Concurrency: users}, n, users, 512, 128))
		})
	}
}

// saturationGain is the gain of throughput below which doubling the users shows a
// full server.
const saturationGain = 0.1

// sweep doubles the number of users until that raises throughput by less than a
// tenth. Its last row is the knee of the rows above, as search.Knee defines it: the
// concurrency at which output-tok/s divided by p50-e2e-ns is greatest. There is no knee if
// the client distorts the figures that it depends on.
func sweep(b *testing.B, s server) {
	in, out, most := pick(s, 512, 64), pick(s, 128, 16), pick(s, 4096, 512)
	b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
		w := &sweeper{points: map[int][]search.Point{}}
		for c := 1; c <= most && !w.saturated(); c *= 2 {
			b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
				l := llmbench.Load{Concurrency: c, Withheld: func(units []string, why error) { w.withhold(c, units, why) }}
				w.add(c, s.run(b, s.random(b, l, max(16, 8*c), pick(s, c, 1), in, out)).All())
			})
		}
		b.Run(fmt.Sprintf("knee=power/upto=%d", most), w.knee)
	})
}

// A sweeper keeps the points of a sweep. With -count, each concurrency has several
// points, one for each -count sample.
type sweeper struct {
	loads     []int
	points    map[int][]search.Point // by concurrency
	knees     int                    // how many -count samples of the knee are done
	whyNoKnee string                 // why there is no knee; "" if there is one
}

// withhold notes the units that are withheld at a concurrency.
func (w *sweeper) withhold(concurrency int, units []string, why error) {
	for _, unit := range []string{"output-tok/s", "p50-e2e-ns"} {
		if w.whyNoKnee == "" && slices.Contains(units, unit) {
			w.whyNoKnee = fmt.Sprintf("%v: %s is withheld at concurrency %d: %v", search.ErrCannotJudge, unit, concurrency, why)
		}
	}
}

// add adds a point, which is computed from samples.
func (w *sweeper) add(concurrency int, samples iter.Seq[*sample.Sample]) {
	type span struct{ begin, end time.Duration }
	passes := map[int]span{}
	p := search.Point{Load: float64(concurrency)}
	var latencies []time.Duration
	for r := range samples {
		s, seen := passes[r.Pass]
		if !seen {
			s.begin = r.Due
		}
		passes[r.Pass] = span{min(s.begin, r.Due), max(s.end, r.End)}
		if d, measured := r.E2E(); measured && r.Outcome == sample.OK {
			latencies = append(latencies, d)
			p.Throughput += float64(r.OutputTokens)
		}
	}
	var elapsed time.Duration
	for _, s := range passes {
		elapsed += s.end - s.begin
	}
	if len(latencies) > 0 {
		slices.Sort(latencies)
		p.Latency = sample.Quantile(latencies, 0.5) / 1e9
	}
	p.Throughput /= elapsed.Seconds()
	if w.points[concurrency] == nil {
		w.loads = append(w.loads, concurrency)
	}
	w.points[concurrency] = append(w.points[concurrency], p)
}

// sample returns the i-th point of each concurrency that has so many.
func (w *sweeper) sample(i int) (all []search.Point) {
	for _, c := range w.loads {
		if i < len(w.points[c]) {
			all = append(all, w.points[c][i])
		}
	}
	return all
}

// saturated reports whether the last concurrency filled the server in every -count
// sample.
func (w *sweeper) saturated() bool {
	if len(w.loads) == 0 {
		return false
	}
	last := w.loads[len(w.loads)-1]
	for i := range w.points[last] {
		if !search.Saturated(w.sample(i), saturationGain) {
			return false
		}
	}
	return true
}

// knee is the benchmark of the last row. Each -count sample of it is the knee of
// that sample of the rows above.
func (w *sweeper) knee(b *testing.B) {
	llmbench.Watch(b)
	points := w.sample(w.knees)
	w.knees++
	if len(points) == 0 {
		llmbench.Skip(b, "the rows above, of which this is the knee, were not measured")
	}
	if w.whyNoKnee != "" {
		llmbench.Skip(b, w.whyNoKnee) // the row above has failed, unless LLMBENCH_CLIENT_BOUND says otherwise
	}
	at, err := search.Knee(points)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() { // the rows above are the measurement
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(points[at].Load, "knee-concurrency")
	b.ReportMetric(points[at].Throughput, "knee-output-tok/s")
}
