package distortion

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const ms = time.Millisecond

// staggered returns the stays of users, each of whom begins stagger after the one before and does not leave.
func staggered(users int, stagger time.Duration) [][][]arrivals.Stay {
	var all [][]arrivals.Stay
	for k := range users {
		all = append(all, []arrivals.Stay{{From: time.Duration(k) * max(0, stagger), To: math.MaxInt64}})
	}
	return [][][]arrivals.Stay{all}
}

// stream returns a request that was sent at start, with a first delta after 200 ms and nine more
// every 20 ms, and usual lags.
func stream(i int, start time.Duration) sample.Sample {
	s := sample.Sample{
		Request: i, Due: start, Start: start, Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, OutputTokens: 10, TokenSource: sample.FromUsage,
		Deltas: 10, Outputs: 10, First: start + 200*ms, Gaps: slices.Repeat([]time.Duration{20 * ms}, 9), Lags: slices.Repeat([]time.Duration{50 * time.Microsecond}, 10),
	}
	s.FirstOutput, s.Last = s.First, s.First+180*ms
	s.End = s.Last
	return s
}

// together makes deltas from to to-1 of s, and delta to, the result of one read with the given lag. Their
// segments came after since.
func together(s *sample.Sample, from, to int, lag, since time.Duration) {
	at := []time.Duration{s.First}
	for _, gap := range s.Gaps {
		at = append(at, at[len(at)-1]+gap)
	}
	for i := from; i <= to; i++ {
		at[i], s.Lags[i] = at[to], lag
	}
	for i := range s.Gaps {
		s.Gaps[i] = at[i+1] - at[i]
	}
	s.First, s.FirstOutput = at[0], at[0]
	s.Merged = append(s.Merged, sample.Merged{Delta: from, Deltas: to - from, Since: since})
}

// figures computes the metrics like a benchmark.
func figures(samples iter.Seq[*sample.Sample], elapsed time.Duration) (all, more map[string]float64) {
	return sample.Summarize(samples, elapsed, sample.SLO{}).Metrics, nil
}

// report returns the report on a pass. The maximum is 5 %.
func report(p Pass, units ...string) Report {
	var e Estimate
	e.Add(p)
	metrics, _ := figures(p.Samples, sample.Elapsed(p.Samples))
	return e.Report(p.Samples, figures, sample.Units, metrics, 0.05, func(u sample.Unit) bool {
		return len(units) == 0 || slices.Contains(units, u.Name)
	})
}

// near checks that two shares are equal within a thousandth.
func near(t *testing.T, got, want float64) {
	t.Helper()
	assert.Assert(t, math.Abs(got-want) < 0.002, "%v, want %v", got, want)
}

// streams returns the samples of a closed loop of 1,000 workers with four requests each.
func streams() []sample.Sample {
	var all []sample.Sample
	for i := range 4000 {
		all = append(all, stream(i, time.Duration(i/1000)*380*ms+time.Duration(i%1000)*200*time.Microsecond))
	}
	return all
}

// stopped returns s as a client measures it that is stopped periodically.
func stopped(s sample.Sample, long, every time.Duration) sample.Sample {
	s.Lags = slices.Clone(s.Lags)
	s.Gaps = slices.Clone(s.Gaps)
	at := s.First
	from, since := 0, s.Start
	for i := range s.Lags {
		if i > 0 {
			at += 20 * ms
		}
		if into := at % every; into < long { // read when the stop is over
			s.Lags[i] += long - into
		}
		if end := at + s.Lags[i]; i+1 < len(s.Lags) && at+20*ms < end {
			continue // the next delta comes earlier
		}
		if i > from {
			together(&s, from, i, s.Lags[i], since)
		}
		from, since = i+1, at+s.Lags[i]
	}
	return s
}

