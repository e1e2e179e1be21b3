package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// Mock is the simulated server. It runs in this process, on a loopback socket. It needs no installation,
// and keeps a log of when it really sent each token.
type Mock struct {
	// Profile is the name of a profile or the path of a JSON file with one; ""
	// means the default profile. If Config is set, it is used instead.
	Profile string
	Config  *mockserver.Config
	// Speed is how many times faster than real time the server runs; 0 means the
	// speed of the profile or of Config.
	Speed float64
	// Model is the model's name in requests and answers; "" means the profile's.
	Model string
	// Dialect is the API of the requests; nil means OpenAI chat.
	Dialect dialect.Dialect
	// Body changes the body of each completion; see [llmbench.Target].
	Body json.RawMessage
	HTTP string // version of HTTP; see [llmbench.Target]
}

// Start starts the server and returns it as a target. The server runs until tb ends. Start fails if several
// processes measure together, because the other processes could not reach the server.
func (m Mock) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	_, target := m.Serve(tb)
	return target
}

// Serve is like [Mock.Start] and also returns the server itself, for its log.
func (m Mock) Serve(tb testing.TB) (*mockserver.Server, llmbench.Target) {
	tb.Helper()
	harness.Watch(tb)
	if _, shards := harness.Shard(); shards > 1 {
		tb.Fatal("backends: mock: it is part of one process, which the other shards of LLMBENCH_RENDEZVOUS cannot reach: want LLMBENCH_BACKEND=mock-container, or LLMBENCH_URL of a server that runs, such as go run ./mockserver/cmd/mockserver")
	}
	cfg, err := mockserver.Load(m.Profile)
	if m.Config != nil {
		cfg, err = *m.Config, nil
	}
	if err != nil {
		tb.Fatalf("backends: mock: %v", err)
	}
	if m.Speed != 0 {
		cfg.Speed = m.Speed
	}
	cfg.Model = cmp.Or(m.Model, cfg.Model, "mock")
	srv, url := mockserver.Start(tb, cfg)
	return srv, llmbench.Target{
		URL:       url,
		Simulated: true,
		Model:     cfg.Model,
		Dialect:   m.Dialect,
		Body:      m.Body,
		HTTP:      m.HTTP,
		Config:    m.describe(),
		Observe:   mockMetrics(url, cfg, tb.Logf).Observe,
		Truth: &llmbench.Truth{
			Speed:       cfg.Describe(),
			PrefixCache: cfg.Engine != nil && cfg.Engine.PrefixCache,
			Figures:     func(samples iter.Seq[*sample.Sample]) map[string]float64 { return logged(srv, samples) },
		},
	}
}

// logged returns the latencies of samples according to the server's log. In an open loop they are measured
// from the instant at which the request was due, otherwise from the instant at which the server had read
// the request's header. They end at the instant before the server wrote the token.
func logged(srv *mockserver.Server, samples iter.Seq[*sample.Sample]) map[string]float64 {
	log := map[string]mockserver.Entry{}
	for _, e := range srv.Log() {
		log[e.ID] = e
	}
	figures := sample.Summarize(func(yield func(*sample.Sample) bool) {
		for s := range samples {
			e, known := log[s.ID]
			if s.Outcome != sample.OK || !known || len(e.Tokens) == 0 && s.Inputs == 0 {
				continue
			}
			truth := *s
			written := func(at time.Duration) time.Duration { return at - s.Epoch.Sub(srv.Epoch()) }
			if truth.Start = written(e.Accepted); !s.Scheduled {
				truth.Due = truth.Start
			}
			truth.End = written(e.End)
			if n := len(e.Tokens); n > 0 { // an answer of vectors or scores has no tokens
				truth.First, truth.Last = written(e.Tokens[0]), written(e.Tokens[n-1])
			}
			if writes := slices.Compact(slices.Clone(e.Tokens)); s.Streamed && len(writes) == s.Deltas {
				truth.Gaps = make([]time.Duration, 0, len(writes))
				for k := range writes[1:] {
					truth.Gaps = append(truth.Gaps, writes[k+1]-writes[k])
				}
			} else {
				truth.Gaps, truth.DeltaTokens = nil, nil
			}
			if !yield(&truth) {
				return
			}
		}
	}, time.Second, sample.SLO{}).Metrics
	maps.DeleteFunc(figures, func(unit string, _ float64) bool { return !slices.Contains(inLog, unit) })
	return figures
}

// inLog lists the units that can also be computed from the log of the simulated server.
var inLog = []string{
	sample.P50TTFT, sample.P99TTFT, sample.MeanTPOT, sample.P99ITL, sample.P50E2E,
}

// mockMetrics returns the metrics of a simulated server. Every simulated server counts requests and tokens,
// and also drafts if it simulates speculative decoding. A server with a prefix cache has all metrics that
// vLLM has. The names are vLLM's, plus a gauge of open requests.
func mockMetrics(url string, cfg mockserver.Config, logf func(string, ...any)) metrics.Source {
	all := VLLM{}.Metrics()
	t := llmbench.Target{URL: url}
	s := metrics.Source{Addresses: []metrics.Address{{Target: t}}, Logf: logf, Names: metrics.Names{
		Path: all.Path, Requests: all.Requests, PromptTokens: all.PromptTokens, OutputTokens: all.OutputTokens,
		Drafts: all.Drafts, DraftTokens: all.DraftTokens, Accepted: all.Accepted,
	}}
	if cfg.Engine != nil && cfg.Engine.PrefixCache {
		s.Names = all
		s.Reset = func(ctx context.Context) error {
			return probe.Server{Target: t}.Take(ctx, resetVLLM)
		}
	}
	s.Names.OpenRequests = metrics.Alternatives{"mockserver_requests_open"}
	return s
}

// describe returns the configuration lines: the settings that environment variables can change. A Config in
// code needs no line, because it is the same in every run of that code.
func (m Mock) describe() map[string]string {
	config := map[string]string{"backend": "mock"}
	if m.Config == nil && m.Profile != "" {
		config["mock-profile"] = m.Profile
	}
	if m.Speed != 0 {
		config["mock-speed"] = fmt.Sprintf("%g", m.Speed)
	}
	return config
}
