package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// slo searches for the highest rate, and for the highest concurrency, at which 95 % of requests meet the
// limits of the SLO. A failed request does not meet them.
//
// A pass with at least 93 requests must show this with 95 % confidence: the upper confidence bound of the
// 95th percentile, by order statistics, must be within the limits. With fewer requests, the share of the
// pass decides, and the log says that the result is not certified. A rate meets the SLO only if the
// server's completions also keep up with the arrivals, because in a short pass a queue has little time to
// grow.
//
// One op is one search, which takes about ten passes. Each pass has prompts and arrivals that no earlier
// pass had. The users of a closed loop start one after another within the time that a lone request takes,
// so that an initial burst does not decide the result. The result is an interval; both of its ends were
// measured twice.
//
// The full form has random arrivals, and passes of one minute, or up to five minutes if 93 requests take
// that long. In the reduced form, requests arrive evenly, because with random arrivals only passes of
// several minutes determine the capacity within 3 %. The resulting rate is that at which the server is
// full, or at which a latency is too long even though no request waits. Passes of the reduced form take a
// second, or up to 15 seconds if the rate is low, and longer if answers take long.
//
// The client's own delays matter only if they decide whether a pass meets the SLO; see capacity.verdict.
// Such a pass is repeated twice; if the delays still decide, the search cannot be judged and is skipped. If
// prompts come from the server's cache, the search ends with an error.
func slo(b *testing.B, s server) {
	limits := s.options.Limits
	if limits == (sample.SLO{}) {
		limits = sample.SLO{TTFT: 500 * time.Millisecond, TPOT: 50 * time.Millisecond}
		if s.options.Simulated {
			limits.TTFT = 100 * time.Millisecond
		}
	}
	s = s.withConfig(map[string]string{"slo": limits.String()})
	workload, s, draw := s.prompted(pick(s, 512, 64), pick(s, 128, 8))
	c := capacity{
		timeout: s.options.Timeout, idleTimeout: s.options.IdleTimeout,
		target: s.target, template: s.template, slo: limits, send: pass,
		least: 20, // so that a single unlucky request does not decide
		arrivals: func(rate float64, seed uint64) arrivals.Process {
			if !s.full() {
				return arrivals.Constant{Rate: rate}
			}
			return arrivals.Poisson{Rate: rate, Seed: s.options.Seed + seed}
		},
		even: !s.full(), rounds: pick(s, 8, 3),
		draw: func(n int, seed uint64) ([]llmbench.Request, error) { return draw(n, s.options.Seed+seed) },
	}
	b.Run(fmt.Sprintf("workload=%s/stream=true", workload), func(b *testing.B) {
		lone, err := c.draw(1, 1<<40)
		if err != nil {
			b.Fatal(err)
		}
		answer := s.once(b, lone[0])
		c.lone, _ = answer.E2E()
		c.span = pick(s, time.Minute, reducedSpan(c.lone))
		b.Run("of=rate/upto=1024", func(b *testing.B) { // up to 1,024 times half the rate of one user
			c.patience = pick(s, 5*time.Minute, max(15*time.Second, c.span))
			from := 0.5 / c.lone.Seconds()
			c.search(b, search.Highest{From: from, To: 1024 * from, Tolerance: pick(s, 0.03, 0.02)}, c.scout, c.byRate, "req/s")
		})
		b.Run("of=concurrency/upto=1024", func(b *testing.B) {
			c.patience = pick(s, 5*time.Minute, 8*c.lone)
			c.search(b, search.Highest{From: 1, To: 1024, Tolerance: pick(s, 0.05, 0.1), Whole: true}, noStart, c.byConcurrency, "concurrency")
		})
	})
}

// reducedSpan returns how long requests arrive in a pass of the reduced form. lone is the E2E latency of a
// request while no other is running.
func reducedSpan(lone time.Duration) time.Duration { return max(time.Second, 8*lone) }