// TestStopped compares the report on clients that are stopped with the truth. A metric that is more than
// 5 % wrong must be in the report, the report on a client without such a metric must be empty, and the
// estimate of the largest error must be correct within a factor of 2.
func TestStopped(t *testing.T) {
	for _, tt := range []struct {
		long, every time.Duration
		units       string
	}{
		{0, time.Second, ""},
		{4 * ms, 12 * ms, ""},
		{15 * ms, 50 * ms, ""},
		{30 * ms, 3000 * ms, ""},
		{30 * ms, 100 * ms, "p99-itl-ns p90-ttft-ns p99-ttft-bound-ns p99-ttft-ns p90-itl-ns"},
		{50 * ms, 400 * ms, "p99-itl-ns p90-itl-ns"},
		{100 * ms, 150 * ms, "p99-itl-ns p90-itl-ns p90-ttft-ns p99-ttft-bound-ns p99-ttft-ns mean-tpot-ns mean-itl-ns mean-ttft-ns p50-ttft-ns"},
		{140 * ms, 150 * ms, "p99-itl-ns p90-itl-ns p90-ttft-ns p99-ttft-bound-ns p99-ttft-ns mean-tpot-ns mean-itl-ns p50-ttft-ns mean-ttft-ns"}, // no gap is seen
	} {
		t.Run(fmt.Sprintf("%v of %v", tt.long, tt.every), func(t *testing.T) {
			all := streams()
			truth, _ := figures(sample.All(all...), sample.Elapsed(sample.All(all...)))
			for i, s := range all {
				all[i] = stopped(s, tt.long, tt.every)
				assert.NilError(t, all[i].CheckMerged())
			}
			got, _ := figures(sample.All(all...), sample.Elapsed(sample.All(all...)))
			units := []string{"mean-ttft-ns", "p50-ttft-ns", "p90-ttft-ns", "p99-ttft-ns", "p99-ttft-bound-ns", "mean-tpot-ns", "p90-itl-ns", "p99-itl-ns", "mean-itl-ns", "p50-e2e-ns", "req/s", "output-tok/s", "p99-read-lag-ns"}
			r := report(Pass{Samples: sample.All(all...), Stays: staggered(1000, 200*time.Microsecond)}, units...)
			worst := 0.0
			bounds := r.Bounds(got)
			for _, unit := range units[:len(units)-1] {
				b := bounds[unit]
				assert.Assert(t, b.Low <= min(truth[unit], got[unit]) && b.Low <= b.Likely && b.Likely <= b.High && max(truth[unit], got[unit]) <= b.High,
					"%s is %v, and %v was measured: %v", unit, truth[unit], got[unit], b)
				e := math.Abs(got[unit]-truth[unit]) / truth[unit]
				worst = max(worst, e)
				assert.Assert(t, e <= 0.05 || slices.Contains(r.Units(), unit), "%s is %v wrong\n%s", unit, e, r.Text(true))
			}
			assert.Equal(t, strings.Join(r.Units(), " "), tt.units, r.Text(true))
			assert.Assert(t, largest(r) < 2*worst && largest(r) > worst/2 || max(largest(r), worst) < 0.02, "%v, true %v", largest(r), worst)
		})
	}
}

// TestLongStops checks the mean time per output token of answers that take longer than the client's stops.
// The lag of a read is at most the time between two tokens, even after a long stop. So the lags do not show
// that the first deltas waited for several times as long.
func TestLongStops(t *testing.T) {
	const n = 60
	for _, tt := range []struct {
		long, every time.Duration
		least, most float64 // error of the mean time per output token
		worst       float64 // likely share of this error; 0 means that the metric must be shown
	}{
		{300 * ms, 400 * ms, 0.05, 0.10, 0.075},
		{10 * ms, 50 * ms, 0, 0.001, 0},
		{30 * ms, 1000 * ms, 0, 0.001, 0},
	} {
		t.Run(fmt.Sprintf("%v of %v", tt.long, tt.every), func(t *testing.T) {
			var truth, all []sample.Sample
			for i := range 1000 {
				s := stream(i, time.Duration(i)*401*time.Microsecond)
				s.Deltas, s.Outputs, s.OutputTokens = n, n, n
				s.Gaps, s.Lags = slices.Repeat([]time.Duration{20 * ms}, n-1), slices.Repeat([]time.Duration{50 * time.Microsecond}, n)
				s.Last = s.First + sum(s.Gaps)
				s.End = s.Last
				truth = append(truth, s)
				all = append(all, stopped(s, tt.long, tt.every))
				assert.NilError(t, all[i].CheckMerged())
			}
			want, _ := figures(sample.All(truth...), sample.Elapsed(sample.All(truth...)))
			got, _ := figures(sample.All(all...), sample.Elapsed(sample.All(all...)))
			e := math.Abs(got["mean-tpot-ns"]/want["mean-tpot-ns"] - 1)
			assert.Assert(t, e >= tt.least && e <= tt.most, "%v is no such case", e)
			r := report(Pass{Samples: sample.All(all...), Stays: staggered(1000, 401*time.Microsecond)}, "mean-tpot-ns")
			assert.Equal(t, len(r.Distorted) > 0, tt.worst > 0, r.Text(true))
			assert.Assert(t, math.Abs(largest(r)-e) < 0.02, "%v, true %v", largest(r), e)
		})
	}
}

