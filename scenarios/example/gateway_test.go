package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestMain lets the harness print units and configuration before the results, and
// makes a benchmark that failed fail the run.
func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }

const key = "key-of-a-tenant"

// start starts the simulated server and the gateway before it, and returns both as
// targets. For a server of your own, upstream is its URL.
func start(tb testing.TB) (srv *mockserver.Server, direct, through llmbench.Target) {
	tb.Helper()
	srv, err := mockserver.New(mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 5 * time.Millisecond})
	if err != nil {
		tb.Fatal(err)
	}
	upstream, stop, err := mockserver.Listen("127.0.0.1:0", srv)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(0) })
	to, err := url.Parse(upstream)
	if err != nil {
		tb.Fatal(err)
	}
	gateway := httptest.NewServer(New(to, key))
	tb.Cleanup(gateway.Close)
	direct = llmbench.Target{URL: upstream, Model: "mock"}
	through = llmbench.Target{URL: gateway.URL, Model: "mock", Header: http.Header{"Authorization": {"Bearer " + key}}}
	return srv, direct, through
}

// BenchmarkGateway is what the gateway costs: the same load through it and without
// it, four rows that benchstat puts side by side:
//
//	go test -run='^$' -bench=. -benchtime=1x -count=6 | tee new.txt
//	benchstat -col /via new.txt
func BenchmarkGateway(b *testing.B) {
	_, direct, through := start(b)
	for _, via := range []struct {
		name   string
		target llmbench.Target
	}{{"direct", direct}, {"gateway", through}} {
		b.Run("via="+via.name, func(b *testing.B) {
			for _, concurrency := range []int{1, 16} {
				b.Run(fmt.Sprintf("concurrency=%d", concurrency), func(b *testing.B) {
					// Prompts of 64 tokens with answers of 32; a few come first and
					// are not measured.
					all, err := benchdata.Prompts{Input: 64, Output: 32, Seed: 1}.Requests(8 + 4*concurrency + 2)
					if err != nil {
						b.Fatal(err)
					}
					llmbench.Run(b, via.target, llmbench.Load{
						Requests:    all[2:],
						Warmup:      all[:2],
						Concurrency: concurrency,
						SLO:         sample.SLO{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond},
					})
				})
			}
		})
	}
}

// TestGateway holds what comes through the gateway against the server's own log: as
// many tokens, each in an event of its own, and no request that the log lacks.
func TestGateway(t *testing.T) {
	srv, _, through := start(t)
	requests, err := benchdata.Prompts{Input: 8, Output: 5, Seed: 1}.Requests(6)
	if err != nil {
		t.Fatal(err)
	}
	samples, _, err := llmbench.Pass(t.Context(), t.Name(), through, llmbench.Load{
		Requests: requests, Concurrency: 3, ClientBound: llmbench.BoundReported, // it is counts that are asked for
	})
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]mockserver.Entry{}
	for _, e := range srv.Log() {
		sent[e.ID] = e
	}
	for _, s := range samples {
		e, found := sent[s.ID]
		if s.Outcome != sample.OK || !found || s.Deltas != 5 || s.OutputTokens != e.OutputTokens || s.PromptTokens != e.PromptTokens {
			t.Errorf("%s: %s (%v), %d deltas, %d and %d tokens; the server says %d and %d (known: %t)",
				s.ID, s.Outcome, s.Err, s.Deltas, s.PromptTokens, s.OutputTokens, e.PromptTokens, e.OutputTokens, found)
		}
	}
}

// TestGatewayRefuses: without a key nothing reaches the server.
func TestGatewayRefuses(t *testing.T) {
	srv, _, through := start(t)
	for _, header := range []http.Header{nil, {"Authorization": {"Bearer stolen"}}, {"Authorization": {key}}} {
		through.Header = header
		s := llmbench.Do(t.Context(), through, llmbench.Request{Prompt: "hi", MaxTokens: 1}, true)
		if s.Outcome != sample.HTTP || s.Status != http.StatusUnauthorized {
			t.Errorf("with %v: %s, status %d; want http, 401", header, s.Outcome, s.Status)
		}
	}
	if log := srv.Log(); len(log) != 0 {
		t.Errorf("the server saw %d requests; want none", len(log))
	}
}
