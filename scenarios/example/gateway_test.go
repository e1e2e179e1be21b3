package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

const key = "key-of-a-tenant"

// start starts the simulated server and the gateway in front of it, and returns both as targets. To
// use a server that already runs, let upstream be its URL.
func start(tb testing.TB) (srv *mockserver.Server, direct, through llmbench.Target) {
	tb.Helper()
	srv, upstream := mockserver.Start(tb, mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 2 * time.Millisecond})
	to, err := url.Parse(upstream)
	if err != nil {
		tb.Fatal(err)
	}
	front := httptest.NewServer(New(to, key))
	tb.Cleanup(front.Close)
	direct = llmbench.Target{URL: upstream, Model: "mock"}
	through = llmbench.Target{URL: front.URL, Model: "mock", Header: http.Header{"Authorization": {"Bearer " + key}}}
	return srv, direct, through
}

// gateway returns the gateway as a target. To use a gateway that already runs, return
// backends.URL{URL: "https://…", APIKey: …}.Start(tb) instead.
func gateway(tb testing.TB) llmbench.Target {
	_, _, through := start(tb)
	return through
}

// BenchmarkGateway measures what the gateway costs: the same load through the gateway and without it. Both take turns in
// one process, so that the machine disturbs both alike, and benchgate compares the two results of each process:
//
//	for i in 1 2 3 4 5 6; do go test -run='^$' -bench=Gateway -benchtime=2x; done | tee new.txt
//	benchgate -col /via new.txt
func BenchmarkGateway(b *testing.B) {
	_, direct, through := start(b)
	for _, concurrency := range []int{1, 16} {
		load := fmt.Sprintf("concurrency=%d", concurrency)
		// draw returns prompts of 64 tokens with answers of 32. Each pass has other ones, and so has each process,
		// so that the server finds none in its cache: both arms reach the same server.
		draw := func(n, pass int) ([]llmbench.Request, error) {
			return benchdata.Prompts{Input: 64, Output: 32, Seed: uint64(2 + pass), Salt: direct.Salt(b.Name(), load)}.Requests(n)
		}
		warmup, err := draw(2, -1) // warms up the connections, and is not measured
		if err != nil {
			b.Fatal(err)
		}
		llmbench.Arms(b, llmbench.Load{
			Fresh:       func(pass int) ([]llmbench.Request, error) { return draw(8+4*concurrency, pass) },
			Warmup:      warmup,
			Concurrency: concurrency,
			SLO:         sample.SLO{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond},
		},
			llmbench.Arm{Name: "via=direct/" + load, Target: direct},
			llmbench.Arm{Name: "via=gateway/" + load, Target: through})
	}
}

// TestGateway compares what comes through the gateway with the server's own log. The log must have
// every request, with the same number of tokens. Each token must have come in a separate event.
func TestGateway(t *testing.T) {
	srv, _, through := start(t)
	requests, err := benchdata.Prompts{Input: 8, Output: 5, Seed: 1}.Requests(6)
	if err != nil {
		t.Fatal(err)
	}
	result, err := llmbench.Pass(t.Context(), t.Name(), through, llmbench.Load{
		Requests: requests, Concurrency: 3, ClientBound: llmbench.BoundReported, // the test checks counts, not times
	})
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]mockserver.Entry{}
	for _, e := range srv.Log() {
		sent[e.ID] = e
	}
	for s := range result.All() {
		e, found := sent[s.ID]
		if s.Outcome != sample.OK || !found || s.Deltas != 5 || s.OutputTokens != e.OutputTokens || s.PromptTokens != e.PromptTokens {
			t.Errorf("%s: %s (%v), %d deltas, %d prompt and %d output tokens; the server's log has %d and %d (found: %t)",
				s.ID, s.Outcome, s.Err, s.Deltas, s.PromptTokens, s.OutputTokens, e.PromptTokens, e.OutputTokens, found)
		}
	}
}

// TestGatewayLosesNoAnswer sends requests at 64 streams to two servers: to one that answers at once, and to one that
// closes each connection after an answer, as llama.cpp does. A plain ReverseProxy loses many answers of the
// second one. Here every request must get its whole answer.
func TestGatewayLosesNoAnswer(t *testing.T) {
	for name, closes := range map[string]bool{"at once": false, "closes connections": true} {
		t.Run(name, func(t *testing.T) {
			srv, err := mockserver.New(mockserver.Config{})
			if err != nil {
				t.Fatal(err)
			}
			upstream := httptest.NewUnstartedServer(srv)
			upstream.Config.ConnState = func(c net.Conn, s http.ConnState) {
				if s == http.StateIdle && closes {
					c.Close()
				}
			}
			upstream.Start()
			t.Cleanup(upstream.Close)
			to, err := url.Parse(upstream.URL)
			if err != nil {
				t.Fatal(err)
			}
			front := httptest.NewServer(New(to, key))
			t.Cleanup(front.Close)
			requests, err := benchdata.Prompts{Input: 1000, Output: 3, Seed: 1}.Requests(64 * 2)
			if err != nil {
				t.Fatal(err)
			}
			result, err := llmbench.Pass(t.Context(), t.Name(),
				llmbench.Target{URL: front.URL, Model: "mock", Header: http.Header{"Authorization": {"Bearer " + key}}},
				llmbench.Load{Requests: requests, Concurrency: 64, ClientBound: llmbench.BoundReported})
			if err != nil {
				t.Fatal(err)
			}
			for s := range result.All() {
				if s.Outcome != sample.OK {
					t.Errorf("%s: %s: %v", s.ID, s.Outcome, s.Err)
				}
			}
		})
	}
}

// TestGatewayRefuses checks that no request without a key reaches the server.
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
		t.Errorf("the server received %d requests; want none", len(log))
	}
}
