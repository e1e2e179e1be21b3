package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/memnet"
)

// virtual runs f in a bubble with a mock server of cfg.
func virtual(t *testing.T, cfg mockserver.Config, f func(t *testing.T, target llmbench.Target)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(cfg)
		assert.NilError(t, err)
		ln := memnet.Listen()
		h := &http.Server{Handler: srv}
		var wg sync.WaitGroup
		wg.Go(func() { h.Serve(ln) })
		defer func() { h.Close(); wg.Wait() }()
		f(t, llmbench.Target{URL: "http://mem", Model: "mock", Dial: ln.Dial, Simulated: true})
	})
}

func words(n int, seed uint64) ([]llmbench.Request, error) {
	return benchdata.Prompts{Input: 4, Output: 2, Seed: seed}.Requests(n)
}

// TestSLOByArithmetic searches for limits that are known: a request keeps one of S
// slots busy for a second, 0.9 of it until its first token. At even intervals S
// requests a second wait for nothing, and a few more wait ever longer. Of c users
// c-S wait at any time, each for (c-S)/S seconds, in whole turns of one.
func TestSLOByArithmetic(t *testing.T) {
	for _, slots := range []int{3, 20} {
		cfg := mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: slots}
		c := capacity{
			slo: sample.SLO{TTFT: 1900 * time.Millisecond}, least: 8, span: time.Minute, rounds: 8, lone: time.Second, draw: words,
			arrivals: func(rate float64, _ uint64) arrivals.Process { return arrivals.Constant{Rate: rate} },
		}
		check := func(what string, found search.Interval, limit float64) {
			if found.Low > limit*1.05 || found.High < limit/1.05 || found.Low < limit/1.05 || len(found.Trials) >= 12 {
				t.Errorf("%s with %d slots: [%.4g, %.4g) in %d passes, want %.4g within 5%% in fewer than 12", what, slots, found.Low, found.High, len(found.Trials), limit)
			}
		}
		virtual(t, cfg, func(t *testing.T, target llmbench.Target) {
			c.target = target
			found, err := search.Highest{From: 0.5, To: 64}.Find(func(rate float64) (bool, error) { return c.byRate(t.Context(), "", rate) })
			assert.NilError(t, err)
			check("rate", found, float64(slots))
			users, err := search.Highest{From: 1, To: 64, Whole: true}.Find(func(n float64) (bool, error) { return c.byConcurrency(t.Context(), "", n) })
			assert.NilError(t, err)
			check("concurrency", users, float64(2*slots))
			if slots > 3 {
				return
			}
			// The same seeds go the same way.
			c.passes = 0
			again, err := search.Highest{From: 0.5, To: 64}.Find(func(rate float64) (bool, error) { return c.byRate(t.Context(), "", rate) })
			assert.NilError(t, err)
			assert.Equal(t, fmt.Sprint(again), fmt.Sprint(found))
		})
	}
}

// TestSLOWithoutOpeningBurst: c users that come one after another within the second
// that a request takes leave the slots free for S/c of a second and then taken for the
// rest of it, so that a request waits for one such rest, or two. Did all come at once,
// some would wait a whole second, turn after turn.
func TestSLOWithoutOpeningBurst(t *testing.T) {
	const slots, limit = 20, 28 // the most users with 2(1-S/c) of at most 0.6
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: slots}, func(t *testing.T, target llmbench.Target) {
		c := capacity{target: target, slo: sample.SLO{TTFT: 1501 * time.Millisecond}, least: 8, rounds: 8, lone: time.Second, draw: words}
		found, err := search.Highest{From: 1, To: 64, Whole: true}.Find(func(n float64) (bool, error) { return c.byConcurrency(t.Context(), "", n) })
		assert.NilError(t, err)
		assert.Assert(t, found.Low <= limit && limit < found.High, "%v", found)
	})
}

// TestSLOArrivals: each pass has arrivals of its own.
func TestSLOArrivals(t *testing.T) {
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: 3}, func(t *testing.T, target llmbench.Target) {
		seen := map[string]bool{}
		c := capacity{target: target, slo: sample.SLO{TTFT: 10 * time.Second}, least: 8, draw: words}
		c.arrivals = func(rate float64, seed uint64) arrivals.Process {
			a := arrivals.Poisson{Rate: 1, Seed: seed}
			times, err := a.Times(8)
			assert.NilError(t, err)
			seen[fmt.Sprint(times)] = true
			return a
		}
		for range 5 {
			_, err := c.byRate(t.Context(), "", 1)
			assert.NilError(t, err)
		}
		assert.Equal(t, len(seen), 5)
	})
}

