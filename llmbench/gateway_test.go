package llmbench

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// A gatewayHandler is a handler that adds fields to the header of each answer, and keeps the headers of the
// requests.
type gatewayHandler struct {
	http.Handler
	add func(request int, h http.Header)

	mu      sync.Mutex
	headers []http.Header // guarded by mu
}

func (g *gatewayHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.add(len(g.headers), w.Header())
	g.headers = append(g.headers, r.Header.Clone())
	g.mu.Unlock()
	g.Handler.ServeHTTP(w, r)
}

// TestEcho checks which fields of an answer the next turn of a session sends back, that they replace
// fields of the target, and that the next session begins without them.
func TestEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{})
		assert.NilError(t, err)
		g := &gatewayHandler{Handler: srv, add: func(request int, h http.Header) {
			if request != 1 { // the second answer has no token, so that the first one remains
				h.Set("X-Session-Token", fmt.Sprint("token-", request))
			}
			h.Add("Set-Cookie", fmt.Sprintf("seen=%d; Path=/", request))
			h.Add("Set-Cookie", "replica=a")
		}}
		target, stop := inMemory(t, g)
		defer stop()
		target.Header = http.Header{"X-Session-Token": {"none"}, "Cookie": {"own=1"}}
		target.Echo = []string{"x-session-token", "set-cookie"}
		samples := onePass(t, target, Load{Requests: []Request{session(), session()}, Concurrency: 1})
		for _, s := range samples {
			assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
		}
		var got [][2]string
		for _, h := range g.headers {
			got = append(got, [2]string{h.Get("X-Session-Token"), h.Get("Cookie")})
		}
		assert.DeepEqual(t, got, [][2]string{
			{"none", "own=1"}, {"token-0", "own=1; seen=0; replica=a"}, {"token-0", "own=1; seen=1; replica=a"},
			{"none", "own=1"}, {"token-3", "own=1; seen=3; replica=a"}, {"token-4", "own=1; seen=4; replica=a"},
		})
		assert.Equal(t, target.config()["echo"], "X-Session-Token, Set-Cookie")
		target.Echo = []string{"x session"}
		assert.ErrorContains(t, target.Check(), `echo "x session": want the name of a header field`)
	})
}

// TestRequestHeader checks that a request's own fields replace the target's, also in further turns, and that
// a value that the server repeats is not shown.
func TestRequestHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{})
		assert.NilError(t, err)
		g := &gatewayHandler{Handler: srv, add: func(int, http.Header) {}}
		target, stop := inMemory(t, g)
		defer stop()
		target.Header = http.Header{"Authorization": {"Bearer of-the-target"}, "X-Team": {"blue"}}
		first := session()
		first.Header = http.Header{"authorization": {"Bearer of-a-tenant"}, "x-gateway-inference-objective": {"critical"}}
		samples := onePass(t, target, Load{Requests: []Request{first, words(1, 1)[0]}, Concurrency: 1})
		assert.Equal(t, len(samples), 4)
		for i, h := range g.headers {
			want, objective := "Bearer of-a-tenant", "critical"
			if i == 3 {
				want, objective = "Bearer of-the-target", ""
			}
			assert.DeepEqual(t, []string{h.Get("Authorization"), h.Get("X-Gateway-Inference-Objective"), h.Get("X-Team")}, []string{want, objective, "blue"})
		}

		repeats := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no such key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		})
		other, stopOther := inMemory(t, repeats)
		defer stopOther()
		r := words(1, 1)[0]
		r.Header = first.Header
		failed := onePass(t, other, Load{Requests: []Request{r}, Concurrency: 1})[0]
		assert.Equal(t, failed.Outcome, sample.HTTP)
		assert.ErrorContains(t, failed.Err, "[redacted]")
		assert.Assert(t, !strings.Contains(failed.Err.Error(), "tenant"), "%v", failed.Err)

		r.Header = http.Header{"X Team": {"blue"}}
		_, err = newPlan(&Load{}, other, []Request{r})
		assert.ErrorContains(t, err, `request 0: header "X Team"`)
	})
}

