package scenarios

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// words returns requests with short random prompts.
func words(n int, seed uint64) ([]llmbench.Request, error) {
	return benchdata.Prompts{Input: 4, Output: 2, Seed: seed}.Requests(n)
}

// highestRate and highestConcurrency search in the same way as the scenario.
func highestRate(t *testing.T, c *capacity) (search.Interval, error) {
	return search.Highest{From: 0.5, To: 64}.Find(func(rate float64) (bool, error) { return c.byRate(t.Context(), "", rate) })
}

func highestConcurrency(t *testing.T, c *capacity) (search.Interval, error) {
	return search.Highest{From: 1, To: 64, Whole: true}.Find(func(n float64) (bool, error) { return c.byConcurrency(t.Context(), "", n) })
}

// TestSLOByArithmetic searches for limits that can be computed. A request keeps one of S slots busy
// for a second, and its first token comes after 0.9 s of it. If S requests arrive each second,
// evenly spaced, none of them waits. If a few more arrive, each waits longer than the one before
// it. Of c users, c-S are waiting at any time, each for (c-S)/S seconds.
func TestSLOByArithmetic(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	for _, slots := range []int{3, 20} {
		cfg := mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: slots}
		c := capacity{
			slo: sample.SLO{TTFT: 1900 * time.Millisecond}, least: 8, span: time.Minute, rounds: 8, lone: time.Second, draw: words, send: pass,
			arrivals: func(rate float64, _ uint64) arrivals.Process { return arrivals.Constant{Rate: rate} },
		}
		check := func(what string, found search.Interval, limit float64) {
			if found.Low > limit*1.05 || found.High < limit/1.05 || found.Low < limit/1.05 || len(found.Trials) >= 12 {
				t.Errorf("%s with %d slots: [%.4g, %.4g) in %d passes, want %.4g within 5%% in fewer than 12", what, slots, found.Low, found.High, len(found.Trials), limit)
			}
		}
		virtual(t, cfg, func(t *testing.T, target llmbench.Target) {
			c.target = target
			found, err := highestRate(t, &c)
			assert.NilError(t, err)
			check("rate", found, float64(slots))
			users, err := highestConcurrency(t, &c)
			assert.NilError(t, err)
			check("concurrency", users, float64(2*slots))
			if slots > 3 {
				return
			}
			c.passes = 0 // so that the same seeds are used again
			again, err := highestRate(t, &c)
			assert.NilError(t, err)
			assert.Equal(t, fmt.Sprint(again), fmt.Sprint(found))
		})
	}
}

// TestSLOKeepsUp checks that a server does not meet the SLO at a rate at which completions fall
// behind arrivals. The server completes 700 requests a second. If 2,065 requests a second arrive,
// the requests of the first 250 ms wait for less than the limit of the TTFT.
func TestSLOKeepsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	virtual(t, mockserver.Config{TTFT: 9 * time.Millisecond, PerToken: time.Millisecond, Slots: 7}, func(t *testing.T, target llmbench.Target) {
		c := capacity{
			target: target, slo: sample.SLO{TTFT: 500 * time.Millisecond}, least: 20, span: 250 * time.Millisecond, lone: 10 * time.Millisecond, draw: words, send: pass,
			arrivals: func(rate float64, seed uint64) arrivals.Process { return arrivals.Poisson{Rate: rate, Seed: seed} },
		}
		for _, r := range []struct {
			rate float64
			met  bool
		}{{1, true}, {100, true}, {350, true}, {1400, false}, {2065, false}} {
			met, err := c.byRate(t.Context(), "", r.rate)
			assert.NilError(t, err)
			assert.Equal(t, met, r.met, "%v requests a second", r.rate)
		}
		c.span = time.Second
		c.arrivals = func(rate float64, _ uint64) arrivals.Process { return arrivals.Constant{Rate: rate} }
		found, err := search.Highest{From: 350, To: 1400}.Find(func(rate float64) (bool, error) { return c.byRate(t.Context(), "", rate) })
		assert.NilError(t, err)
		assert.Assert(t, found.Low >= 700/1.05 && found.High <= 700*1.15, "%v", found)
	})
}