// TestSLOCached: prompts that the server knows are no measurement.
func TestSLOCached(t *testing.T) {
	e := engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 32, PrefixCache: true}
	virtual(t, mockserver.Config{Engine: &e}, func(t *testing.T, target llmbench.Target) {
		same := func(n int, seed uint64) ([]llmbench.Request, error) {
			return benchdata.Prompts{Input: 64, Output: 2, Seed: 1}.Requests(n)
		}
		c := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, least: 8, rounds: 2, lone: time.Second, draw: same}
		_, err := c.byConcurrency(t.Context(), "first", 1)
		assert.NilError(t, err)
		_, err = c.byConcurrency(t.Context(), "again", 1)
		assert.ErrorContains(t, err, "again/concurrency=1: ")
		assert.ErrorContains(t, err, "of the prompts' tokens were in the server's cache")
	})
}

// TestSLOClientBound: a search whose client distorts every pass cannot judge.
func TestSLOClientBound(t *testing.T) {
	target := backends.Mock{Config: &mockserver.Config{TTFT: time.Millisecond}}.Start(t)
	target.Simulated = false
	c := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, draw: words}
	_, err := c.pass(t.Context(), "x", 40, func(uint64) llmbench.Load {
		return llmbench.Load{Concurrency: 1, MaxDistortion: 1e-12} // which is met by none
	})
	assert.ErrorIs(t, err, search.ErrCannotJudge)
	assert.ErrorIs(t, err, llmbench.ErrClientBound)
	assert.Equal(t, c.passes, uint64(attempts))
}

// TestSLOCannotJudge: a server that no load suits, or any, or that is not itself.
func TestSLOCannotJudge(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  mockserver.Config
		want string
	}{
		{"too slow", mockserver.Config{TTFT: 3 * time.Second}, "the lowest load, 1, misses"},
		{"no limit", mockserver.Config{}, "the highest load, 64, still meets"},
		{"every request fails", mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP500, Every: 1}}}, "the lowest load, 1, misses"},
	} {
		virtual(t, c.cfg, func(t *testing.T, target llmbench.Target) {
			p := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, least: 8, rounds: 2, draw: words}
			_, err := search.Highest{From: 1, To: 64, Whole: true}.Find(func(n float64) (bool, error) { return p.byConcurrency(t.Context(), "", n) })
			assert.ErrorIs(t, err, search.ErrCannotJudge)
			assert.ErrorContains(t, err, c.want)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	virtual(t, mockserver.Config{}, func(t *testing.T, target llmbench.Target) {
		p := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, least: 8, rounds: 2, draw: words}
		_, err := p.byConcurrency(ctx, "", 1)
		assert.Error(t, err, "interrupted")
	})
}

// TestSweepKnee: the knee of a server with eight slots is where they are full.
func TestSweepKnee(t *testing.T) {
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: 8}, func(t *testing.T, target llmbench.Target) {
		w := &sweeper{points: map[int][]search.Point{}}
		for c := 1; !w.saturated(); c *= 2 {
			requests, err := words(8*c, uint64(c))
			assert.NilError(t, err)
			samples, took, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: c})
			assert.NilError(t, err)
			w.add(c, samples)
			p := w.sample(0)[len(w.loads)-1]
			assert.Equal(t, p.Throughput, float64(2*len(samples))/took.Seconds())
			assert.Equal(t, p.Load, float64(c))
		}
		assert.DeepEqual(t, w.loads, []int{1, 2, 4, 8, 16})
		at, err := search.Knee(w.sample(0), saturationGain)
		assert.NilError(t, err)
		assert.Equal(t, w.loads[at], 8)
		assert.Equal(t, len(w.sample(1)), 0)
	})
}

// TestSweepEnds: when all samples are of a server that is full, and no sooner.
func TestSweepEnds(t *testing.T) {
	at := func(load, throughput float64) search.Point {
		return search.Point{Load: load, Throughput: throughput, Latency: 1}
	}
	w := &sweeper{}
	assert.Assert(t, !w.saturated())
	w = &sweeper{loads: []int{1, 2}, points: map[int][]search.Point{1: {at(1, 10), at(1, 10)}, 2: {at(2, 10), at(2, 20)}}}
	assert.Assert(t, !w.saturated(), "the second sample still rises")
	w.loads, w.points[4] = []int{1, 2, 4}, []search.Point{at(4, 10), at(4, 21)}
	assert.Assert(t, w.saturated())
}

// TestSweepWithheld: there is no knee of figures that the client made.
func TestSweepWithheld(t *testing.T) {
	full := map[int][]search.Point{1: {{Load: 1, Throughput: 10, Latency: 1}}, 2: {{Load: 2, Throughput: 10, Latency: 2}}}
	for unit, skipped := range map[string]bool{"output-tok/s": true, "p50-e2e-ns": true, "p99-itl-ns": false} {
		w := &sweeper{loads: []int{1, 2}, points: full}
		w.withhold(2, []string{"req/s", unit})
		was := false
		result := testing.Benchmark(func(b *testing.B) {
			defer func() { was = b.Skipped() }()
			w.knees = 0
			w.knee(b)
		})
		assert.Equal(t, was, skipped, unit)
		_, reported := result.Extra["knee-concurrency"]
		assert.Equal(t, reported, !skipped, unit)
	}
}