// TestNoGapSeen checks that deltas can have waited since the last read if nothing shows how long the gaps
// between deltas are.
func TestNoGapSeen(t *testing.T) {
	var all []sample.Sample
	for i := range 100 {
		s := stream(i, time.Duration(i)*ms)
		together(&s, 0, 9, 15*ms, s.Start+20*ms)
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(100, ms)}, "mean-ttft-ns")
	assert.DeepEqual(t, r.Units(), []string{"mean-ttft-ns"})
	assert.Assert(t, strings.Contains(r.Text(true), "by up to 1000 % or more"), r.Text(true))
}

// TestBurstsAtOnce checks that a client with prompt reads is not blamed for the first deltas of each
// stream, which the server sends at once in two segments.
func TestBurstsAtOnce(t *testing.T) {
	all := streams()
	for i := range all {
		together(&all[i], 0, 1, 60*time.Microsecond, all[i].Start)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(1000, 200*time.Microsecond)}, "mean-ttft-ns", "p50-ttft-ns", "p99-ttft-ns", "mean-tpot-ns", "p99-itl-ns", "req/s")
	assert.Equal(t, strings.Join(r.Units(), " "), "", r.Text(true))
	near(t, largest(r), 0)
}

// TestMergedLast checks the bounds of the time per output token if the last delta was read
// together with the end of the stream, late.
func TestMergedLast(t *testing.T) {
	var all []sample.Sample
	for i := range 100 {
		s := stream(i, time.Duration(i)*ms)
		s.Lags[9] = 10 * ms
		s.Merged = []sample.Merged{{Delta: 9, Deltas: 1, Since: s.Last - 19*ms}}
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(100, ms)}, "mean-tpot-ns", "p50-e2e-ns", "p99-ttft-ns")
	assert.DeepEqual(t, r.Units(), []string{"mean-tpot-ns", "p50-e2e-ns"})
	near(t, largest(r), 0)
	assert.Assert(t, strings.Contains(r.Text(true), "mean-tpot-ns (by up to 15 %), p50-e2e-ns (by up to 6.6 %) are"), r.Text(true))
}

// TestMergedITL checks that the gaps of a client that reads two deltas together are wrong, but the time per
// output token is correct.
func TestMergedITL(t *testing.T) {
	var all []sample.Sample
	for i := range 200 {
		s := stream(i, time.Duration(i)*ms)
		if i%2 == 0 {
			together(&s, 4, 5, 15*ms, s.First+61*ms)
		}
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(200, ms)}, "p99-itl-ns", "mean-itl-ns", "mean-tpot-ns", "p99-ttft-ns")
	assert.DeepEqual(t, r.Units(), []string{"p99-itl-ns"})
	near(t, largest(r), 1)
}

// TestReasoning checks that the first delta after reasoning is corrected, too.
func TestReasoning(t *testing.T) {
	s := stream(0, 0)
	s.Outputs = 5
	together(&s, 5, 6, 15*ms, s.First+81*ms)
	s.FirstOutput = s.First + 120*ms
	var d delays
	d.add(&s)
	got := newCorrector(&d, earliest).sample(&s)
	assert.Equal(t, got.FirstOutput, s.First+sum(got.Gaps[:5]))
	assert.Assert(t, got.FirstOutput < s.First+101*ms && got.FirstOutput >= s.First+81*ms, "%v", got.FirstOutput)
	assert.Equal(t, s.Gaps[4], 40*ms, "the sample itself has changed")
}

// TestSlowSend checks that a send which may have been late widens the bounds of latencies.
func TestSlowSend(t *testing.T) {
	var all []sample.Sample
	for i := range 200 {
		s := stream(i, time.Duration(i)*ms)
		if i%20 == 0 {
			s.SentBy = s.Start + 30*ms
			s.First, s.FirstOutput = s.First+20*ms, s.FirstOutput+20*ms
			s.Gaps[0] = 0
		}
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(200, ms)}, "p50-ttft-ns", "p99-ttft-ns", "mean-tpot-ns")
	assert.DeepEqual(t, r.Units(), []string{"p99-ttft-ns"})
	near(t, largest(r), 0)
}

