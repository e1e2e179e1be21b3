package scenarios

import (
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/memnet"
)

// TestShift compares estimate and interval with a list of all differences.
func TestShift(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		from, to := make([]time.Duration, 4+random.IntN(30)), make([]time.Duration, 4+random.IntN(30))
		for i := range from {
			from[i] = time.Duration(random.IntN(20))
		}
		for i := range to {
			to[i] = 7 + time.Duration(random.IntN(20))
		}
		var all []time.Duration
		for _, x := range from {
			for _, y := range to {
				all = append(all, y-x)
			}
		}
		slices.Sort(all)
		for k, want := range all {
			slices.Sort(from)
			slices.Sort(to)
			assert.Equal(t, difference(from, to, int64(k+1)), want)
		}
		got, enough := shiftOf(from, to)
		assert.Equal(t, enough, true)
		assert.Equal(t, got.Of, all[(len(all)-1)/2]+(all[len(all)/2]-all[(len(all)-1)/2])/2)
		i := slices.Index(all, got.Low)
		assert.Assert(t, i >= 0 && got.Low <= got.Of && got.Of <= got.High && slices.Contains(all, got.High))
	}
	// By hand: of 25 differences, 12.5 - 1.96 x sqrt(25 x 11 / 12) = 3.1 are below the interval, so it goes
	// from the third smallest to the third largest. The differences are 6, 7, 7, 8, 8, 8 and so on.
	got, enough := shiftOf([]time.Duration{1, 2, 3, 4, 5}, []time.Duration{11, 12, 13, 14, 15})
	assert.Equal(t, enough, true)
	assert.Equal(t, got, shift{10, 7, 13})
	_, enough = shiftOf([]time.Duration{1, 2}, []time.Duration{3, 4})
	assert.Equal(t, enough, false)
	_, enough = shiftOf(nil, []time.Duration{3})
	assert.Equal(t, enough, false)
}

// TestShiftCovers checks that the interval contains the true shift in about 95 of 100 cases.
func TestShiftCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	draw := func(n int, by time.Duration) (all []time.Duration) {
		for range n {
			all = append(all, by+time.Duration(1e6*random.ExpFloat64()))
		}
		return all
	}
	hit := 0
	for range 1000 {
		s, _ := shiftOf(draw(20, 0), draw(30, 5e5))
		if s.Low <= 5e5 && 5e5 <= s.High {
			hit++
		}
	}
	assert.Assert(t, hit > 930 && hit < 980, "%d of 1000", hit)
}

// TestAdded measures the delay gateway in virtual time: it adds exactly 2 ms and 0.2 ms.
func TestAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 5 * time.Millisecond})
		assert.NilError(t, err)
		back, front := memnet.Listen(), memnet.Listen()
		transport := &http.Transport{DialContext: back.Dial, MaxIdleConnsPerHost: 64}
		g := &delayGateway{upstream: "http://mem", client: &http.Client{Transport: transport}, first: addedFirst, each: addedEach,
			wait: func(until time.Time) { time.Sleep(time.Until(until)) }}
		var wg sync.WaitGroup
		servers := []*http.Server{{Handler: srv}, {Handler: g}}
		wg.Go(func() { servers[0].Serve(back) })
		wg.Go(func() { servers[1].Serve(front) })
		defer func() {
			transport.CloseIdleConnections()
			servers[1].Close()
			servers[0].Close()
			wg.Wait()
		}()
		pass := func(dial *memnet.Listener) *llmbench.Result {
			requests := slices.Repeat([]llmbench.Request{{Prompt: "a b", MaxTokens: 21, FixedOutput: true}}, 40)
			r, err := llmbench.Pass(t.Context(), "", llmbench.Target{URL: "http://mem", Model: "mock", Dial: dial.Dial, Simulated: true}, llmbench.Load{Requests: requests, Concurrency: 2})
			assert.NilError(t, err)
			return r
		}
		direct, through := pass(back), pass(front)
		defer direct.Close()
		defer through.Close()
		got := added(direct.All(), through.All())
		assert.Equal(t, len(got), 6, "%v", got)
		for unit, want := range map[string]float64{"added-ttft-ms": 2, "added-ttft-low-ms": 2, "added-ttft-high-ms": 2, "added-itl-ms": 0.2, "added-itl-low-ms": 0.2, "added-itl-high-ms": 0.2} {
			assert.Assert(t, math.Abs(got[unit]-want) < 1e-9, "%s is not %v in %v", unit, want, got)
		}
		none := added(direct.All(), direct.All())
		assert.Equal(t, none["added-ttft-ms"], 0.0)
		assert.Equal(t, none["added-itl-ms"], 0.0)
	})
}

// TestFairnessFigures measures a server that serves one request at a time, in 10 ms each. Beside the heavy
// tenant, whose five requests came 1 ms earlier, the light one waits for 49 ms, and is answered after 59.
func TestFairnessFigures(t *testing.T) {
	load := tenants{light: 4, burst: 5, interval: 100 * time.Millisecond}
	requests := load.requests()
	assert.Equal(t, len(requests), 4+4*6)
	virtual(t, mockserver.Config{TTFT: 10 * time.Millisecond, Slots: 1}, func(t *testing.T, target llmbench.Target) {
		l := load.load(requests)
		l.Requests = slices.Repeat([]llmbench.Request{{Prompt: "a", MaxTokens: 1}}, len(requests))
		result, err := llmbench.Pass(t.Context(), "", target, l)
		assert.NilError(t, err)
		defer result.Close()
		assert.DeepEqual(t, l.Figures(result.All()), map[string]float64{
			"p50-ttft-alone-ns": 10e6, "p50-ttft-light-ns": 59e6, "p50-ttft-heavy-ns": 30e6, "light-slowdown": 5.9,
		})
	})
}

// TestSheddingLoad offers a server twice what it can do, evenly. The server needs 100 ms for a request and
// lets one wait. Requests come every 50 ms. The first is served at once and the second waits. After that
// every other request finds the queue full: the fourth, the sixth and so on, nine of 20.
func TestSheddingLoad(t *testing.T) {
	cfg := mockserver.Config{Engine: &engine.Profile{Prefill: 1e5, MaxBatch: 1, MaxQueue: 1}, FullStatus: 429}
	virtual(t, cfg, func(t *testing.T, target llmbench.Target) {
		requests := slices.Repeat([]llmbench.Request{{Prompt: "a", MaxTokens: 1}}, 20)
		result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Arrivals: arrivals.Constant{Rate: overload * 10}, MaxShed: 1})
		assert.NilError(t, err)
		defer result.Close()
		m := sample.Summarize(result.All(), result.Elapsed, sample.SLO{TTFT: 250 * time.Millisecond}).Metrics
		assert.Equal(t, m["shed-%"], 45.)
		assert.Equal(t, m["fail-%"], 0.)
		// One request is answered in 100 ms, after a wait of at most 100 ms, so all of them keep the SLO.
		assert.Equal(t, m["good-req/s"], m["req/s"])
		assert.Assert(t, m["good-req/s"] > 9.9 && m["good-req/s"] < 10.1, "%v", m)
	})
}

// TestTenantHeaders checks that the headers are different by default.
func TestTenantHeaders(t *testing.T) {
	assert.Equal(t, defaultTenants[lightTenant].Get(fairnessField), "light")
	assert.Equal(t, defaultTenants[heavyTenant].Get(fairnessField), "heavy")
}
