package scenarios

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// A gatewayRun measures a gateway.
type gatewayRun struct {
	server    // the gateway
	direct    llmbench.Target
	draw      drawFunc
	pace      time.Duration              // from token to token
	lone      time.Duration              // E2E latency of a lone request
	footprint llmbench.FootprintObserver // nil if the gateway's process is unknown
}

// headroom is how many times the load the client and the server must carry without the gateway.
const headroom = 1.25

// An added p99 is shown if its true value is known to a tenth or, if that is more, to 0.2 ms.
const widest, widestMs = 0.1, 0.2

// mostSearched is the highest rate that is tried.
const mostSearched = 1 << 17

// tail returns a tail without the fields that say what a load is.
func (g *gatewayRun) tail() *tail {
	return &tail{direct: g.direct, gateway: g.target, lone: g.lone, headroom: headroom, send: pass, cpu: func() time.Duration {
		if g.footprint == nil {
			return 0
		}
		cpu, _, _ := g.footprint.Footprint()
		return cpu
	}}
}

// tails measures the rows of rates and of bounds.
func (g *gatewayRun) tails(b *testing.B) {
	span, least, from, step := pick(g.server, 10*time.Second, 3*time.Second, 200*time.Millisecond), pick(g.server, 1000, 300, 100), pick(g.server, 25., 50., 200.), pick(g.server, 2., 2., 4.)
	bounds := pick(g.server, []float64{1, 5, 10, 50, 100}, []float64{1, 5, 10, 50, 100}, []float64{5, 50})
	largest := slices.Max(bounds)
	var all []*tail // of each repetition of -count
	repetition := func(b *testing.B, i int) *tail {
		for len(all) <= i {
			t := g.tail()
			t.draw, t.delay = g.draw, firstLater
			t.count = func(rate float64) int { return max(least, int(math.Round(rate*span.Seconds()))) }
			t.load = func(rate float64) llmbench.Load {
				return g.bounded(llmbench.Load{Arrivals: arrivals.Poisson{Rate: rate, Seed: g.options.Seed}})
			}
			if err := t.calibrate(harness.Context(b), b.Name(), from); err != nil {
				judged(b, err)
			}
			all = append(all, t)
		}
		return all[i]
	}
	harness.Tell(fmt.Sprintf("the rates that the gateway carries are searched for: up to %d passes of %v each", 8*len(bounds)+10, span))
	over, rates := false, []float64{}
	for rate := from; !over && rate <= mostSearched; rate *= step {
		n := 0
		rates = append(rates, rate)
		b.Run(fmt.Sprintf("rate=%g", rate), func(b *testing.B) {
			over = true // unless it is measured
			g.announced(b)
			t := repetition(b, n)
			n++
			var p *tailPass
			for more := harness.Loop(b); more(); {
				var err error
				if p, err = t.through(harness.Context(b), b.Name(), rate, 0); err != nil {
					judged(b, err)
				}
			}
			if _, open := p.keeps(largest); open != nil {
				llmbench.CannotJudge(b, open.Error())
			}
			over = p.behind || p.p99 > largest
			b.ReportMetric(0, "ns/op")
			if p.perCore > 0 {
				harness.Report(b, p.perCore, "srv-req/cpu-s")
			}
			switch {
			case math.IsInf(p.p99, 1):
				harness.Note(b, "added-p99-ttft-ms is left out: more than a request in a hundred failed")
			case p.high-p.low > max(widest*p.p99, widestMs):
				harness.Note(b, fmt.Sprintf("added-p99-ttft-ms is left out: it is between %.3g and %.3g, because of the client's own delays", p.low, p.high))
			default:
				llmbench.Derive(b, "added-p99-ttft-ms", p.p99)
			}
		})
	}
	for _, bound := range bounds {
		n := 0
		b.Run(fmt.Sprintf("tail-ms=%g", bound), func(b *testing.B) {
			g.announced(b)
			t := repetition(b, n)
			n++
			h := t.bracket(rates, bound)
			h.Tolerance = pick(g.server, 0.02, 0.025, 0.3)
			var kept, missed float64
			for more := harness.Loop(b); more(); {
				found, err := t.highest(harness.Context(b), b.Name(), h, bound)
				b.Logf("within %g ms: %v", bound, found.Trials)
				if err != nil {
					judged(b, err)
				}
				kept += found.Low
				missed += found.High
			}
			b.ReportMetric(0, "ns/op")
			harness.Report(b, kept/float64(b.N), "tail-req/s")
			harness.Report(b, missed/float64(b.N), "tail-missed-req/s")
		})
	}
}