// TestKeepsUp checks keepsUp with arrivals that can be computed. For four seconds, 1,000 requests a
// second arrive. Each takes longer than the one before it, always by the same time.
func TestKeepsUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		slower time.Duration // by how much each request takes longer
		lone   time.Duration
		even   bool
		want   bool
	}{
		{"steady", 0, 0, false, true},
		{"completions are 96 % of arrivals", time.Millisecond * 4 / 96, 0, false, true},
		{"completions are 94 % of arrivals", time.Millisecond * 6 / 94, 0, false, false},
		{"half of the growth is the time of a lone request", time.Millisecond * 8 / 92, 80 * time.Millisecond, false, true},
		{"completions are half of arrivals", time.Millisecond, 80 * time.Millisecond, false, false},
		{"requests become faster", -time.Millisecond / 100, 0, false, true},
		{"steady, even arrivals", 0, 80 * time.Millisecond, true, true},
		{"completions are 99.4 % of even arrivals", time.Millisecond * 6 / 994, 0, true, false},
		{"a third of the growth is the root of the number in flight", time.Millisecond * 6 / 994, 20 * time.Millisecond, true, true},
		{"completions are 96 % of even arrivals", time.Millisecond * 4 / 96, 80 * time.Millisecond, true, false},
	} {
		samples := make([]sample.Sample, 4000)
		for i := range samples {
			due := time.Duration(i) * time.Millisecond
			samples[i] = sample.Sample{Due: due, End: due + 100*time.Millisecond + time.Duration(i)*c.slower}
		}
		assert.Equal(t, keepsUp(sample.All(samples...), c.lone, c.even), c.want, c.name)
	}
	assert.Assert(t, keepsUp(sample.All(), 0, false))
	assert.Assert(t, keepsUp(sample.All(make([]sample.Sample, 3)...), 0, false), "all at one instant")
}

// TestSLOWithoutOpeningBurst checks that users start one after another. The starts of c users are
// spread over the second that a request takes. So slots are free for S/c of a second and full for
// the rest of it, and a request waits for at most two such rests. If all users started at the same
// time, some would wait a whole second in each round.
func TestSLOWithoutOpeningBurst(t *testing.T) {
	const slots, limit = 20, 28 // the limit is the largest number of users for which 2(1-S/c) is at most 0.6
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: slots}, func(t *testing.T, target llmbench.Target) {
		c := capacity{target: target, slo: sample.SLO{TTFT: 1501 * time.Millisecond}, least: 8, rounds: 8, lone: time.Second, draw: words, send: pass}
		found, err := highestConcurrency(t, &c)
		assert.NilError(t, err)
		assert.Assert(t, found.Low <= limit && limit < found.High, "%v", found)
	})
}

// TestSLOArrivals checks that each pass has different arrivals.
func TestSLOArrivals(t *testing.T) {
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: 3}, func(t *testing.T, target llmbench.Target) {
		seen := map[string]bool{}
		c := capacity{target: target, slo: sample.SLO{TTFT: 10 * time.Second}, least: 8, draw: words, send: pass}
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

// TestSLOCached checks that the search ends if the server finds prompts in its cache.
func TestSLOCached(t *testing.T) {
	e := engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 32, PrefixCache: true}
	virtual(t, mockserver.Config{Engine: &e}, func(t *testing.T, target llmbench.Target) {
		same := func(n int, seed uint64) ([]llmbench.Request, error) {
			return benchdata.Prompts{Input: 64, Output: 2, Seed: 1}.Requests(n)
		}
		c := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, least: 8, rounds: 2, lone: time.Second, draw: same, send: pass}
		_, err := c.byConcurrency(t.Context(), "first", 1)
		assert.NilError(t, err)
		_, err = c.byConcurrency(t.Context(), "again", 1)
		assert.ErrorContains(t, err, "again/concurrency=1: ")
		assert.ErrorContains(t, err, "of the prompts' tokens were in the server's cache")
	})
}