// TestUsersThatLeave checks by how much the pass of a loop whose users come and leave was too long: by the share of their time in
// which they sent nothing, and not because of requests of users who have left.
func TestUsersThatLeave(t *testing.T) {
	users := arrivals.Users{{For: 10 * time.Second, Rate: 1}, {For: 10 * time.Second, Rate: 2}, {For: 10 * time.Second, Rate: 1}}
	stays := [][]arrivals.Stay{users.Stays(0, 0), users.Stays(1, 0)} // 35 s together until the last post is sent
	for _, c := range []struct {
		pause, over time.Duration
		want        time.Duration
	}{{0, 0, 30 * time.Second}, {0, time.Second, 30 * time.Second}, {time.Second, 0, 30 * time.Second * 32 / 35}, {100 * ms, 100 * ms, 30 * time.Second * 347 / 350}} {
		var posts []post
		add := func(from, to time.Duration) { posts = append(posts, post{true, from, to}) }
		for _, at := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 25 * time.Second} {
			add(at, at+5*time.Second-c.pause)
		}
		add(15*time.Second, 25*time.Second)
		add(10*time.Second, 20*time.Second+c.over) // hides nothing: the other user has one in flight, too
		got := closedLoop{stays, posts}.elapsed(30 * time.Second)
		assert.Assert(t, (got-c.want).Abs() < ms, "%v: want %v", got, c.want)
	}
}

// TestUsersWithoutRequests checks that users who have no request because there are no more have not been idle: a data set has ended,
// or all requests failed.
func TestUsersWithoutRequests(t *testing.T) {
	users := arrivals.Users{{For: 10 * time.Second, Rate: 1}, {For: 10 * time.Second, Rate: 2}, {For: 10 * time.Second, Rate: 1}}
	stays := [][]arrivals.Stay{users.Stays(0, 0), users.Stays(1, 0)}
	posts := []post{{true, 0, 5 * time.Second}, {true, 5 * time.Second, 10 * time.Second}, {true, 10 * time.Second, 12 * time.Second}, {true, 10 * time.Second, 15 * time.Second}}
	assert.Equal(t, closedLoop{stays, posts}.elapsed(15*time.Second), 15*time.Second)
	posts[1].end -= time.Second
	assert.Equal(t, closedLoop{stays, posts}.elapsed(15*time.Second), 13500*ms) // 1 s of 10 s
}

// TestUsersThatComeLater checks that a pass that begins with no user is not too short: it counts from the first request on.
func TestUsersThatComeLater(t *testing.T) {
	users := arrivals.Users{{For: 2 * time.Second, Rate: 0, To: 2, Ramp: arrivals.Linear}, {For: 10 * time.Second, Rate: 2}}
	all := []sample.Sample{stream(0, time.Second), stream(1, 1380*ms), stream(2, 1760*ms), stream(3, 2*time.Second)}
	r := report(Pass{Samples: sample.All(all...), Stays: [][][]arrivals.Stay{{users.Stays(0, ms), users.Stays(1, ms)}}}, "req/s", "output-tok/s")
	near(t, largest(r), 0)
	assert.Equal(t, len(r.Distorted), 0)
}

// TestLateWorkers checks that the rates of a closed loop are compared with the rates of workers that
// begin as planned and never pause.
func TestLateWorkers(t *testing.T) {
	post := func(i int, start, took time.Duration) sample.Sample {
		return sample.Sample{Request: i, Due: start, Start: start, End: start + took, Outcome: sample.OK, Clock: sample.KernelClock, OutputTokens: 5, TokenSource: sample.FromUsage}
	}
	var begun, paused, punctual []sample.Sample
	for i := range 16 { // four of eight workers begin 60 ms late
		begun = append(begun, post(i, []time.Duration{0, 60 * ms, 100 * ms, 160 * ms}[i/4], 100*ms))
		punctual = append(punctual, post(i, time.Duration(i/8)*100*ms, 100*ms))
	}
	for i := range 30 { // one worker, which pauses for a third of each request
		paused = append(paused, post(i, time.Duration(i)*15*ms, 10*ms))
	}
	for _, tt := range []struct {
		name    string
		workers int
		samples []sample.Sample
		share   float64
	}{
		{"late", 8, begun, 1 - 200.0/260},
		{"paused", 1, paused, 1 - 300.0/445},
		{"punctual", 8, punctual, 0},
		{"of one request", 8, begun[4:5], 0},
	} {
		r := report(Pass{Samples: sample.All(tt.samples...), Stays: staggered(tt.workers, -1)}, "req/s", "output-tok/s")
		assert.Assert(t, math.Abs(largest(r)-tt.share) < 1e-9, "%s: %v, want %v", tt.name, largest(r), tt.share)
		assert.Equal(t, len(r.Distorted) > 0, tt.share > 0, tt.name)
	}
}