// TestModels sends requests to a model and to two adapters, each in a different number, in a closed loop of
// one. Tokens take 10 ms, and prompts of the base model 100 ms. The units were computed by hand.
func TestModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms, LoRA: []string{"sql", "Chat"}, Faults: []fault.Fault{{Kind: fault.HTTP429, Every: 4}}})
		assert.NilError(t, err)
		target, stop := inMemory(t, srv)
		defer stop()
		requests := words(8, 11)
		for i, model := range []string{"", "sql", "mock", "sql", "Chat", "", "sql", ""} {
			requests[i].Model = model
		}
		l, err := Load{Requests: requests, Concurrency: 1, MaxShed: 0.3, Models: []string{"mock", "sql", "Chat"}}.check()
		assert.NilError(t, err)
		samples := onePass(t, target, l)
		l, err = l.withGroups("mock")
		assert.NilError(t, err)
		// Each of the six answers took 200 ms. The fourth and the eighth request were shed.
		got := l.Figures(sample.All(samples...))
		for unit, want := range map[string]float64{
			"mock-req/s": 3 / 1.2, "sql-req/s": 2 / 1.2, "chat-req/s": 1 / 1.2,
			"mock-output-tok/s": 33 / 1.2, "sql-output-tok/s": 22 / 1.2, "chat-output-tok/s": 11 / 1.2,
			"mock-p50-ttft-ns": 1e8, "sql-p50-ttft-ns": 1e8, "mock-mean-tpot-ns": 1e7, "sql-p50-e2e-ns": 2e8,
			"mock-shed-%": 25, "sql-shed-%": 100. / 3,
		} {
			assert.Assert(t, got[unit] > want*0.999 && got[unit] < want*1.001, "%s: %v, want %v", unit, got[unit], want)
		}
		_, shed := got["chat-shed-%"]
		assert.Assert(t, !shed && unknownUnits(l.units(), got) == nil, "%v", got)
		var adapters, models []string
		for _, e := range srv.Log() {
			adapters = append(adapters, e.Adapter)
		}
		for _, s := range samples {
			models = append(models, s.Model)
		}
		assert.DeepEqual(t, adapters, []string{"", "sql", "", "sql", "Chat", "", "sql", ""})
		assert.DeepEqual(t, models, []string{"", "sql", "mock", "sql", "Chat", "", "sql", ""})
		for _, bad := range [][]string{{""}, {"a", "A"}} {
			_, err := Load{Models: bad}.withGroups("m")
			assert.ErrorContains(t, err, "want names that differ")
		}
	})
}

// TestShed sends six requests at once to a server with room for three, whose refusals are or are not a shedding.
func TestShed(t *testing.T) {
	for _, tt := range []struct {
		status int
		after  time.Duration
		want   sample.Outcome
	}{
		{http.StatusTooManyRequests, 0, sample.Shed}, {http.StatusTooManyRequests, 2 * time.Second, sample.Shed},
		{http.StatusServiceUnavailable, 2 * time.Second, sample.Shed}, {http.StatusServiceUnavailable, 0, sample.HTTP},
	} {
		cfg := mockserver.Config{Engine: &engine.Profile{Prefill: 1e5, MaxBatch: 1, MaxQueue: 2}, FullStatus: tt.status, RetryAfter: tt.after}
		l := Load{Requests: words(6, 1), Arrivals: arrivals.Replay{At: []time.Duration{0, ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms}}}
		bubble(t, cfg, l, func(samples []sample.Sample, _ *mockserver.Server) {
			for i, s := range samples {
				if want := sample.OK; i < 3 {
					assert.Equal(t, s.Outcome, want, "%v", s.Err)
				} else {
					assert.Equal(t, s.Outcome, tt.want, "%v", s.Err)
				}
			}
			m := sample.Summarize(sample.All(samples...), time.Second, sample.SLO{}).Metrics
			shed, isShed := m["shed-%"]
			assert.Equal(t, isShed, tt.want == sample.Shed)
			assert.Equal(t, shed+m["fail-%"], 50.)
			assert.Equal(t, shed > 0, isShed)
		})
	}
}

// TestShedSession checks that the turns after a shed turn count as shed, too.
func TestShedSession(t *testing.T) {
	cfg := mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP429, Every: 2}}}
	bubble(t, cfg, Load{Requests: []Request{session()}, Concurrency: 1}, func(samples []sample.Sample, _ *mockserver.Server) {
		var got []sample.Outcome
		for _, s := range samples {
			got = append(got, s.Outcome)
		}
		assert.DeepEqual(t, got, []sample.Outcome{sample.OK, sample.Shed, sample.Shed})
	})
}
