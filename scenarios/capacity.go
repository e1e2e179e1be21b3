package scenarios

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// goodShare is the share of requests that must keep the SLO. See judge.
const goodShare = 0.95

// keptUpShare is the share of the arrivals that must be matched by completions.
const keptUpShare = 0.95

// attempts is how often a pass is made before the search gives up, because the
// client spoils it.
const attempts = 3

// A capacity makes the passes of a search for the highest load that meets an SLO.
type capacity struct {
	target   llmbench.Target
	slo      sample.SLO
	template int           // tokens that every prompt has in common
	lone     time.Duration // E2E latency of a request that is alone
	least    int           // the fewest requests of a pass
	arrivals func(rate float64, seed uint64) arrivals.Process
	span     time.Duration // how long requests arrive in an open loop
	patience time.Duration // how long a pass may become so that it has enough requests to be certified
	rounds   int           // requests of each user of a closed loop
	draw     drawFunc
	send     passFunc // pass
	passes   uint64   // made so far; the seeds of a pass depend on it
	// certified says that the last pass met the SLO with 95 % confidence.
	certified bool
}

// A passFunc makes a pass, as [llmbench.Pass] does.
type passFunc func(ctx context.Context, name string, t llmbench.Target, l llmbench.Load) (passed, error)

// A passed is the [llmbench.Result] of a pass.
type passed interface {
	All() iter.Seq[*sample.Sample]
	Err() error
	Close() error
}

// pass makes a pass with llmbench.
func pass(ctx context.Context, name string, t llmbench.Target, l llmbench.Load) (passed, error) {
	return llmbench.Pass(ctx, name, t, l)
}

// A trial reports whether a load meets the SLO.
type trial func(ctx context.Context, name string, load float64) (bool, error)