// TestClasses checks that each class of a load is compared with users of its own: a user who pauses has lost time although
// another class has enough requests in flight, and a late request of an open loop has, too.
func TestClasses(t *testing.T) {
	pass := func(pause, late time.Duration) Pass {
		var all []sample.Sample
		add := func(request int, due, start, end time.Duration) {
			all = append(all, sample.Sample{Request: request, Due: due, Start: start, Admitted: start, End: end, Scheduled: request%3 == 2, Outcome: sample.OK, Clock: sample.KernelClock, OutputTokens: 5, TokenSource: sample.FromUsage})
		}
		for i := range 10 {
			at := time.Duration(i) * 100 * ms
			add(3*i, at, at, at+100*ms-pause)
			add(3*i+1, at, at, at+100*ms)
			add(3*i+2, at, at+late, at+late+50*ms)
		}
		one := staggered(1, 0)[0]
		return Pass{Samples: sample.All(all...), Stays: [][][]arrivals.Stay{one, one, nil}}
	}
	for _, tt := range []struct{ pause, late, lost time.Duration }{{0, 0, 0}, {20 * ms, 0, 180 * ms}, {0, 10 * ms, 10 * ms}, {20 * ms, 40 * ms, 180 * ms}} {
		var e Estimate
		e.Add(pass(tt.pause, tt.late))
		assert.Equal(t, e.elapsed-e.ideal, tt.lost, "%+v", tt)
	}
}

// TestTimed checks that the time after the end of a load for a time, in which requests in flight end, is no distortion.
func TestTimed(t *testing.T) {
	var all []sample.Sample
	for i := range 40 {
		s := stream(i, time.Duration(i/4)*380*ms)
		s.Until = 3500 * ms // the last four requests take until 3,800 ms
		if i == 7 {
			together(&s, 3, 4, 20*ms, s.First+50*ms)
		}
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(4, -1)}, "req/s", "output-tok/s")
	assert.Equal(t, len(r.Distorted), 0, "%v", r.Distorted)
	near(t, largest(r), 0)
	for _, unit := range []string{"req/s", "output-tok/s"} {
		near(t, r.Likely[unit], 0)
	}
}

// TestOtherLoad checks that latencies, too, are in doubt if the client's delays have changed the load of a
// closed loop with several workers. For a single worker that pauses between requests, the latencies do not
// change.
func TestOtherLoad(t *testing.T) {
	for _, tt := range []struct {
		name    string
		workers int
		pause   time.Duration // pause after each request, which takes 380 ms
		doubted bool
	}{
		{"no pause", 4, 0, false},
		{"a tenth", 4, 38 * ms, false},
		{"a third", 4, 127 * ms, true},
		{"a third, alone", 1, 127 * ms, false},
	} {
		var all []sample.Sample
		for i := range 10 * tt.workers {
			s := stream(i, 0)
			took := s.End - s.Start
			s = stream(i, time.Duration(i/tt.workers)*(took+tt.pause))
			all = append(all, s)
		}
		r := report(Pass{Samples: sample.All(all...), Stays: staggered(tt.workers, -1)}, "mean-ttft-ns", "mean-e2e-ns")
		assert.Equal(t, len(r.Distorted), map[bool]int{true: 2}[tt.doubted], "%s: %v", tt.name, r.Distorted)
	}
}

