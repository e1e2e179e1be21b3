package scenarios

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// BenchmarkError measures the measuring: over real sockets, each sample is held
// against the mock server's own log of when the request came and when each
// token was sent, at 50 tokens a second and stream. Its figures are absolute
// differences: the smaller, the truer. Token counts must agree exactly.
//
// Client and server share this process, and so the cores: what the server is
// late in noticing a request is in the error too. All workers send their first
// request at once. With tokens=spread the server's jitter parts the streams
// from there, as answers of different lengths do; with tokens=lockstep every
// stream's token is due at the same instant for good, the worst that a server
// with continuous batching can do to a client.
func BenchmarkError(b *testing.B) {
	cfg, err := llmbench.ReadConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.URL != "" || !slices.Equal(cfg.Backends, []string{"mock"}) {
		b.Skip("is about the harness and its mock, and another server is to be measured")
	}
	type load struct{ concurrency, requests, output int }
	for _, mode := range []struct {
		name   string
		jitter float64
		loads  []load
	}{
		{"spread", 0.5, []load{{1, 100, 3}, {64, 256, 25}, {256, 1024, 25}, {1000, 4000, 25}}},
		{"lockstep", 0, []load{{64, 128, 25}, {256, 512, 25}, {1000, 2000, 25}}},
	} {
		b.Run("tokens="+mode.name, func(b *testing.B) {
			srv, target := backends.Mock{Config: &mockserver.Config{
				TTFT: 20 * time.Millisecond, PerToken: 20 * time.Millisecond, Jitter: mode.jitter,
			}}.Serve(b)
			for _, load := range mode.loads {
				b.Run(fmt.Sprintf("concurrency=%d", load.concurrency), func(b *testing.B) {
					all, err := benchdata.Prompts{Input: 32, Output: load.output, Seed: 1}.Requests(load.requests + load.concurrency)
					if err != nil {
						b.Fatal(err)
					}
					srv.Reset()
					samples := llmbench.Run(b, target, llmbench.Load{
						Requests:    all[:load.requests],
						Warmup:      all[load.requests:],
						Concurrency: load.concurrency,
						Timeout:     time.Minute,
					})
					reportError(b, samples, srv.Log())
				})
			}
		})
	}
}

// reportError compares what the client saw with what the server did.
func reportError(b *testing.B, samples []llmbench.Sample, log []mockserver.Entry) {
	sent := map[string]mockserver.Entry{}
	for _, e := range log {
		sent[e.ID] = e
	}
	var ttft, itl []time.Duration
	for i := range samples {
		s := &samples[i]
		e, found := sent[s.ID]
		if !found {
			b.Fatalf("the server's log has no request %s", s.ID)
		}
		if s.OutputTokens != e.OutputTokens || s.PromptTokens != e.PromptTokens || s.Deltas != len(e.Tokens) {
			b.Fatalf("request %s: %d prompt and %d output tokens in %d deltas; the server says %d, %d and %d",
				s.ID, s.PromptTokens, s.OutputTokens, s.Deltas, e.PromptTokens, e.OutputTokens, len(e.Tokens))
		}
		seen, _ := s.TTFT()
		ttft = append(ttft, (seen - (e.Tokens[0] - e.Accepted)).Abs())
		for i, gap := range s.Gaps {
			itl = append(itl, (gap - (e.Tokens[i+1] - e.Tokens[i])).Abs())
		}
	}
	slices.Sort(ttft)
	slices.Sort(itl)
	b.ReportMetric(llmbench.Quantile(ttft, 0.50), "p50-ttft-err-ns")
	b.ReportMetric(llmbench.Quantile(ttft, 0.99), "p99-ttft-err-ns")
	b.ReportMetric(llmbench.Quantile(itl, 0.99), "p99-itl-err-ns")
}