// A memory is a result whose samples are in memory.
type memory struct{ samples []sample.Sample }

func (m memory) All() iter.Seq[*sample.Sample] { return sample.All(m.samples...) }
func (m memory) Err() error                    { return nil }
func (m memory) Close() error                  { return nil }

// TestSLOSpoiltPasses checks that a pass that the client spoils is repeated. After three such
// passes, or if answers come in bursts, the search must report that it cannot judge.
func TestSLOSpoiltPasses(t *testing.T) {
	answer := func(late time.Duration) sample.Sample {
		return sample.Sample{Outcome: sample.OK, Start: late, First: late + time.Millisecond, Last: late + time.Millisecond, End: late + time.Millisecond, Deltas: 1, OutputTokens: 1}
	}
	type result struct {
		samples []sample.Sample
		err     error
	}
	good := result{samples: []sample.Sample{answer(0), answer(0)}}
	late := result{samples: []sample.Sample{answer(0), answer(1001 * time.Millisecond)}}
	lateButMet := result{samples: []sample.Sample{answer(0), answer(201 * time.Millisecond)}}
	bound := result{err: fmt.Errorf("a pass: %w", llmbench.ErrClientBound)}
	bursts := result{samples: good.samples, err: fmt.Errorf("a pass: %w", llmbench.ErrBursts)}
	both := result{err: errors.Join(bound.err, bursts.err)}
	ttft := sample.SLO{TTFT: time.Second}
	for _, tt := range []struct {
		name    string
		slo     sample.SLO
		results []result
		passes  uint64
		want    string // "" means that the SLO is met
	}{
		{"good at once", ttft, []result{good}, 1, ""},
		{"good at last", ttft, []result{bound, late, good}, 3, ""},
		{"good although late", ttft, []result{lateButMet}, 1, ""},
		{"bursts and distorted", ttft, []result{both}, 1, "x: a pass: client-bound\na pass: answers come in bursts"},
		{"bursts", ttft, []result{bound, bursts}, 2, "x: a pass: answers come in bursts"},
		{"bursts, an SLO of E2E latency", sample.SLO{E2E: time.Second}, []result{both, bursts}, 2, ""},
		{"distorted", ttft, []result{late, bound, bound}, 3, "x: the client is the limit in 3 passes, in the last of them: a pass: "},
		{"late", ttft, []result{bound, bound, late}, 3, "x: the client is the limit in 3 passes, in the last of them: 1 of 2 requests were sent more than 200ms late"},
	} {
		c := capacity{slo: tt.slo, draw: words}
		c.send = func(context.Context, string, llmbench.Target, llmbench.Load) (passed, map[string]sample.Interval, error) {
			r := tt.results[c.passes-1]
			return memory{r.samples}, nil, r.err
		}
		met, err := c.pass(t.Context(), "x", 2, func(uint64) llmbench.Load { return llmbench.Load{Concurrency: 1} })
		assert.Equal(t, c.passes, tt.passes, tt.name)
		assert.Equal(t, met, tt.want == "", tt.name)
		if tt.want == "" {
			assert.NilError(t, err, tt.name)
			continue
		}
		assert.ErrorIs(t, err, search.ErrCannotJudge, tt.name)
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
}

// TestSLOVerdict checks that a pass only counts as spoilt if the client's own delays can change the
// verdict on it.
func TestSLOVerdict(t *testing.T) {
	bounds := func(low, high float64) map[string]sample.Interval {
		return map[string]sample.Interval{keptShare: {Low: low, Likely: high, High: high}}
	}
	for _, tt := range []struct {
		name           string
		good, late, n  int
		bounds         map[string]sample.Interval
		behind         bool // whether the completions fell behind
		met, certified bool
		spoilt         string
	}{
		{"met, nothing known", 99, 0, 100, nil, false, true, true, ""},
		{"missed, nothing known", 90, 0, 100, nil, false, false, false, ""},
		{"met as measured", 99, 0, 100, bounds(99, 100), false, true, true, ""},
		{"met as measured, certified in a perfect world only", 58, 0, 60, bounds(100*58/60., 100), false, true, false, ""},
		{"met, perhaps not without the client", 99, 0, 100, bounds(97, 100), false, false, false, "between 97 and 100 of 100 requests keep it"},
		{"missed at either end", 50, 0, 100, bounds(50, 97), false, false, false, ""},
		{"missed as measured, perhaps met", 50, 0, 100, bounds(50, 98.5), false, false, false, "between 50 and 99 of 100 requests keep it"},
		{"missed as measured, all perhaps met", 0, 0, 100, bounds(0, 130), false, false, false, "between 0 and 100 of 100 requests keep it"},
		{"met, but completions fell behind", 99, 0, 100, bounds(99, 100), true, false, false, ""},
		{"undecided, but completions fell behind", 50, 0, 100, bounds(50, 100), true, false, false, ""},
		{"late, and met", 99, 50, 100, bounds(99, 100), false, true, true, ""},
		{"late, and missed", 50, 6, 100, bounds(50, 50), false, false, false, "6 of 100 requests were sent more than 20ms late"},
		{"a few late, and missed", 50, 5, 100, bounds(50, 50), false, false, false, ""},
		{"late, and fell behind", 99, 50, 100, bounds(99, 99), true, false, false, "50 of 100 requests were sent more than 20ms late"},
		{"a bound that a float rounds", 92, 0, 93, bounds(100*92/93., 100*92/93.), false, true, true, ""},
	} {
		c := capacity{slo: sample.SLO{TTFT: 100 * time.Millisecond}}
		met, spoilt := c.verdict(tt.good, tt.late, tt.n, tt.bounds, !tt.behind)
		assert.Equal(t, met, tt.met, tt.name)
		assert.Equal(t, c.certified, tt.certified, tt.name)
		if tt.spoilt == "" {
			assert.NilError(t, spoilt, tt.name)
		} else {
			assert.ErrorContains(t, spoilt, tt.spoilt, tt.name)
		}
	}
}

// TestSLODistortedPass checks a pass whose TTFT the client may have distorted by half. The pass
// must be judged in spite of that, by the share of the requests that meet the limits.
func TestSLODistortedPass(t *testing.T) {
	c := capacity{slo: sample.SLO{TTFT: time.Second}, draw: words}
	c.send = func(_ context.Context, _ string, _ llmbench.Target, l llmbench.Load) (passed, map[string]sample.Interval, error) {
		assert.Equal(t, l.Units[0].Name, keptShare)
		at := func(ttft time.Duration) sample.Sample {
			return sample.Sample{Outcome: sample.OK, First: ttft, Last: ttft, End: ttft, Deltas: 1, OutputTokens: 1}
		}
		all := []sample.Sample{at(10 * time.Millisecond), at(20 * time.Millisecond), at(2 * time.Second)}
		kept := l.Figures(sample.All(all...))[keptShare]
		assert.Equal(t, kept, 200/3.)
		return memory{all[:2]}, map[string]sample.Interval{keptShare: {Low: 100, Likely: 100, High: 100}, "p50-ttft-ns": {Low: 5e6, High: 10e6}}, llmbench.ErrClientBound
	}
	met, err := c.pass(t.Context(), "x", 2, func(uint64) llmbench.Load { return llmbench.Load{Concurrency: 1} })
	assert.NilError(t, err)
	assert.Assert(t, met)
	assert.Equal(t, c.passes, uint64(1))
}

// TestSLOReducedForm searches in the same way as the reduced form, for the capacity of servers with
// slots. The capacity is the number of slots divided by the time of a request. Requests arrive
// evenly, and the rate determines how long a pass is.
func TestSLOReducedForm(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	for _, server := range []struct {
		slots int
		first time.Duration // the time to the first of eight tokens, which are 2 ms apart
		limit time.Duration
	}{
		{8, 10 * time.Millisecond, 100 * time.Millisecond}, // the simulated server of BenchmarkSLO, whose capacity is 333 requests a second
		{32, 20 * time.Millisecond, 500 * time.Millisecond},
		{2, 9 * time.Millisecond, 100 * time.Millisecond},
		{4, 32 * time.Millisecond, 100 * time.Millisecond},
		{3, 200 * time.Millisecond, 5 * time.Second},
	} {
		service := server.first + 14*time.Millisecond
		want := float64(server.slots) / service.Seconds()
		virtual(t, mockserver.Config{TTFT: server.first, PerToken: 2 * time.Millisecond, Slots: server.slots}, func(t *testing.T, target llmbench.Target) {
			c := capacity{
				target: target, slo: sample.SLO{TTFT: server.limit}, least: 20, even: true, lone: service, send: pass,
				span: reducedSpan(service), patience: 15 * time.Second,
				arrivals: func(rate float64, _ uint64) arrivals.Process { return arrivals.Constant{Rate: rate} },
				draw: func(n int, seed uint64) ([]llmbench.Request, error) {
					return benchdata.Prompts{Input: 4, Output: 8, Seed: seed}.Requests(n)
				},
			}
			from := 0.5 / service.Seconds()
			h := search.Highest{From: from, To: 1024 * from, Tolerance: 0.02}
			start, err := c.scout(t.Context(), "", h)
			assert.NilError(t, err)
			assert.Assert(t, math.Abs(start/want-1) < 0.05, "%v, want %v", start, want)
			h.Start = start
			found, err := h.Find(func(rate float64) (bool, error) {
				met, err := c.byRate(t.Context(), "", rate)
				assert.Equal(t, met, c.certified)
				return met, err
			})
			assert.NilError(t, err)
			t.Logf("%d slots: [%.4g, %.4g), want %.4g: %v", server.slots, found.Low, found.High, want, found.Trials)
			assert.Assert(t, math.Abs(found.Low/want-1) < 0.03 && found.High > want, "[%v, %v), want %v", found.Low, found.High, want)
		})
	}
}

// TestSLOScout checks the guesses of a search. If a server falls behind, the guess is the number of
// its completions per second. If it keeps up but is too slow, the guess is a rate between two
// passes. The guess may also be an end of the range.
func TestSLOScout(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit float64 // the rate above which the SLO is missed
		done  float64 // the largest number of completions per second
		want  float64
	}{
		{"falls behind", 100, 120, 120},
		{"falls behind far above the limit", 20, 900, 32}, // a rate between 16 and 64
		{"too slow from 16 on", 10, 900, 8},
		{"too slow at once", 0.5, 900, 2},
		{"keeps every limit", 1e6, 1e6, 1024},
	} {
		c := capacity{slo: sample.SLO{TTFT: time.Second}, draw: words, least: 20, span: 6 * time.Second}
		c.arrivals = func(rate float64, _ uint64) arrivals.Process { return arrivals.Constant{Rate: rate} }
		c.send = func(_ context.Context, _ string, _ llmbench.Target, l llmbench.Load) (passed, map[string]sample.Interval, error) {
			rate := l.Arrivals.(arrivals.Constant).Rate
			ttft := time.Millisecond
			if rate > tt.limit {
				ttft = time.Minute
			}
			var all []sample.Sample
			for i := range l.Requests {
				end := time.Duration(float64(i) / min(rate, tt.done) * 1e9)
				all = append(all, sample.Sample{Outcome: sample.OK, First: ttft, Deltas: 1, End: end})
			}
			return memory{all}, nil, nil
		}
		got, err := c.scout(t.Context(), "x", search.Highest{From: 1, To: 1100})
		assert.NilError(t, err)
		assert.Assert(t, math.Abs(got/tt.want-1) < 0.01, "%s: %v, want %v", tt.name, got, tt.want)
	}
	assert.Equal(t, completions(nil), 0.0)
	assert.Equal(t, completions([]time.Duration{1, 1}), 0.0)
}