// TestSchedule simulates workers. It compares the ideal time of a pass with the time that workers without
// delays take for the same requests. The measured workers pause and begin late.
func TestSchedule(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	simulate := func(took []time.Duration, workers int, delay func() time.Duration) (samples []sample.Sample) {
		free := make([]time.Duration, workers)
		for k := range free {
			free[k] = time.Duration(k)*ms + delay()
		}
		for i, d := range took {
			k := slices.Index(free, slices.Min(free))
			samples = append(samples, sample.Sample{Request: i, Due: free[k], Start: free[k], End: free[k] + d, Outcome: sample.OK, Clock: sample.KernelClock})
			free[k] += d + delay()
		}
		rng.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] }) // samples come in the order in which they end
		return samples
	}
	for range 50 {
		workers := 1 + rng.IntN(9)
		took := make([]time.Duration, workers*(1+rng.IntN(20)))
		for i := range took {
			took[i] = time.Duration(1 + rng.IntN(int(100*ms)))
		}
		late := simulate(took, workers, func() time.Duration { return time.Duration(rng.IntN(int(20 * ms))) })
		want := sample.Elapsed(sample.All(simulate(took, workers, func() time.Duration { return 0 })...))
		var e Estimate
		e.Add(Pass{Samples: sample.All(late...), Stays: staggered(workers, ms)})
		assert.Equal(t, e.ideal, want)
	}
}

// TestSession checks that the turns of a session, and the pauses between them, count as one post, and that
// the client is blamed for turns that were sent late.
func TestSession(t *testing.T) {
	turn := func(request, turn int, start, end time.Duration) sample.Sample {
		return sample.Sample{Request: request, Turn: turn, Due: start, Start: start, End: end, Outcome: sample.OK, Clock: sample.KernelClock}
	}
	all := []sample.Sample{turn(0, 0, 0, 10*ms), turn(0, 1, 30*ms, 40*ms), turn(1, 0, 45*ms, 60*ms)}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(1, 0)}, "req/s")
	assert.Assert(t, math.Abs(largest(r)-(1-55.0/60)) < 1e-9, "%v", largest(r))
	r = report(Pass{Samples: sample.All(all...), Stays: staggered(1, 0), LateTurns: map[int]time.Duration{0: 5 * ms}}, "req/s")
	assert.Assert(t, math.Abs(largest(r)-(1-50.0/60)) < 1e-9, "%v", largest(r))
	r = report(Pass{Samples: sample.All(all[:2]...), LateTurns: map[int]time.Duration{0: 5 * ms}}, "req/s")
	assert.Assert(t, math.Abs(largest(r)-(1-35.0/40)) < 1e-9, "%v", largest(r))
}

// TestOpenLoop checks that the client is blamed for a late send of an open loop, and the server for a wait
// because of MaxInFlight.
func TestOpenLoop(t *testing.T) {
	open := func(late func(i int) time.Duration, queued time.Duration) []sample.Sample {
		var all []sample.Sample
		for i := range 101 {
			due := time.Duration(i) * 10 * ms
			s := stream(i, due+queued+late(i))
			s.Scheduled, s.Due = true, due
			if queued > 0 {
				s.Granted = due + queued
			}
			all = append(all, s)
		}
		return all
	}
	none := func(int) time.Duration { return 0 }
	for _, tt := range []struct {
		name    string
		samples []sample.Sample
		worst   float64
		units   string
	}{
		{"punctual", open(none, 0), 0, ""},
		{"queued", open(none, 50*ms), 0, ""},
		{"behind", open(func(i int) time.Duration { return time.Duration(i) * ms }, 0), 0.495, "p99-ttft-ns p50-ttft-ns req/s"},
		{"one hiccup at the end", open(func(i int) time.Duration { return max(0, time.Duration(i-99)) * 200 * ms }, 0), 1 - 1380.0/1580, "req/s"},
		{"one hiccup", open(func(i int) time.Duration { return max(0, 1-time.Duration(i)) * 200 * ms }, 0), 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := report(Pass{Samples: sample.All(tt.samples...)}, "p50-ttft-ns", "p99-ttft-ns", "p99-service-ttft-ns", "req/s", "p99-lag-ns", "mean-tpot-ns")
			near(t, largest(r), tt.worst)
			assert.Equal(t, strings.Join(r.Units(), " "), tt.units, r.Text(true))
		})
	}
}

