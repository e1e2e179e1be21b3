package scenarios

import (
	"cmp"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// GatewayOverhead measures what a gateway adds to the latency of the server behind it. The same load goes to
// the server directly and through the gateway. The two take turns, as [llmbench.Arms] describes, so that a
// drift of the machine affects both alike.
//
// The results of the gateway have the units added-ttft-ms and added-itl-ms. With six rounds or more, as with
// -benchtime=8x, each has a confidence interval of 95 % (added-ttft-low-ms, added-ttft-high-ms and so on). Each
// round is one observation, because the requests of a pass may all be slow for the same reason. If the machine
// becomes slower at a steady rate, the interval is wider than it needs to be. If backends.Process started the
// gateway, its results also have the gateway's CPU time, srv-cpu-s/ktok. The gateway must then not be started
// together with the server, in Process.Beside, because the CPU time would contain the server's.
func (o Options) GatewayOverhead(b *testing.B, direct, gateway llmbench.Target) {
	b.Helper()
	llmbench.Watch(b)
	o.Simulated = o.Simulated || direct.Simulated
	c, err := gatewayOverhead.config()
	if err == nil {
		tell(b, c.notes)
		o = o.withEnvironment(c)
		err = cmp.Or(o.check(), checkFull(o.Full))
	}
	if err != nil {
		b.Fatal(err)
	}
	s := connect(b, o, c, direct, true, true)
	in, out := s.lengths(pick(s, 512, 64), pick(s, 128, 32))
	b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
		for _, users := range s.concurrencies(pick(s, []int{1, 16, 64}, []int{1, 16})...) {
			load := fmt.Sprintf("/concurrency=%d", users)
			l := s.fresh(b, llmbench.Load{Concurrency: users}, s.fewest(s.requests(pick(s, max(128, 8*users), max(32, 4*users))), users, 12), 2*users,
				func(n int, seed uint64) ([]llmbench.Request, error) {
					return s.prompts(in, out, seed+uint64(users)).Requests(n)
				})
			var figures map[string]float64
			llmbench.Arms(b, s.completed(b, l),
				llmbench.Arm{Name: "via=direct" + load, Target: direct},
				llmbench.Arm{Name: "via=gateway" + load, Target: gateway, Compare: func(direct, gateway iter.Seq[*sample.Sample]) map[string]float64 {
					figures = added(direct, gateway)
					return figures
				}})
			if _, known := figures["added-ttft-high-ms"]; len(figures) > 0 && !known {
				llmbench.Note(b, fmt.Sprintf("concurrency=%d: the added latencies have no confidence interval: it needs at least %d rounds, as with -benchtime=8x", users, minObservations))
			}
		}
	})
}

// added returns by how much latencies through the gateway are longer than direct ones. Each round, which is a
// pass of both, is one observation: the median of all differences between its requests.
func added(direct, gateway iter.Seq[*sample.Sample]) map[string]float64 {
	figures := map[string]float64{}
	for _, l := range []struct {
		name string
		of   func(*sample.Sample) (time.Duration, bool)
	}{{"ttft", (*sample.Sample).TTFT}, {"itl", meanGap}} {
		from, to := byPass(direct, l.of), byPass(gateway, l.of)
		var rounds []time.Duration
		for pass, values := range from {
			if len(to[pass]) > 0 {
				rounds = append(rounds, shiftOf(values, to[pass]))
			}
		}
		if len(rounds) == 0 {
			continue
		}
		set := func(unit string, d time.Duration) { figures["added-"+l.name+unit+"-ms"] = d.Seconds() * 1000 }
		e := estimateOf(rounds)
		set("", e.Of)
		if e.HasRange {
			set("-low", e.Low)
			set("-high", e.High)
		}
	}
	return figures
}

// byPass returns the latencies of the successful requests of each pass.
func byPass(samples iter.Seq[*sample.Sample], of func(*sample.Sample) (time.Duration, bool)) map[int][]time.Duration {
	passes := map[int][]time.Duration{}
	for s := range samples {
		if d, has := of(s); has && s.Outcome == sample.OK {
			passes[s.Pass] = append(passes[s.Pass], d)
		}
	}
	return passes
}

// meanGap returns the mean time between the deltas of a request. One value for each request, because the
// gaps of a request are not independent.
func meanGap(s *sample.Sample) (time.Duration, bool) {
	if s.Deltas < 2 {
		return 0, false
	}
	return (s.Last - s.First) / time.Duration(s.Deltas-1), true
}