// TestSLOCannotJudge checks the errors if a server is too slow for the lowest load or too fast for
// the highest load, and if a search is interrupted.
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
			p := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, least: 8, rounds: 2, draw: words, send: pass}
			_, err := highestConcurrency(t, &p)
			assert.ErrorIs(t, err, search.ErrCannotJudge, c.name)
			assert.ErrorContains(t, err, c.want, c.name)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	virtual(t, mockserver.Config{}, func(t *testing.T, target llmbench.Target) {
		p := capacity{target: target, slo: sample.SLO{TTFT: time.Second}, least: 8, rounds: 2, draw: words, send: pass}
		_, err := p.byConcurrency(ctx, "", 1)
		assert.Error(t, err, "interrupted")
	})
}

// TestSLOJudge checks which passes meet the SLO, and which of them are certified. One of 93
// requests may miss its limits.
func TestSLOJudge(t *testing.T) {
	for _, c := range []struct {
		good, n        int
		met, certified bool
	}{
		{19, 20, true, false}, {18, 20, false, false}, {20, 20, true, false}, {58, 58, true, false},
		{59, 59, true, true}, {58, 59, true, false}, {92, 92, true, true}, {91, 92, true, false},
		{93, 93, true, true}, {92, 93, true, true}, {91, 93, false, false},
		{957, 1000, false, false}, {962, 1000, true, true}, {0, 0, true, false},
	} {
		met, certified := judge(c.good, c.n)
		assert.Equal(t, met, c.met, "%d of %d", c.good, c.n)
		assert.Equal(t, certified, c.certified, "%d of %d", c.good, c.n)
	}
	k, ok := sample.BoundRank(certifiable, goodShare)
	assert.Assert(t, ok && k == certifiable-1)
	k, _ = sample.BoundRank(certifiable-1, goodShare)
	assert.Equal(t, k, certifiable-1)
}