// TestUserClock checks how the lags of control streams are combined with the samples: the share of late
// gaps must count, and not the percentile of the lags.
func TestUserClock(t *testing.T) {
	// The server makes 0.2 % of the gaps 50 ms longer. The client reads so many deltas 50 ms late that
	// 0.9 % of the gaps are longer, and the deltas after these gaps come with them.
	var all []sample.Sample
	for i := range 100 {
		s := stream(i, time.Duration(i)*ms)
		s.Clock, s.Lags = sample.UserClock, nil
		s.Gaps = slices.Repeat([]time.Duration{10 * ms}, 100)
		s.Deltas, s.Outputs = 101, 101
		if i%5 == 0 {
			s.Gaps[80] += 50 * ms
		}
		if i < 90 {
			copy(s.Gaps[i/2:], []time.Duration{60 * ms, 0, 0, 0, 0, 0})
		}
		s.Last = s.First + sum(s.Gaps)
		s.End = s.Last
		all = append(all, s)
	}
	lags := func(late int) Errors {
		e := Errors{Streams: 20, Late: make([]time.Duration, 10_000)}
		for i := range late {
			for k := range 5 {
				e.Late[5*i+k] = time.Duration(50-10*k) * ms
			}
		}
		return e
	}
	for _, tt := range []struct {
		name    string
		errors  Errors
		units   string
		unknown bool
	}{
		{"late", lags(90), "p99-itl-ns", false},
		{"prompt", lags(0), "", false},
		{"few streams", Errors{Streams: 4, Late: make([]time.Duration, 40)}, "", true},
		{"no stream", Errors{}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Pass{Samples: sample.All(all...), Stays: staggered(100, ms), Errors: tt.errors}
			r := report(p, "p99-itl-ns", "p50-itl-ns", "mean-tpot-ns", "p50-ttft-ns")
			assert.Equal(t, r.Unknown != "", tt.unknown, r.Unknown)
			assert.Equal(t, len(r.Distorted) > 0 && r.Distorted[0].Unit == "p99-itl-ns", tt.units != "", "%+v", r)
			if tt.units != "" {
				assert.Assert(t, largest(r) > 0.3, "%v", largest(r))
			}
		})
	}
	p := Pass{Samples: sample.All(all...), Stays: staggered(100, 0), Errors: lags(0), ClockSet: true}
	assert.Assert(t, report(p).Unknown != "", "the wall clock was set")
}

func sum(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum
}

// TestThrottled checks that throttling counts relative to the CPUs that the process may use, not all CPUs,
// and that it distorts all metrics.
func TestThrottled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := stream(0, 0)
	r := report(Pass{Samples: sample.All(s), Stays: staggered(1, 0), Strain: strain.Strain{Throttled: s.End / 10}}, "req/s", "mean-ttft-ns", "in-tok/req")
	near(t, largest(r), 0.1)
	assert.DeepEqual(t, r.Units(), []string{"mean-ttft-ns", "req/s"})
}

// TestOwnUnits checks units that a load computes itself.
func TestOwnUnits(t *testing.T) {
	all := streams()
	for i := range all {
		if i%2 == 0 {
			together(&all[i], 0, 1, 10*ms, all[i].Start)
		}
	}
	p := Pass{Samples: sample.All(all...), Stays: staggered(500, 0)}
	var e Estimate
	e.Add(p)
	own := func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		n, first := 0.0, 0.0
		for s := range samples {
			n, first = n+1, first+float64(s.First-s.Due)
		}
		return map[string]float64{"own-ttft-ns": first / n, "own-req/s": n / sample.Elapsed(samples).Seconds(), "own-other": first}
	}
	units := []sample.Unit{{Name: "own-ttft-ns", Family: sample.FamilyTTFT}, {Name: "own-req/s", Family: sample.FamilyRate}, {Name: "own-other"}}
	compute := func(samples iter.Seq[*sample.Sample], elapsed time.Duration) (all, more map[string]float64) {
		return nil, own(samples)
	}
	got := e.shares(p.Samples, compute, units, own(p.Samples))
	assert.Equal(t, len(got), 2)
	near(t, got["own-ttft-ns"].likely, 0.05)
	near(t, got["own-req/s"].likely, math.Abs(1-float64(e.elapsed)/float64(e.ideal))/(float64(e.elapsed)/float64(e.ideal)))
}

// TestHistogram checks quantiles against sorted values.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h histogram
	assert.Equal(t, h.quantile(0.5), time.Duration(0))
	assert.Equal(t, h.mean(), time.Duration(0))
	var all []time.Duration
	for range 1000 {
		d := time.Duration(math.Exp(rng.Float64() * 43))
		all = append(all, d)
		h.add(d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.001, 0.5, 0.95, 1} {
		want := all[max(0, int(math.Ceil(q*1000))-1)]
		got := h.quantile(q)
		assert.Assert(t, want <= got && got <= want+want/16+1, "%v: %v, want %v", q, got, want)
	}
	assert.Equal(t, h.quantile(-0.1), time.Duration(0))
	for _, d := range []time.Duration{0, 1, 15, 16, 17, 31, 32, 33, 1000, math.MaxInt64} {
		assert.Assert(t, top(bucket(d)) >= d && (bucket(d) == 0 || top(bucket(d)-1) < d), "%d", d)
	}
	h.add(-1)
	assert.Equal(t, h.counts[0] > 0, true)
}

