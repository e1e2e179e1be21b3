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
// The results of the gateway have the units added-ttft-ms and added-itl-ms, each with a confidence interval
// of 95 % (added-ttft-low-ms, added-ttft-high-ms and so on). The interval takes requests for independent: it
// is too narrow if passes differ by more than their requests do, as on a busy machine. If backends.Process
// started the gateway, its results also have the gateway's CPU time, srv-cpu-s/ktok. The gateway must then
// not be started together with the server, in Process.Beside, because the CPU time would contain the
// server's.
func (o Options) GatewayOverhead(b *testing.B, direct, gateway llmbench.Target) {
	b.Helper()
	llmbench.Watch(b)
	o.Simulated = o.Simulated || direct.Simulated
	c, err := readConfig()
	if err == nil {
		o = o.withEnvironment(c)
		err = cmp.Or(o.check(), checkFull(o.Full))
	}
	if err != nil {
		b.Fatal(err)
	}
	s := connect(b, o, direct, true)
	in, out := pick(s, 512, 64), pick(s, 128, 32)
	b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
		for _, users := range s.concurrencies(pick(s, []int{1, 16, 64}, []int{1, 16})...) {
			load := fmt.Sprintf("/concurrency=%d", users)
			l := s.fresh(b, llmbench.Load{Concurrency: users}, s.requests(pick(s, max(128, 8*users), max(32, 4*users))), 2*users,
				func(n int, seed uint64) ([]llmbench.Request, error) {
					return s.prompts(in, out, seed+uint64(users)).Requests(n)
				})
			llmbench.Arms(b, s.completed(b, l),
				llmbench.Arm{Name: "via=direct" + load, Target: direct},
				llmbench.Arm{Name: "via=gateway" + load, Target: gateway, Compare: added})
		}
	})
}

// added returns by how much latencies through the gateway are longer than direct ones.
func added(direct, gateway iter.Seq[*sample.Sample]) map[string]float64 {
	figures := map[string]float64{}
	for _, l := range []struct {
		name string
		of   func(*sample.Sample) (time.Duration, bool)
	}{{"ttft", (*sample.Sample).TTFT}, {"itl", meanGap}} {
		s, enough := shiftOf(valuesOf(direct, l.of), valuesOf(gateway, l.of))
		if !enough {
			continue
		}
		for unit, d := range map[string]time.Duration{"": s.Of, "-low": s.Low, "-high": s.High} {
			figures["added-"+l.name+unit+"-ms"] = d.Seconds() * 1000
		}
	}
	return figures
}

// valuesOf returns the latencies of the successful requests.
func valuesOf(samples iter.Seq[*sample.Sample], of func(*sample.Sample) (time.Duration, bool)) (all []time.Duration) {
	for s := range samples {
		if d, has := of(s); has && s.Outcome == sample.OK {
			all = append(all, d)
		}
	}
	return all
}

// meanGap returns the mean time between the deltas of a request. One value for each request, because the
// gaps of a request are not independent.
func meanGap(s *sample.Sample) (time.Duration, bool) {
	if s.Deltas < 2 {
		return 0, false
	}
	return (s.Last - s.First) / time.Duration(s.Deltas-1), true
}