// TestSLOFalselyCertified simulates passes of a server that misses the SLO: only 94.9 % of its
// requests meet the limits. At most 5 % of the passes may be judged to meet the SLO. Without the
// bound, about half of them would be.
func TestSLOFalselyCertified(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{93, 200, 1000} {
		const passes = 4000
		met := 0
		for range passes {
			good := 0
			for range n {
				if r.Float64() < 0.949 {
					good++
				}
			}
			if ok, _ := judge(good, n); ok {
				met++
			}
		}
		share := float64(met) / passes
		t.Logf("%d requests: %.1f %% of passes meet the SLO", n, 100*share)
		assert.Assert(t, share < 0.05+3*math.Sqrt(0.05*0.95/passes), "%v of passes of %d", share, n)
	}
}

// TestSLOCount checks how many requests a pass has.
func TestSLOCount(t *testing.T) {
	c := capacity{least: 20, patience: 5 * time.Minute}
	assert.Equal(t, c.count(10, 0.01), 20) // the smallest number, because more would take too long
	assert.Equal(t, c.count(12, 0.2), 60)  // as many as fit into five minutes
	assert.Equal(t, c.count(60, 1), 93)    // enough for a certified result
	assert.Equal(t, c.count(600, 10), 600) // more than needed
	c.patience = 0
	assert.Equal(t, c.count(60, 1), 60)
}

