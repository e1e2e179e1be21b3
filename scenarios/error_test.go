package scenarios

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// An errorLoad is one point of BenchmarkError: streams at once, each with so many
// tokens, and how often each stream is repeated. The big ones are for LLMBENCH_FULL.
type errorLoad struct {
	concurrency, rounds, output int
	big                         bool
}

// errorModes are how the tokens of BenchmarkError come.
var errorModes = []struct {
	name  string
	cfg   mockserver.Config
	loads []errorLoad
}{
	{"spread", mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 20 * time.Millisecond, Jitter: 0.5},
		[]errorLoad{{1, 100, 2, false}, {64, 4, 25, false}, {256, 4, 25, false}, {1000, 2, 100, true}, {4000, 2, 25, true}, {10000, 2, 25, true}}},
	{"lockstep", mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond},
		[]errorLoad{{64, 2, 25, false}, {256, 2, 25, false}, {1000, 1, 100, true}}},
	{"slow", mockserver.Config{TTFT: 5 * time.Second, PerToken: 500 * time.Millisecond, Jitter: 0.5},
		[]errorLoad{{10000, 1, 25, true}}},
	{"unpaced", mockserver.Config{}, []errorLoad{{64, 8, 100, false}}},
}

// BenchmarkError measures the measuring: each sample is held against the log that
// a mock server in another process keeps of when it wrote each token, at 50 tokens
// a second and stream. Its figures are absolute differences: the smaller, the
// truer. Token counts must agree exactly, or it fails.
//
// Client and server share the machine's cores, of which the client comes first. With
// tokens=spread the streams begin one after the other, evenly over the time that one
// takes, and the server's jitter parts their tokens; with
// tokens=lockstep every stream's token is due at the same instant for good, the
// worst that a server with continuous batching can do to a client; tokens=unpaced
// come as fast as they can, and tokens=slow are two a second, for streams that are
// more than two cores can feed at 50.
func BenchmarkError(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.URL != "" || !slices.Equal(cfg.Backends, []string{"mock"}) {
		llmbench.Skip(b, "it is about the harness and its mock, and another server is to be measured")
	}
	for _, mode := range errorModes {
		loads := slices.DeleteFunc(slices.Clone(mode.loads), func(l errorLoad) bool { return l.big && cfg.Full != "1" })
		if len(loads) == 0 {
			continue
		}
		b.Run("tokens="+mode.name, func(b *testing.B) {
			mock := startMock(b, mode.cfg)
			for _, load := range loads {
				b.Run(fmt.Sprintf("concurrency=%d", load.concurrency), func(b *testing.B) {
					n := load.concurrency * load.rounds
					all, err := benchdata.Prompts{Input: 32, Output: load.output, Seed: 1}.Requests(n + load.concurrency)
					if err != nil {
						b.Fatal(err)
					}
					mock.reset(b)
					l := llmbench.Load{
						Requests:    all[:n],
						Warmup:      all[n:],
						Concurrency: load.concurrency,
						Timeout:     2 * time.Minute,
						ClientBound: llmbench.BoundReported, // the errors are what is looked for
					}
					switch mode.name {
					case "lockstep":
						l.Stagger = -1
					case "spread":
						l.Stagger = time.Duration(load.output) * mode.cfg.PerToken / time.Duration(load.concurrency)
					}
					samples := llmbench.Run(b, mock.target, l)
					reportError(b, mock, samples)
				})
			}
		})
	}
}

// reportError compares what the client saw with what the server did.
func reportError(b *testing.B, mock farMock, samples []sample.Sample) {
	sent, epoch := mock.log(b)
	var ttft, itl, wire, user []time.Duration
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
		// The server's instant on the client's clock.
		written := func(k int) time.Duration {
			return e.Tokens[k] + time.Duration(epoch-s.Epoch.UnixNano())
		}
		at := s.First
		for k := range e.Tokens {
			if k > 0 {
				at += s.Gaps[k-1]
				itl = append(itl, (s.Gaps[k-1] - (e.Tokens[k] - e.Tokens[k-1])).Abs())
			}
			late := at - written(k)
			if k == 0 {
				ttft = append(ttft, late.Abs())
			}
			if s.Lags == nil { // the user clock has it all
				user = append(user, late.Abs())
			} else {
				wire = append(wire, late.Abs())
				user = append(user, s.Lags[k])
			}
		}
	}
	for _, part := range []struct {
		name   string
		errors []time.Duration
	}{{"ttft-err", ttft}, {"itl-err", itl}, {"wire-err", wire}, {"user-err", user}} {
		if len(part.errors) == 0 {
			continue
		}
		slices.Sort(part.errors)
		for _, q := range []struct {
			name string
			q    float64
		}{{"p50", 0.50}, {"p99", 0.99}, {"max", 1}} {
			b.ReportMetric(max(1, sample.Quantile(part.errors, q.q)), q.name+"-"+part.name+"-ns")
		}
	}
}
