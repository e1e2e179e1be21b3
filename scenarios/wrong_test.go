package scenarios

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// An errorLoad is one row of BenchmarkError. It has a number of streams, a short form that takes a
// second or two, and the full form for LLMBENCH_FULL. If the short form is zero, the row has only
// the full form.
type errorLoad struct {
	concurrency int
	short, full errorForm
}

// An errorForm says that each stream sends rounds requests, with output tokens each.
type errorForm struct{ rounds, output int }

// errorModes holds the ways in which the server of BenchmarkError paces its tokens.
var errorModes = []struct {
	name  string
	cfg   mockserver.Config
	loads []errorLoad
}{
	{"spread", mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 20 * time.Millisecond, Jitter: 0.5},
		[]errorLoad{
			{1, errorForm{20, 2}, errorForm{100, 2}}, {64, errorForm{2, 10}, errorForm{4, 25}}, {256, errorForm{2, 10}, errorForm{4, 25}},
			{1000, errorForm{}, errorForm{2, 100}}, {4000, errorForm{}, errorForm{2, 25}}, {10000, errorForm{}, errorForm{2, 25}},
		}},
	{"lockstep", mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond},
		[]errorLoad{{64, errorForm{1, 10}, errorForm{2, 25}}, {256, errorForm{}, errorForm{2, 25}}, {1000, errorForm{}, errorForm{1, 100}}}},
	{"slow", mockserver.Config{TTFT: 5 * time.Second, PerToken: 500 * time.Millisecond, Jitter: 0.5},
		[]errorLoad{{10000, errorForm{}, errorForm{1, 25}}}},
	{"unpaced", mockserver.Config{}, []errorLoad{{64, errorForm{8, 100}, errorForm{8, 100}}}},
}

// BenchmarkError measures the error of the harness. It compares each sample with the log of a mock
// server in another process. The log has the instant at which the server wrote each token. The
// values are absolute differences. If token counts differ, the benchmark fails. LLMBENCH_DIALECT
// selects the dialect, which must send one token in each event and report token counts. LLMBENCH_HTTP=2
// measures over HTTP/2.
//
// The client and the server share the cores of the machine, and the client has priority. The modes
// are:
//
//   - tokens=spread: 50 tokens per second in each stream. The starts of the streams are spread
//     evenly over the duration of one stream, and jitter keeps their tokens apart.
//   - tokens=lockstep: the same rate, but the tokens of all streams are due at the same instants.
//     For a client this is the worst that a server with continuous batching can do.
//   - tokens=unpaced: the server sends tokens as fast as it can.
//   - tokens=slow: two tokens per second. There are more streams than two cores could serve at 50
//     tokens per second.
func BenchmarkError(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	named, _ := environment(b)
	if !named.OnlyMock() {
		harness.Skip(b, "it measures the harness with the mock server, and the environment names another server")
	}
	for _, mode := range errorModes {
		loads := slices.DeleteFunc(slices.Clone(mode.loads), func(l errorLoad) bool { return l.short == errorForm{} && cfg.Full != "1" })
		if len(loads) == 0 {
			continue
		}
		b.Run("tokens="+mode.name, func(b *testing.B) {
			mock := startMock(b, mode.cfg)
			mock.target.Dialect, mock.target.HTTP = named.Dialect, named.HTTP
			for _, load := range loads {
				b.Run(fmt.Sprintf("concurrency=%d", load.concurrency), func(b *testing.B) {
					form := load.short
					if cfg.Full == "1" {
						form = load.full
					}
					stagger := time.Duration(0)
					switch mode.name {
					case "lockstep":
						stagger = -1
					case "spread":
						stagger = form.spread(mode.cfg.PerToken, load.concurrency)
					}
					measureError(b, mock, load.concurrency, form, stagger, true)
				})
			}
		})
	}
}

// BenchmarkDialects measures the error of the harness in each dialect that generates text, as
// BenchmarkError does: 64 streams, whose tokens are spread. It needs LLMBENCH_FULL=1.
func BenchmarkDialects(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if named, _ := environment(b); cfg.Full != "1" || !named.OnlyMock() {
		harness.Skip(b, "it measures the harness with the mock server, and takes a minute or two; set LLMBENCH_FULL=1 and no other server")
	}
	flavors := map[string]mockserver.Flavor{"vllm-demo": mockserver.FlavorVLLM, "mindie-vllm": mockserver.FlavorMindIE}
	const streams = 64
	form := errorForm{4, 25}
	for _, name := range dialect.Names() {
		d, err := dialect.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		if _, items := d.(dialect.ItemsDialect); items {
			continue
		}
		b.Run("dialect="+name, func(b *testing.B) {
			server := errorModes[0].cfg
			server.Flavor = flavors[name]
			mock := startMock(b, server)
			mock.target.Dialect = d
			measureError(b, mock, streams, form, form.spread(server.PerToken, streams), false)
		})
	}
}

// spread returns the time between the starts of streams whose starts are spread evenly over the
// duration of one stream. A token takes perToken.
func (f errorForm) spread(perToken time.Duration, streams int) time.Duration {
	return time.Duration(f.output) * perToken / time.Duration(streams)
}

// measureError sends a load to the mock server, and reports the error of the harness. prompts says whether the dialect
// reports the tokens of each prompt.
func measureError(b *testing.B, mock mockProcess, concurrency int, form errorForm, stagger time.Duration, prompts bool) {
	n := concurrency * form.rounds
	all, err := benchdata.Prompts{Input: 32, Output: form.output, Seed: 1}.Requests(n + concurrency)
	if err != nil {
		b.Fatal(err)
	}
	shorten(all[n:])
	mock.reset(b)
	l := llmbench.Load{
		Requests:    all[:n],
		Warmup:      all[n:],
		Concurrency: concurrency,
		Stagger:     stagger,
		Timeout:     2 * time.Minute,
		ClientBound: llmbench.BoundReported, // the benchmark measures the distortion, so it must not be an error
	}
	reportError(b, mock, llmbench.Run(b, mock.target, l).All(), prompts)
}

// reportError compares samples with the log of the server. Unless prompts is true, samples may lack the tokens of a prompt.
func reportError(b *testing.B, mock mockProcess, samples iter.Seq[*sample.Sample], prompts bool) {
	sent, epoch := mock.log(b)
	var ttft, itl, wire, user []time.Duration
	for s := range samples {
		e, found := sent[s.ID]
		if !found {
			b.Fatalf("the server's log has no request %s", s.ID)
		}
		if s.OutputTokens != e.OutputTokens || (prompts || s.PromptTokens != 0) && s.PromptTokens != e.PromptTokens || s.Deltas != len(e.Tokens) {
			b.Fatalf("request %s: %d prompt and %d output tokens in %d deltas; the server's log has %d, %d and %d",
				s.ID, s.PromptTokens, s.OutputTokens, s.Deltas, e.PromptTokens, e.OutputTokens, len(e.Tokens))
		}
		// written returns the instant at which the server wrote token k, on the client's clock.
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
			if s.Lags == nil { // without kernel timestamps the whole error is attributed to the client
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