// TestSLOUnits checks that the unit of a result says whether the result is certified.
func TestSLOUnits(t *testing.T) {
	for unit, certified := range map[string]bool{"slo-req/s": true, "slo-uncertified-req/s": false} {
		c := capacity{target: llmbench.Target{URL: "http://127.0.0.1:1", Model: "mock"}}
		got := onePass(t, func(b *testing.B) {
			c.search(b, search.Highest{From: 1, To: 64}, noStart, func(_ context.Context, _ string, rate float64) (bool, error) {
				c.certified = certified
				return rate <= 5, nil
			}, "req/s")
		})
		assert.Equal(t, len(got.Extra), 4, "%v", got.Extra)
		assert.Assert(t, got.Extra[unit] > 4.5 && got.Extra[unit] <= 5, "%s: %v", unit, got.Extra)
		assert.Assert(t, got.Extra["slo-missed-req/s"] > 5, "%v", got.Extra)
	}
}

// TestSLODescribesCertified checks what the log says about the result.
func TestSLODescribesCertified(t *testing.T) {
	found := search.Interval{Low: 4, High: 5, Trials: []search.Trial{{Load: 4, Met: true}, {Load: 5}, {Load: 4, Met: true}, {Load: 5}}}
	text, all := describeCertified(found, 2)
	assert.Equal(t, text, "4 is certified: each of the 2 passes that met the SLO there shows with 95 % confidence that 95 of 100 requests keep it")
	assert.Assert(t, all)
	text, all = describeCertified(found, 1)
	assert.Assert(t, !all)
	assert.Equal(t, text, "4 is not certified: 1 of the 2 passes that met the SLO there have too few requests to show with 95 % confidence that 95 of 100 requests keep it: want 93 requests or more")
}

