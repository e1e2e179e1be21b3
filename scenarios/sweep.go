package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// concurrency measures a few numbers of users. Throughput increases with the number of users until the
// server is full; beyond that, only latency increases.
func concurrency(b *testing.B, s server) {
	all, few := []int{1, 8, 16, 64}, []int{1, 8, 64}
	workload, s, draw := s.prompted(512, 128)
	for _, users := range s.concurrencies(pick(s, all, all, few)...) {
		b.Run(fmt.Sprintf("workload=%s/stream=true/concurrency=%d", workload, users), func(b *testing.B) {
			n := s.fewest(s.requests(max(users, min(8*users, 256))), users, 2)
			s.run(b, s.fresh(b, llmbench.Load{Concurrency: users, SLO: s.options.Limits}, n, users, draw))
		})
	}
}

// saturationGain is the gain of throughput at which the server counts as full: if doubling the users gains
// less, it is full.
const saturationGain = 0.1

// sweep doubles the number of users until doubling raises throughput by less than a tenth. Its last row is
// the knee of the rows above: the concurrency at which output-tok/s / p50-e2e-ns, the power, is greatest;
// see search.Knee. If one of these two units is withheld, and its bounds do not determine which concurrency
// has the greatest power, there is no knee.
func sweep(b *testing.B, s server) {
	most := pick(s, 4096, 512)
	workload, s, draw := s.prompted(pick(s, 512, 64), pick(s, 128, 16))
	b.Run(fmt.Sprintf("workload=%s/stream=true", workload), func(b *testing.B) {
		w := &sweeper{points: map[int][]point{}}
		for c := 1; c <= most && !w.saturated(saturationGain); c *= 2 {
			b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
				l := llmbench.Load{Concurrency: c, SLO: s.options.Limits}
				w.add(c, s.run(b, s.fresh(b, l, s.fewest(max(16, 8*c), c, 2), pick(s, c, 1), draw)))
			})
		}
		b.Run(fmt.Sprintf("knee=power/upto=%d", most), w.knee)
	})
}

// A sweeper collects the points of a sweep. With -count, each concurrency has one point for each
// repetition.
type sweeper struct {
	loads  []int
	points map[int][]point // by concurrency
	knees  int             // number of repetitions of the knee so far
}

// ofKnee lists the units on which the knee depends.
var ofKnee = []string{sample.OutputRate, sample.P50E2E}

// A point is the result at one concurrency.
type point struct {
	search.Point
	unsound  map[string]error // the field Withheld of the result
	withheld error            // why a unit in ofKnee was withheld, or nil
	// least and most are bounds of the power, which is throughput / latency. They are equal to the power
	// unless a unit is withheld.
	least, most float64
}

// bounded returns p with bounds of its power.
func (p point) bounded(bounds map[string]sample.Interval) point {
	power := p.Throughput / p.Latency
	p.least, p.most = power, power
	if p.withheld == nil {
		return p
	}
	throughput, ok := bounds[ofKnee[0]]
	latency, known := bounds[ofKnee[1]]
	if !ok || !known {
		p.least, p.most = 0, math.Inf(1)
		return p
	}
	const second = 1e9
	p.least, p.most = throughput.Low/latency.High*second, throughput.High/latency.Low*second
	return p
}

// doubt returns nil if points[at] is certainly the knee of points. Otherwise it returns an error that says
// why the client's delays leave this open.
func doubt(points []point, at int) error {
	for i, p := range points {
		if i != at && p.most >= points[at].least && cmp.Or(p.withheld, points[at].withheld) != nil {
			return fmt.Errorf("%w: the knee may be at concurrency %.4g or %.4g: %w", search.ErrCannotJudge, points[at].Load, p.Load, errors.Join(points[at].withheld, p.withheld))
		}
	}
	return nil
}

// add adds the point that is computed from the samples of result.
func (w *sweeper) add(concurrency int, result *llmbench.Result) {
	p := search.Point{Load: float64(concurrency)}
	var withheld []error
	for _, unit := range ofKnee {
		if why := result.Withheld[unit]; why != nil {
			withheld = append(withheld, fmt.Errorf("%s is withheld at concurrency %d: %w", unit, concurrency, why))
		}
	}
	var latencies []time.Duration
	unknown := 0 // answers whose number of tokens is unknown
	for r := range result.All() {
		if d, measured := r.E2E(); measured && r.Outcome == sample.OK {
			latencies = append(latencies, d)
			p.Throughput += float64(r.OutputTokens) * r.Within()
			if r.OutputTokens == 0 {
				unknown++
			}
		}
	}
	if unknown > 0 { // the throughput is too low, and the result has none
		withheld = append(withheld, fmt.Errorf("%s is omitted at concurrency %d: answers whose number of tokens is unknown: %d", ofKnee[0], concurrency, unknown))
	}
	if len(latencies) > 0 {
		slices.Sort(latencies)
		p.Latency = sample.Quantile(latencies, 0.5) / 1e9
	}
	p.Throughput /= result.Elapsed.Seconds()
	if w.points[concurrency] == nil {
		w.loads = append(w.loads, concurrency)
	}
	w.points[concurrency] = append(w.points[concurrency], point{Point: p, unsound: result.Withheld, withheld: errors.Join(withheld...)}.bounded(result.Bounds))
}

// sample returns the i-th point of each concurrency that has one.
func (w *sweeper) sample(i int) (all []point) {
	for _, c := range w.loads {
		if i < len(w.points[c]) {
			all = append(all, w.points[c][i])
		}
	}
	return all
}

// saturated reports whether the last concurrency raised the throughput by less than gain, as a share, in every repetition
// of -count.
func (w *sweeper) saturated(gain float64) bool {
	if len(w.loads) == 0 {
		return false
	}
	last := w.loads[len(w.loads)-1]
	for i := range w.points[last] {
		if !search.Saturated(plain(w.sample(i)), gain) {
			return false
		}
	}
	return true
}

// plain returns points without their bounds.
func plain(points []point) (all []search.Point) {
	for _, p := range points {
		all = append(all, p.Point)
	}
	return all
}

// knee is the benchmark of the last row. Its i-th repetition with -count is the knee of the i-th repetition
// of the rows above.
func (w *sweeper) knee(b *testing.B) {
	harness.Watch(b)
	points := w.sample(w.knees)
	w.knees++
	if len(points) == 0 {
		harness.Skip(b, "the rows above, of which this is the knee, were not measured")
	}
	at, err := search.Knee(plain(points))
	if err == nil {
		err = doubt(points, at)
	}
	if err != nil { // it wraps search.ErrCannotJudge
		llmbench.CannotJudge(b, strings.TrimPrefix(err.Error(), search.ErrCannotJudge.Error()+": "))
	}
	for b.Loop() { // there is nothing to do: the rows above are the measurement
	}
	b.ReportMetric(0, "ns/op")
	harness.Report(b, points[at].Load, "knee-concurrency")
	llmbench.Derive(b, "knee-output-tok/s", points[at].Throughput, points[at].unsound)
}