// bracket returns a search between the highest of the rates that clearly kept a bound and the next one that clearly missed it.
func (t *tail) bracket(rates []float64, bound float64) search.Highest {
	last := rates[len(rates)-1]
	h := search.Highest{From: rates[0], To: last}
	for _, rate := range rates {
		if len(t.passes[rate]) == 0 {
			continue
		}
		first := t.passes[rate][0]
		switch met, open := first.keeps(bound); {
		case open != nil || !first.clear(bound):
		case met:
			h.From, h.To = rate, last
		case rate > h.From:
			h.To = min(h.To, rate)
		}
	}
	h.To = max(h.To, 2*h.From)
	return h
}

// sustained is the largest delay of a token with which a stream is sustained, in milliseconds.
const sustained = 100

// streams searches for the most streams at once.
func (g *gatewayRun) streams(b *testing.B) {
	most := pick(g.server, 8192, 4096, 32)
	b.Run(fmt.Sprintf("of=streams/upto=%d", most), func(b *testing.B) {
		g.announced(b)
		t := g.tail()
		t.draw, t.delay = g.long(), latestToken
		t.count = func(n float64) int { return int(n) }
		t.load = func(n float64) llmbench.Load { return g.open(int(n)) }
		kept := 0.
		for more := harness.Loop(b); more(); {
			if err := t.calibrate(harness.Context(b), b.Name(), 4); err != nil {
				judged(b, err)
			}
			found, err := t.highest(harness.Context(b), b.Name(), search.Highest{From: pick(g.server, 64., 64., 4.), To: float64(most), Tolerance: 0.05, Whole: true}, sustained)
			if errors.Is(err, search.ErrCannotJudge) && keptAll(found.Trials, float64(most)) {
				harness.Note(b, fmt.Sprintf("max-streams is at least %d, at which the search ends", most))
				found.Low, err = float64(most), nil
			}
			b.Logf("%v: %v", g.perStream(), found.Trials)
			if err != nil {
				judged(b, err)
			}
			kept += found.Low
		}
		harness.Note(b, "streams of "+g.perStream())
		b.ReportMetric(0, "ns/op")
		harness.Report(b, kept/float64(b.N), "max-streams")
	})
}

// keptAll reports whether a search tried the load most, and all its trials met.
func keptAll(trials []search.Trial, most float64) bool {
	return slices.Contains(trials, search.Trial{Load: most, Met: true}) && !slices.ContainsFunc(trials, func(t search.Trial) bool { return !t.Met })
}

// perStream says how fast streams are.
func (g *gatewayRun) perStream() string {
	if g.pace == 0 {
		return "one piece"
	}
	return fmt.Sprintf("%.3g tok/s each", 1/g.pace.Seconds())
}

// opened is for how long streams are open.
func (g *gatewayRun) opened() time.Duration {
	return pick(g.server, 10*time.Second, 5*time.Second, 500*time.Millisecond)
}

// long draws requests whose streams are open for that time.
func (g *gatewayRun) long() drawFunc {
	return repeated(g.drawPrompts(64, int(min(max(2, g.opened()/max(g.pace, time.Millisecond)), 10_000))))
}

// repeated returns a function that draws some requests and repeats them, because to make many takes longer than to send
// them. The simulated server's log tells if a gateway answers some of them itself.
func repeated(draw drawFunc) drawFunc {
	var pool []llmbench.Request
	return func(n int, seed uint64) (all []llmbench.Request, err error) {
		if len(pool) == 0 {
			if pool, err = draw(512, seed); err != nil {
				return nil, err
			}
		}
		for len(all) < n {
			all = append(all, pool[:min(len(pool), n-len(all))]...)
		}
		return all, nil
	}
}

// open returns the load of n streams that begin one after another, within a fifth of the time for which they are open.
func (g *gatewayRun) open(n int) llmbench.Load {
	return g.bounded(llmbench.Load{Concurrency: n, Stagger: g.opened() / time.Duration(5*n)})
}

// bounded returns a load with the timeouts of the options.
func (g *gatewayRun) bounded(l llmbench.Load) llmbench.Load {
	l.Timeout, l.IdleTimeout = g.options.Timeout, g.options.IdleTimeout
	return l
}

// announced prepares a row that is measured without llmbench.Run.
func (g *gatewayRun) announced(b *testing.B) {
	harness.Watch(b)
	if err := llmbench.Announce(b, g.target); err != nil {
		b.Fatal(err)
	}
}

// judged ends a row that has no result: it is skipped if it cannot be judged.
func judged(b *testing.B, err error) {
	b.Helper()
	if errors.Is(err, search.ErrCannotJudge) {
		llmbench.CannotJudge(b, reason(b, err))
	}
	b.Fatal(reason(b, err))
}
