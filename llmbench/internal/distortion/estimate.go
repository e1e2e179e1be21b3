// Package distortion estimates how much the client itself distorted each metric of a benchmark. It uses
// what is known about the client to correct the samples, computes each metric again from the corrected
// samples, and compares the two values. It measures nothing itself.
//
// On the kernel's clock, nearly everything is known about each request: when it was sent, which deltas were
// read together with later ones, and when a worker could have sent the next request. On the user clock, the
// lags of reads are unknown. There, the lags of control streams are used instead; these are streams from a
// server in the client's own process.
//
// A delta that was read together with a later one came after the read before it, and before the later
// delta. These bounds always hold. Narrower bounds follow from other reads and other gaps, under four
// assumptions:
//
//   - The instant at which a stopped client continues does not depend on when segments arrive.
//   - The client reads many streams after a stop, and all of them waited for the same stop.
//   - The server's gaps do not depend on whether the client is stopped.
//   - Gaps that were hidden in a stop are at most one and a half times the mean gap of the stream.
//
// The lags of reads are used only if they show that the stops were shorter than the time from one segment
// of a stream to the next, or shorter than the silence after a burst.
package distortion

import (
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Pass is what is known about the client during one pass, which is one run of the load.
type Pass struct {
	Samples iter.Seq[*sample.Sample]
	// Stays has, for each class of the load, when each user of its closed loop should be there; nil means an open loop. A
	// load without classes is one class. The requests of a pass belong to the classes by turns.
	Stays [][][]arrivals.Stay
	// LateTurns has, for each session by the index of its request, by how much the client sent the turns
	// after the first one late, summed over these turns. Nil means that no turn was late.
	LateTurns map[int]time.Duration
	Errors    Errors // errors of the control streams
	Strain    strain.Strain
	// ClockSet says that the wall clock was set during the pass, so that timestamps and lags may be wrong.
	ClockSet bool
}

// An Estimate estimates the distortion of the passes that were added. The zero value has no passes.
type Estimate struct {
	elapsed, ideal time.Duration // from the first t0 to the last end of the passes: measured, and as it would have been without the client's delays
	counted        time.Duration // the part of elapsed for which rates are computed; see [sample.Elapsed]
	late           histogram     // how late the requests of an open loop were sent
	strain         strain.Strain
	delays

	passes, unchecked int  // all passes, and passes with unknown read lags
	together          bool // a closed loop has several workers
}

// minStreams is the minimum number of streams with known read lags that are needed to estimate the lags of
// other streams. These are control streams, or streams on the kernel's clock.
const minStreams = 5

// Add adds a pass.
func (e *Estimate) Add(p Pass) {
	e.passes++
	e.strain = e.strain.Plus(p.Strain)
	for _, late := range p.Errors.Late {
		e.control.add(late)
	}
	user, kernel := 0, 0
	loops := make([]loop, max(1, len(p.Stays)))
	for i, stays := range p.Stays {
		loops[i].stays = stays
	}
	var first, last time.Duration
	var from, until time.Duration
	whole := false // the pass lasts until its time is over; see [sample.Elapsed]
	n := 0
	for s := range p.Samples {
		e.delays.add(s)
		if s.Outcome == sample.OK {
			if s.Clock == sample.UserClock {
				user++
			} else {
				kernel++
			}
		}
		late := time.Duration(0)
		if s.Scheduled {
			late = s.Late()
			e.late.add(late)
		}
		if s.Turn > 0 {
			late += p.LateTurns[s.Request]
		}
		if n++; n == 1 {
			first, last = s.Due, s.End
		}
		first, last = min(first, s.Due), max(last, s.End)
		from, until = s.From, s.Until
		whole = whole || s.Scheduled && until > 0
		loops[s.Request%len(loops)].add(s, s.Request/len(loops), late)
	}
	if p.ClockSet || user > 0 && max(kernel, p.Errors.Streams) < minStreams {
		e.unchecked++
	}
	e.elapsed += last - first
	if until == 0 || last < until && !whole {
		until = last
	}
	e.counted += max(0, until-max(first, from))
	lag := time.Duration(0)
	if user > kernel {
		lag = e.control.mean() // the ends of requests were read late, too
	}
	var lost []time.Duration // by class; all go on for about the same time
	users := 0
	for i, l := range loops {
		late := func(k int) time.Duration { return lag + p.LateTurns[k*len(loops)+i] }
		lost = append(lost, l.last-l.first-l.wouldTake(late))
		users += len(l.stays)
	}
	e.together = e.together || users > 1
	e.ideal += last - first - slices.Max(lost)
}

// A loop is what is known about the requests of a class, or of a pass without classes.
type loop struct {
	stays       [][]arrivals.Stay // nil for an open loop
	posts       []post            // of a closed loop
	first, last time.Duration     // the first t0 and the last end
	ideal       time.Duration     // the last end of an open loop without the client's delays
	known       bool              // there is a request
}

// add adds the k-th request of the loop, which was sent late.
func (l *loop) add(s *sample.Sample, k int, late time.Duration) {
	if !l.known {
		l.known, l.first, l.last, l.ideal = true, s.Due, s.End, s.End-late
	}
	l.first, l.last, l.ideal = min(l.first, s.Due), max(l.last, s.End), max(l.ideal, s.End-late)
	if l.stays != nil {
		l.posts = extend(l.posts, s, k)
	}
}

// wouldTake returns how long the requests would have taken without the client's delays. The function late returns how late the
// end of a post is because of the client.
func (l *loop) wouldTake(late func(k int) time.Duration) time.Duration {
	if l.stays == nil {
		return l.ideal - l.first
	}
	for k := range l.posts {
		l.posts[k].end -= late(k)
	}
	return closedLoop{stays: l.stays, posts: l.posts}.elapsed(l.last - l.first)
}

// A post says when the first request of a post was sent and when the last one ended. A post is one task of
// a worker: a request, or a session of several turns.
type post struct {
	known      bool
	start, end time.Duration
}

// extend extends the post with index k, to which a sample belongs.
func extend(posts []post, s *sample.Sample, k int) []post {
	for len(posts) <= k {
		posts = append(posts, post{})
	}
	p := &posts[k]
	if !p.known {
		*p = post{true, s.Start, s.End}
	}
	p.start, p.end = min(p.start, s.Start), max(p.end, s.End)
	return posts
}

// computed holds the results of a Figures function.
type computed struct{ all, more map[string]float64 }

// A Figures function computes the metrics of samples in the same way as the benchmark. The argument elapsed
// is the total duration of the passes. The result more has metrics that are computed without this duration.
type Figures func(samples iter.Seq[*sample.Sample], elapsed time.Duration) (figures, more map[string]float64)

// shares says by how much the client may have distorted a metric, as shares of the metric: the likely share
// and the largest possible share. The shift has the direction.
type shares struct {
	likely, most float64
	shift        Shift
}

// shares returns the shares of each metric that the client can distort. A share is the difference from the
// true value, divided by the true value.
//
// The metrics are computed again from samples that are corrected in several ways: in the most likely way,
// and in the possible ways that give the lowest or the highest values. No share is less than the part of
// the time in which the process's control group was throttled: a server in the same group was throttled,
// too, and the samples do not show this. If the client sent much less load than it should have sent, no
// largest possible share is less than the missing share of the load.
func (e *Estimate) shares(samples iter.Seq[*sample.Sample], compute Figures, units []sample.Unit, metrics map[string]float64) map[string]shares {
	all := map[string]shares{}
	rate := fraction(float64(e.elapsed), float64(e.ideal))
	for _, u := range units {
		if _, known := metrics[u.Name]; known && u.Family == sample.FamilyRate {
			share := math.Abs(1-rate) / max(rate, 1e-9)
			all[u.Name] = shares{share, share, Shift{}.with(metrics[u.Name], metrics[u.Name]*rate, true)}
		} else if known && u.Family != sample.FamilyOther {
			all[u.Name] = shares{}
		}
	}
	ideal := e.ideal
	if e.counted < e.elapsed {
		ideal = time.Duration(float64(e.ideal) * fraction(float64(e.counted), float64(e.elapsed)))
	}
	ways := e.ways()
	results := make([]computed, len(ways))
	var computations []func(iter.Seq[*sample.Sample])
	for i, w := range ways {
		computations = append(computations, func(samples iter.Seq[*sample.Sample]) {
			results[i].all, results[i].more = compute(newCorrector(&e.delays, w).correct(samples), ideal)
		})
	}
	lockstep.Range(samples, computations...)
	for i, w := range ways {
		figures, more := results[i].all, results[i].more
		for _, u := range units {
			s, ok := all[u.Name]
			if !ok || u.Name == sample.SteadyRate {
				continue
			}
			truth, known := figures[u.Name]
			if v, ok := more[u.Name]; ok {
				if truth, known = v, true; u.Family == sample.FamilyRate {
					truth *= rate
				}
			}
			least := 0.0
			if u.Family == sample.FamilyITL { // if one read returns several deltas, most gaps are 0
				least = metrics[sample.MeanITL]
			}
			share := MaxShare
			if known {
				share = math.Abs(metrics[u.Name]-truth) / max(truth, least, 1e-9)
			}
			s.most = max(s.most, share)
			if w == likely {
				s.likely = share
			}
			if !known {
				truth = 0
			}
			s.shift = s.shift.with(metrics[u.Name], truth, w == likely)
			all[u.Name] = s
		}
	}
	shorter, waits := shortened(metrics, results), fraction(float64(e.held), float64(e.all.n))
	for _, u := range units {
		s, ok := all[u.Name]
		switch {
		case !ok:
			continue
		case u.Family == sample.FamilyRate:
			s.most += shorter
			s.shift.Least -= shorter * metrics[u.Name]
		case u.Family == sample.FamilyITL && u.Statistic == sample.P99: // the server waited in the longest gaps
			s.most += waits
			s.shift.Most += waits * metrics[u.Name]
		}
		all[u.Name] = s
	}
	stopped := e.throttled()
	least := max(stopped, e.lessLoad())
	for _, u := range units {
		if s, ok := all[u.Name]; ok {
			all[u.Name] = shares{min(MaxShare, max(s.likely, stopped)), min(MaxShare, max((1+guard)*s.most, least)), s.shift.widened(u, metrics[u.Name], least)}
		}
	}
	return all
}

// otherLoad is a limit for the client's delays. If they made the passes longer by this share or more, the
// client sent a different load than it should have sent. In 200 runs of .ci/verdict, only one wrong metric
// was shown: a p99 TTFT that was 10 % off. In this run, the client's delays made the pass 40 % longer.
const otherLoad = 0.25

// lessLoad returns by which share several workers could have sent more load without the client's delays. It
// returns 0 if the share is below otherLoad. If fewer requests are in flight than the load specifies, the
// server answers a different load, with different latencies.
func (e *Estimate) lessLoad() float64 {
	if share := fraction(float64(e.elapsed), float64(e.ideal)) - 1; e.together && share >= otherLoad {
		return share
	}
	return 0
}

// shortened returns the largest share by which a corrected mean E2E latency is less than the measured one.
// If requests had ended sooner by this share, the next ones could have begun sooner.
func shortened(measured map[string]float64, corrected []computed) (share float64) {
	const e2e = sample.MeanE2E
	for _, r := range corrected {
		if v := r.all[e2e]; v > 0 && measured[e2e] > 0 {
			share = max(share, 1-v/measured[e2e])
		}
	}
	return share
}

// MaxShare is the largest share that is reported. Larger shares are reported as MaxShare.
const MaxShare = 10.0

// guard is the factor by which the largest possible share is increased (0.25 is 25 %), because the
// timestamps from which it is computed have errors of their own. In 100 runs of .ci/verdict, a share of
// 5.2 % was estimated as 4.6 %.
const guard = 0.25

// ways returns the ways of correction that can change a latency.
func (e *Estimate) ways() []way {
	switch {
	case e.held > 0:
		return []way{likely, earliest, firstEarliest, lastEarliest, heldEarliest}
	case e.merged > 0:
		return []way{likely, earliest, firstEarliest, lastEarliest}
	case e.slow > 0 || e.users > 0 && e.control.n+e.all.n > 0:
		return []way{likely, earliest}
	case e.late.n > 0:
		return []way{likely}
	}
	return nil
}

// Late returns a time that most stops of the client do not exceed, as [sample.FindBursts] needs it: twice the third
// quartile of the lags of control streams or, if there are none, of the streams on the kernel's clock. If most reads
// waited for stops longer than that, half of these reads would lag by more than half their stop, which is more than
// the third quartile. But only a quarter of all lags exceed the third quartile.
func (e *Estimate) Late() time.Duration {
	lags := &e.control
	if lags.n == 0 {
		lags = &e.all
	}
	return 2 * lags.quantile(0.75) // 0 if there are no lags
}

// Latest returns the longest time by which a read of a control stream was late, rounded up by at most a sixteenth.
func (e *Estimate) Latest() time.Duration { return e.control.quantile(1) }

// throttled returns the part of the time in which the process's control group was throttled.
func (e *Estimate) throttled() float64 {
	// Throttling takes time from all CPUs that the process can use, but not from other CPUs.
	cpus := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	return fraction(float64(e.strain.Throttled)/float64(cpus), float64(e.elapsed))
}

// fraction returns part/whole, or 0 unless both are positive.
func fraction(part, whole float64) float64 {
	if !(part > 0) || !(whole > 0) {
		return 0
	}
	return part / whole
}

// unknown returns why the distortion is unknown, or "" if it is known.
func (e *Estimate) unknown() string {
	if e.unchecked == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of %d passes nothing tells how late the client read: there are neither kernel timestamps nor %d control streams, or the wall clock was set", e.unchecked, e.passes, minStreams)
}
