package scenarios

import (
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// TestShift compares the shift with a list of all differences.
func TestShift(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() []time.Duration {
		values := make([]time.Duration, 1+random.IntN(30))
		for i := range values {
			values[i] = time.Duration(random.IntN(20))
		}
		return values
	}
	for range 200 {
		from, to := draw(), draw()
		var all []time.Duration
		for _, x := range from {
			for _, y := range to {
				all = append(all, y-x)
			}
		}
		slices.Sort(all)
		below, above := all[(len(all)-1)/2], all[len(all)/2]
		assert.Equal(t, shiftOf(from, to), below+(above-below)/2)
	}
}

// TestEstimate compares estimates with a list of the means of all pairs, and with one that was made by hand.
func TestEstimate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		values := make([]time.Duration, 1+random.IntN(30))
		for i := range values {
			values[i] = time.Duration(4 * (random.IntN(20) - 10))
		}
		got := estimateOf(slices.Clone(values))
		var means []time.Duration
		for i, x := range values {
			for _, y := range values[i:] {
				means = append(means, (x+y)/2)
			}
		}
		slices.Sort(means)
		n := len(means)
		assert.Equal(t, got.Of, (means[(n-1)/2]+means[n/2])/2)
		assert.Equal(t, got.HasRange, len(values) >= minObservations)
		if k := int(outsideOf(int64(len(values)))); got.HasRange {
			assert.Equal(t, got.Low, means[k-1])
			assert.Equal(t, got.High, means[n-k])
		}
	}
	// For six observations the interval has the means of all pairs.
	assert.Equal(t, estimateOf([]time.Duration{6, 1, 5, 2, 4, 3}), estimate{3, 1, 6, true})
	assert.Equal(t, estimateOf([]time.Duration{8, 2}), estimate{Of: 5})
}

// TestEstimateCovers computes the exact probability that the interval misses the middle of the distribution. The
// interval misses if fewer than outsideOf means are on one side, and their number is the sum of a random
// choice of the ranks 1 to n: each observation is as probably above the middle as below.
func TestEstimateCovers(t *testing.T) {
	choices := []float64{1} // by sum
	for n := int64(1); n <= 200; n++ {
		more := make([]float64, len(choices)+int(n))
		for sum, p := range choices {
			more[sum] += p / 2
			more[sum+int(n)] += p / 2
		}
		choices = more
		k := outsideOf(n)
		assert.Equal(t, k >= 1, n >= minObservations, "%d", n)
		if k >= 1 {
			missed := 0.
			for _, p := range choices[:k] {
				missed += 2 * p
			}
			assert.Check(t, missed >= 0.03 && missed <= 0.0505, "%d: %v", n, missed)
		}
	}
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
		rounds := func(r *llmbench.Result) iter.Seq[*sample.Sample] { // as many as an interval needs
			return func(yield func(*sample.Sample) bool) {
				for pass := range minObservations {
					for s := range r.All() {
						s.Pass = pass
						yield(s)
					}
				}
			}
		}
		log := serverLog{}
		for _, e := range srv.Log() {
			log[e.ID] = logEntry{ID: e.ID, Accepted: e.Accepted, Tokens: e.Tokens, End: e.End}
		}
		want := map[string]float64{}
		for unit, ms := range map[string]float64{"ttft": 2, "itl": 0.2, "e2e": 6} {
			want["added-"+unit+"-ms"], want["added-"+unit+"-low-ms"], want["added-"+unit+"-high-ms"] = ms, ms, ms
			if unit != "itl" {
				want["added-p99-"+unit+"-ms"] = ms
			}
		}
		for _, log := range []serverLog{nil, log} {
			got := overheadOf(rounds(direct), rounds(through), log, 0)
			assert.Assert(t, (got.log == nil) == (log == nil))
			assert.DeepEqual(t, got.figures, want, cmpopts.EquateApprox(0, 1e-9))
			assert.Equal(t, len(got.notes), 0, "%q", got.notes)
		}
		same := overheadOf(direct.All(), direct.All(), nil, 0)
		assert.DeepEqual(t, same.figures, map[string]float64{"added-ttft-ms": 0, "added-itl-ms": 0, "added-e2e-ms": 0})
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