// TestAddStream compares the instants that a client measured with the instants at which the tokens were
// written.
func TestAddStream(t *testing.T) {
	start := time.Now()
	good := sample.Sample{ID: "a", Outcome: sample.OK, Deltas: 3, First: 10 * ms, Gaps: []time.Duration{10 * ms, 12 * ms}, Last: 32 * ms}
	written := []time.Time{start.Add(11 * ms), start.Add(13 * ms), start.Add(32 * ms)}
	for _, tt := range []struct {
		name    string
		change  func(s *sample.Sample)
		written []time.Time
		want    string
	}{
		{"read during the write, late, and at once", nil, written, "{1 [0s 7ms 0s]}"},
		{"another number of tokens", nil, written[:1], "{0 []}"},
		{"a failure", func(s *sample.Sample) { s.Outcome = sample.Truncated }, written, "{0 []}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good
			if tt.change != nil {
				tt.change(&s)
			}
			var got Errors
			got.AddStream(&s, tt.written, start)
			assert.Equal(t, fmt.Sprint(got), tt.want)
		})
	}
}

// TestActivity checks the lags of reads around an instant, for short and for long passes.
func TestActivity(t *testing.T) {
	var none activities
	n, _ := none.around(0, 0)
	assert.Equal(t, n, 0)
	a := activity{width: firstWidth}
	for i := range 10 {
		a.add(time.Duration(i)*ms, time.Duration(i))
	}
	n, longest := a.around(5*ms + 10)
	assert.Equal(t, n, 3)
	assert.Equal(t, longest, time.Duration(6))
	n, longest = a.around(time.Hour)
	assert.Assert(t, n == 0 && longest == 0)
	a.add(time.Hour, 20)
	n, longest = a.around(time.Hour)
	assert.Assert(t, n == 1 && longest == 20)
	n, longest = a.around(0)
	assert.Assert(t, n == 10 && longest == 9, "%d, %d", n, longest)
	assert.Assert(t, len(a.slots) <= maxSlots)
}

// TestActivities checks that many passes take no more memory than one long pass, and that each pass keeps
// its own reads.
func TestActivities(t *testing.T) {
	var all activities
	const passes = 50
	for pass := range passes {
		for at := range 10 * time.Second / ms {
			all.add(pass, at*ms, time.Duration(pass))
		}
	}
	sum := 0
	for pass := range passes {
		sum += cap(all.passes[pass].slots)
		n, longest := all.around(pass, 5*time.Second)
		assert.Assert(t, n >= 3 && longest == time.Duration(pass), "pass %d: %d, %d", pass, n, longest)
	}
	assert.Assert(t, sum <= 2*maxSlots, "%d slots", sum)
}

// TestBurstsOfServer checks that a client with prompt reads is not blamed for deltas that the server sends
// at once in several segments.
func TestBurstsOfServer(t *testing.T) {
	var all []sample.Sample
	for i := range 200 {
		s := stream(i, time.Duration(i)*100*time.Microsecond)
		together(&s, 4, 5, 3*ms, s.First+61*ms) // after a pause of 40 ms
		for k := range s.Lags {
			s.Lags[k] = 3 * ms
		}
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(200, 100*time.Microsecond)}, "p99-itl-ns", "mean-tpot-ns", "p99-ttft-ns")
	near(t, largest(r), 40.0/37-1)
}

// TestLate checks which time most stops of the client do not exceed: twice the third quartile of the lags of control
// streams.
func TestLate(t *testing.T) {
	var e Estimate
	assert.Equal(t, e.Late(), time.Duration(0))
	none := func(func(*sample.Sample) bool) {}
	e.Add(Pass{Samples: none, Errors: Errors{Streams: 5, Late: []time.Duration{1000, 2000, 3000, 4000, 1_000_000}}})
	assert.Assert(t, e.Late() >= 7000 && e.Late() <= 9000, "%v", e.Late())
}

// largest returns the largest likely share of the metrics of a report.
func largest(r Report) float64 {
	share, _ := r.Worst(func(string) bool { return true })
	return share
}
