package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// BenchmarkSLO is a search for the highest rate, and for the highest concurrency,
// at which 95 of 100 requests keep LLMBENCH_SLO; failed requests keep none. One op
// is one search, of some ten passes: each sends prompts, and at arrivals, that none
// before it had. Users come one after another within the time that one of them alone
// waits for an answer, so that no opening burst decides. The answer is an interval,
// both of whose ends held in two passes, one after the other for an end that was
// moved. In the short passes of the reduced form a queue has little time to grow,
// which flatters rates; those of the full form are a minute long.
//
// A pass that the client distorts, or whose requests it sends late, is made again
// twice, and then the search cannot judge. Prompts that the server has in its cache
// are no measurement: the search ends with an error.
func BenchmarkSLO(b *testing.B) {
	flow(b, func(b *testing.B, s server, full bool) {
		s = s.changed(b, eightSlots)
		slo := s.slo(pick(s.mock, sample.SLO{TTFT: 100 * time.Millisecond, TPOT: 50 * time.Millisecond},
			sample.SLO{TTFT: 500 * time.Millisecond, TPOT: 50 * time.Millisecond}))
		s.target.Config = maps.Clone(s.target.Config)
		s.target.Config["slo"] = slo.String()
		in, out := pick(full, 512, 64), pick(full, 128, 8)
		c := capacity{
			target: s.target, template: s.template, slo: slo, least: 20, // so that one that was unlucky decides nothing
			arrivals: func(rate float64, seed uint64) arrivals.Process {
				return arrivals.Poisson{Rate: rate, Seed: s.cfg.Serve.Seed + seed}
			},
			span: pick(full, time.Minute, 250*time.Millisecond), rounds: pick(full, 8, 3),
			draw: func(n int, seed uint64) ([]llmbench.Request, error) {
				return s.prompts(in, out, s.cfg.Serve.Seed+seed).Requests(n)
			},
		}
		tolerance := pick(full, 0.05, 0.1)
		b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
			lone, err := c.draw(1, 1<<40)
			if err != nil {
				b.Fatal(err)
			}
			answer := s.once(b, lone[0])
			c.lone, _ = answer.E2E()
			b.Run("of=rate/upto=1024", func(b *testing.B) { // times what one user gets
				from := 0.5 / c.lone.Seconds()
				c.search(b, search.Highest{From: from, To: 1024 * from, Tolerance: tolerance}, c.byRate, "slo-req/s", "slo-missed-req/s")
			})
			b.Run("of=concurrency/upto=1024", func(b *testing.B) {
				c.search(b, search.Highest{From: 1, To: 1024, Tolerance: tolerance, Whole: true}, c.byConcurrency, "slo-concurrency", "slo-missed-concurrency")
			})
		})
	})
}

// eightSlots makes the mock's default one that is full before the client is.
func eightSlots(c *mockserver.Config) {
	if reflect.DeepEqual(*c, mockserver.Default()) {
		*c = mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 2 * time.Millisecond, Slots: 8}
	}
}

// enough is the share of requests that must keep the SLO.
const enough = 0.95

// A capacity makes the passes of a search.
type capacity struct {
	target   llmbench.Target
	slo      sample.SLO
	template int           // tokens that are in every prompt
	lone     time.Duration // E2E latency of a request that is alone
	least    int           // requests in a pass
	arrivals func(rate float64, seed uint64) arrivals.Process
	span     time.Duration // how long requests come in an open loop
	rounds   int           // requests of each user in a closed one
	draw     func(n int, seed uint64) ([]llmbench.Request, error)
	passes   uint64 // so far: their prompts and arrivals are all different
}

// search is the benchmark of one of the two.
func (c capacity) search(b *testing.B, h search.Highest, trial func(ctx context.Context, name string, load float64) (bool, error), low, high string) {
	llmbench.Watch(b)
	if err := llmbench.Announce(b, c.target); err != nil {
		b.Fatal(err)
	}
	var met, missed, passes float64
	for b.Loop() {
		found, err := h.Find(func(load float64) (bool, error) { return trial(llmbench.Context(b), b.Name(), load) })
		if err != nil {
			b.Fatalf("SLO %v: %v", c.slo, err)
		}
		met += found.Low
		missed += found.High
		passes += float64(len(found.Trials))
		b.Logf("SLO %v: %v", c.slo, found.Trials)
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(met/n, low)
	b.ReportMetric(missed/n, high)
	b.ReportMetric(passes/n, "passes/op")
}

// byRate is a pass of an open loop: whether it met the SLO.
func (c *capacity) byRate(ctx context.Context, name string, rate float64) (bool, error) {
	n := max(c.least, int(math.Round(rate*c.span.Seconds())))
	return c.pass(ctx, fmt.Sprintf("%s/rate=%.4g", name, rate), n, func(seed uint64) llmbench.Load {
		return llmbench.Load{Arrivals: c.arrivals(rate, seed)}
	})
}

// byConcurrency is a pass of a closed loop: whether it met the SLO.
func (c *capacity) byConcurrency(ctx context.Context, name string, users float64) (bool, error) {
	n := max(c.least, c.rounds*int(users))
	return c.pass(ctx, fmt.Sprintf("%s/concurrency=%.4g", name, users), n, func(uint64) llmbench.Load {
		return llmbench.Load{Concurrency: int(users), Stagger: c.lone / time.Duration(users)}
	})
}

// attempts is how often a pass is made that the client spoils.
const attempts = 3

// pass makes a pass of n requests under the load that has a seed.
func (c *capacity) pass(ctx context.Context, name string, n int, load func(seed uint64) llmbench.Load) (met bool, err error) {
	var spoilt error
	for range attempts {
		if met, spoilt, err = c.attempt(ctx, name, n, load); err != nil || spoilt == nil {
			return met, err
		}
	}
	return false, fmt.Errorf("%w: %s: the client is the limit in %d passes, in the last of them: %w", search.ErrCannotJudge, name, attempts, spoilt)
}

// attempt makes a pass, and says how the client has spoilt it.
func (c *capacity) attempt(ctx context.Context, name string, n int, load func(seed uint64) llmbench.Load) (met bool, spoilt, err error) {
	c.passes++
	l := load(c.passes)
	if l.Requests, err = c.draw(n, c.passes<<32); err != nil {
		return false, nil, err
	}
	samples, _, err := llmbench.Pass(ctx, name, c.target, l)
	if errors.Is(err, llmbench.ErrClientBound) {
		return false, err, nil
	}
	if err != nil {
		return false, nil, err
	}
	if share := cachedShare(samples, c.template); share > toleratedCached {
		return false, nil, fmt.Errorf("%s: %w", name, wasCached(share))
	}
	good, late := 0, 0
	for i := range samples {
		s := &samples[i]
		if c.slo.Met(s) {
			good++
		}
		if s.Start-s.Due > c.patience() {
			late++
		}
	}
	if float64(late) > (1-enough)*float64(n) {
		spoilt = fmt.Errorf("%d of %d requests were sent more than %v late", late, n, c.patience())
	}
	return float64(good) >= enough*float64(n), spoilt, nil
}

// patience is how late a request may be sent: a fifth of the shortest wait that has
// a limit.
func (c *capacity) patience() time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, limit := range []time.Duration{c.slo.TTFT, c.slo.E2E} {
		if limit > 0 {
			least = min(least, limit/5)
		}
	}
	return least
}