// TestSLOEnds checks how a search without a result ends. It fails if no load keeps the SLO. It is skipped if it cannot be
// judged, which is no fault of the server.
func TestSLOEnds(t *testing.T) {
	spoilt := fmt.Errorf("%w: x: the client is the limit", search.ErrCannotJudge)
	upTo := func(most float64) trial {
		return func(_ context.Context, _ string, load float64) (bool, error) { return load <= most, nil }
	}
	for _, c := range []struct {
		name            string
		start, try      error
		met             trial
		failed, skipped bool
	}{
		{"a result", nil, nil, upTo(5), false, false},
		{"no load keeps it", nil, nil, upTo(0), true, false},
		{"each load keeps it", nil, nil, upTo(100), false, true},
		{"a trial cannot be judged", nil, spoilt, nil, false, true},
		{"the guess cannot be judged", spoilt, nil, upTo(5), false, true},
		{"the server is gone", nil, errors.New("no server"), nil, true, false},
		{"interrupted before", errors.New("interrupted"), nil, upTo(5), true, false},
	} {
		p := capacity{target: llmbench.Target{URL: "http://127.0.0.1:1", Model: "mock"}}
		if c.met == nil {
			c.met = func(context.Context, string, float64) (bool, error) { return false, c.try }
		}
		failed, skipped := false, false
		onePass(t, func(b *testing.B) {
			defer func() { failed, skipped = b.Failed(), b.Skipped() }()
			p.search(b, search.Highest{From: 1, To: 64}, func(context.Context, string, search.Highest) (float64, error) { return 0, c.start }, c.met, "req/s")
		})
		assert.Equal(t, failed, c.failed, c.name)
		assert.Equal(t, skipped, c.skipped, c.name)
	}
}

// TestReason checks that the reason why a search ends repeats neither the benchmark's name nor the verdict.
func TestReason(t *testing.T) {
	onePass(t, func(b *testing.B) {
		err := fmt.Errorf("%w: %s/rate=7: the client is the limit", search.ErrCannotJudge, b.Name())
		assert.Equal(b, reason(b, err), "rate=7: the client is the limit")
	})
	onePass(t, func(b *testing.B) {
		err := fmt.Errorf("%w: the lowest load, 1, misses (1 missed)", search.ErrCannotJudge)
		assert.Equal(b, reason(b, err), "the lowest load, 1, misses (1 missed)")
	})
}
