package scenarios

import (
	"cmp"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// BenchmarkOneCore measures a client that has less CPU than its streams need. On one core, 1,000
// streams run in lockstep, for two rounds of 100 tokens that are 20 ms apart. They all start at the
// same time.
//
// Each value is reported in several forms: as measured, by the client's own clock (user-), and by
// the mock server's log. In the log, a TTFT is counted from the instant when the server had read
// the request (log-), or from the client's send (sent-). The difference between these two is the
// time in the server's queue. The client's part of this difference is mean-write-ns.
func BenchmarkOneCore(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.Full != "1" {
		b.Skip("LLMBENCH_FULL=1 runs it")
	}
	const streams = 1000
	release := pin(b, 0)
	mock := startMock(b, mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond})
	release()
	defer pin(b, 1)()
	all, err := benchdata.Prompts{Input: 32, Output: 100, Seed: 1}.Requests(3 * streams)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("tokens=lockstep/concurrency=1000", func(b *testing.B) {
		var kernel, user, log, sent figures
		var wrote time.Duration
		for b.Loop() {
			runtime.GC()
			mock.reset(b)
			result, err := llmbench.Pass(b.Context(), b.Name(), mock.target, llmbench.Load{
				Requests: all[:2*streams], Warmup: all[2*streams:], Concurrency: streams, Stagger: -1, Timeout: 2 * time.Minute,
				ClientBound: llmbench.BoundReported, // the benchmark measures the distortion, so it must not be an error
			})
			if err != nil {
				b.Fatal(err)
			}
			entries, epoch := mock.log(b)
			for s := range result.All() {
				e := entries[s.ID]
				if s.Err != nil || s.Clock != sample.KernelClock || s.Deltas != len(e.Tokens) {
					b.Fatalf("request %s: %d deltas by the %s clock, %d in the log: %v", s.ID, s.Deltas, s.Clock, len(e.Tokens), s.Err)
				}
				kernel.ttft = append(kernel.ttft, s.First-s.Start)
				user.ttft = append(user.ttft, s.First+s.Lags[0]-s.Start)
				log.ttft = append(log.ttft, e.Tokens[0]-cmp.Or(e.Received, e.Accepted))
				wrote += s.Wrote - s.Start
				sent.ttft = append(sent.ttft, e.Tokens[0]+time.Duration(epoch-s.Epoch.UnixNano())-s.Start)
				for i, gap := range s.Gaps {
					kernel.itl = append(kernel.itl, gap)
					user.itl = append(user.itl, gap+s.Lags[i+1]-s.Lags[i])
					log.itl = append(log.itl, e.Tokens[i+1]-e.Tokens[i])
				}
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(wrote)/float64(len(kernel.ttft)), "mean-write-ns")
		kernel.report(b, "")
		user.report(b, "user-")
		log.report(b, "log-")
		sent.report(b, "sent-")
	})
}

// figures holds times by one clock.
type figures struct{ ttft, itl []time.Duration }

func (f figures) report(b *testing.B, clock string) {
	var sum time.Duration
	for _, d := range f.ttft {
		sum += d
	}
	b.ReportMetric(float64(sum)/float64(len(f.ttft)), clock+"mean-ttft-ns")
	slices.Sort(f.itl)
	if len(f.itl) > 0 {
		b.ReportMetric(sample.Quantile(f.itl, 0.99), clock+"p99-itl-ns")
	}
}