// search is the benchmark of one search. It reports the highest load that met the
// SLO as metUnit, and the lowest that missed it as missedUnit.
func (c *capacity) search(b *testing.B, h search.Highest, try trial, metUnit, missedUnit string) {
	llmbench.Watch(b)
	if err := llmbench.Announce(b, c.target); err != nil {
		b.Fatal(err)
	}
	var met, missed, passes float64
	for more := llmbench.Loop(b); more(); {
		certified := map[float64]int{} // passes of each load
		found, err := h.Find(func(load float64) (bool, error) {
			met, err := try(llmbench.Context(b), b.Name(), load)
			if c.certified {
				certified[load]++
			}
			return met, err
		})
		if err != nil {
			b.Fatalf("SLO %v: %v", c.slo, err)
		}
		met += found.Low
		missed += found.High
		passes += float64(len(found.Trials))
		b.Logf("SLO %v: %v", c.slo, found.Trials)
		b.Log(describeCertified(found, certified[found.Low]))
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(met/n, metUnit)
	b.ReportMetric(missed/n, missedUnit)
	b.ReportMetric(passes/n, "passes/op")
}

// describeCertified says how sure the low end of an interval is, of whose passes that many are certified.
func describeCertified(found search.Interval, certified int) string {
	met := 0
	for _, t := range found.Trials {
		if t.Load == found.Low && t.Met {
			met++
		}
	}
	if certified < met {
		return fmt.Sprintf("%.4g is not certified: %d of the %d passes that met the SLO there have too few requests to show with 95 %% confidence that %.0f of 100 requests keep it; want %d requests or more",
			found.Low, met-certified, met, 100*goodShare, certifiable)
	}
	return fmt.Sprintf("%.4g is certified: each of the %d passes that met the SLO there shows with 95 %% confidence that %.0f of 100 requests keep it", found.Low, met, 100*goodShare)
}

// certifiable is the least number of requests of a pass that can meet the SLO with 95 % confidence although
// one of them keeps no limit. With 59 or more all of them must keep the limits.
const certifiable = 93

// judge reports whether a pass of n requests, of which good kept the limits, meets the SLO, and whether that
// is certified: with 95 % confidence goodShare of all requests keep the limits. That is so if the upper
// confidence bound of a percentile, by order statistics, is within the limits; see [sample.BoundRank].
// With enough requests for that, only a pass that is certified meets the SLO. With fewer, the share of
// the pass's own requests decides.
//
// The confidence is that of one pass, whose requests are taken as independent. In a queue they are not quite.
func judge(good, n int) (met, certified bool) {
	k, possible := sample.BoundRank(n, goodShare)
	certified = possible && good >= k
	if n >= certifiable {
		return certified, certified
	}
	return float64(good) >= goodShare*float64(n), certified
}

// count returns the number of requests of a pass of at least n requests, of which that many end in a second. It
// is raised to certifiable if the pass then takes no longer than patience.
func (c *capacity) count(n int, perSecond float64) int {
	within := min(certifiable, int(perSecond*c.patience.Seconds()))
	return max(c.least, n, within)
}

// byRate is a trial of an open loop at rate requests per second.
func (c *capacity) byRate(ctx context.Context, name string, rate float64) (bool, error) {
	n := c.count(int(math.Round(rate*c.span.Seconds())), rate)
	return c.pass(ctx, fmt.Sprintf("%s/rate=%.4g", name, rate), n, func(seed uint64) llmbench.Load {
		return llmbench.Load{Arrivals: c.arrivals(rate, seed)}
	})
}

// byConcurrency is a trial of a closed loop.
func (c *capacity) byConcurrency(ctx context.Context, name string, users float64) (bool, error) {
	n := c.rounds * int(users)
	if c.lone > 0 {
		n = c.count(n, users/c.lone.Seconds())
	}
	n = max(c.least, n)
	return c.pass(ctx, fmt.Sprintf("%s/concurrency=%.4g", name, users), n, func(uint64) llmbench.Load {
		return llmbench.Load{Concurrency: int(users), Stagger: c.lone / time.Duration(users)}
	})
}

// pass makes a pass of n requests, and again while the client spoils it, with
// another seed. It reports whether the pass met the SLO.
func (c *capacity) pass(ctx context.Context, name string, n int, load func(seed uint64) llmbench.Load) (met bool, err error) {
	var spoilt error
	for range attempts {
		if met, spoilt, err = c.attempt(ctx, name, n, load); err != nil || spoilt == nil {
			return met, err
		}
	}
	return false, fmt.Errorf("%w: %s: the client is the limit in %d passes, in the last of them: %w", search.ErrCannotJudge, name, attempts, spoilt)
}

// attempt makes one pass. spoilt says how the client has spoilt the pass. A pass whose answers come
// in bursts says nothing about an SLO with a limit of the TTFT or the TPOT.
func (c *capacity) attempt(ctx context.Context, name string, n int, load func(seed uint64) llmbench.Load) (met bool, spoilt, err error) {
	c.passes++
	c.certified = false
	l := load(c.passes)
	if l.Requests, err = c.draw(n, c.passes<<32); err != nil {
		return false, nil, err
	}
	result, err := c.send(ctx, name, c.target, l)
	switch {
	case errors.Is(err, llmbench.ErrClientBound):
		return false, err, result.Close()
	case errors.Is(err, llmbench.ErrBursts) && c.slo.NeedsStream():
		return false, nil, errors.Join(fmt.Errorf("%w: %s: %w", search.ErrCannotJudge, name, err), result.Close())
	case err != nil && !errors.Is(err, llmbench.ErrBursts):
		return false, nil, err
	}
	defer result.Close()
	samples := result.All()
	if err := checkCached(samples, c.template); err != nil {
		return false, nil, fmt.Errorf("%s: %w", name, err)
	}
	good, late := 0, 0
	for s := range samples {
		if c.slo.Met(s) {
			good++
		}
		if s.Start-s.Due > c.toleratedLateness() {
			late++
		}
	}
	if float64(late) > (1-goodShare)*float64(n) {
		spoilt = fmt.Errorf("%d of %d requests were sent more than %v late", late, n, c.toleratedLateness())
	}
	met, c.certified = judge(good, n)
	if l.Arrivals != nil && !keepsUp(samples, c.lone) {
		met, c.certified = false, false
	}
	return met, spoilt, result.Err()
}

// keepsUp reports whether the completions of an open loop keep up with its arrivals. In
// a short pass, requests may keep their limits although the server falls behind. For
// example, if requests arrive for 250 ms at three times the server's capacity, the last
// of them waits for 500 ms.
//
// The backlog is the number of requests that are due and have not ended. Its growth is
// the number of arrivals minus the number of completions. keepsUp compares the mean
// backlog in the second quarter of the time of arrivals with that in the last quarter,
// half of the time of arrivals later. The first quarter is left to the warm-up of the
// queue, and the drain after the last arrival does not count.
//
// The growth may be 5 % of the arrivals in half of the time, plus rate x lone, which is
// the number of requests in flight if each takes as long as a lone request (Little, "A
// Proof for the Queuing Formula: L = λW", Operations Research 9, 1961). The
// number covers the variation of a steady backlog. In virtual time, with Poisson arrivals for 250 ms at a
// server with slots, of 20 passes each, keepsUp rejected none at 0.7 times the capacity,
// one at 0.9 times, and all at twice the capacity.
func keepsUp(samples iter.Seq[*sample.Sample], lone time.Duration) bool {
	var first, last time.Duration
	n := 0
	for s := range samples {
		if n == 0 {
			first, last = s.Due, s.Due
		}
		first, last = min(first, s.Due), max(last, s.Due)
		n++
	}
	quarter := (last - first) / 4
	if quarter <= 0 {
		return true
	}
	// backlog returns the mean backlog of the quarter that begins at from.
	backlog := func(from time.Duration) float64 {
		var sum time.Duration
		for s := range samples {
			sum += max(0, min(s.End, from+quarter)-max(s.Due, from))
		}
		return float64(sum) / float64(quarter)
	}
	growth := backlog(first+3*quarter) - backlog(first+quarter)
	perQuarter := float64(n-1) / 4
	return growth <= (1-keptUpShare)*2*perQuarter+perQuarter*float64(lone)/float64(quarter)
}

// toleratedLateness returns how late a request may be sent: a fifth of the smaller
// of the limits of TTFT and E2E latency.
func (c *capacity) toleratedLateness() time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, limit := range []time.Duration{c.slo.TTFT, c.slo.E2E} {
		if limit > 0 {
			least = min(least, limit/5)
		}
	}
	return least
}
