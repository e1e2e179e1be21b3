package scenarios

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// goodShare is the share of requests that must meet the SLO; see judge.
const goodShare = 0.95

// keptUpShare is the minimum completions / arrivals.
const keptUpShare = 0.95

// attempts is how many times a pass is made that the client spoils, before the search gives up. The client
// spoils a pass if its own delays decide whether the pass meets the SLO.
const attempts = 3

// A capacity makes the passes of a search for the highest load that meets an SLO.
type capacity struct {
	target               llmbench.Target
	slo                  sample.SLO
	template             int           // tokens that all prompts have in common
	lone                 time.Duration // E2E latency of a request while no other is running
	least                int           // the smallest number of requests in a pass
	arrivals             func(rate float64, seed uint64) arrivals.Process
	even                 bool          // whether arrivals are evenly spaced rather than random
	span                 time.Duration // how long requests arrive in a pass of an open loop
	patience             time.Duration // how long a pass may be extended to have enough requests to be certified
	rounds               int           // number of requests for each user of a closed loop
	draw                 drawFunc
	timeout, idleTimeout time.Duration // of each request; 0 means the defaults
	send                 passFunc      // makes a pass; normally the function pass
	passes               uint64        // number of passes so far; the seeds of a pass depend on it
	// certified says whether the last pass met the SLO with 95 % confidence. perSecond is how many of its
	// requests succeeded per second, not counting the first and the last tenth of them.
	certified bool
	perSecond float64
}

// A passFunc makes a pass, like [llmbench.Pass], and also returns the result's bounds.
type passFunc func(ctx context.Context, name string, t llmbench.Target, l llmbench.Load) (p passed, bounds map[string]sample.Interval, err error)

// A passed is an [llmbench.Result] of a pass.
type passed interface {
	All() iter.Seq[*sample.Sample]
	Err() error
	Close() error
}

// pass makes a pass by [llmbench.Pass].
func pass(ctx context.Context, name string, t llmbench.Target, l llmbench.Load) (p passed, bounds map[string]sample.Interval, err error) {
	r, err := llmbench.Pass(ctx, name, t, l)
	if r == nil {
		return nil, nil, err
	}
	return r, r.Bounds, err
}

// A trial measures a load and reports whether it meets the SLO.
type trial func(ctx context.Context, name string, load float64) (bool, error)

// search is a benchmark that searches for the highest load of the given kind, such as req/s. It reports the
// highest load that met the SLO, and the lowest load that missed it. If the highest load is not certified,
// its unit has a different name. start returns a guess of the result, or 0.
func (c *capacity) search(b *testing.B, h search.Highest, start func(ctx context.Context, name string, h search.Highest) (float64, error), try trial, kind string) {
	harness.Watch(b)
	if err := llmbench.Announce(b, c.target); err != nil {
		b.Fatal(err)
	}
	var met, missed float64
	before := c.passes
	unit := "slo-" + kind
	for more := harness.Loop(b); more(); {
		certified := map[float64]int{} // certified passes, by load
		var err error
		if h.Start, err = start(harness.Context(b), b.Name(), h); err != nil {
			c.end(b, err)
		}
		var spoilt error // of a trial
		someMet := false
		found, err := h.Find(func(load float64) (met bool, err error) {
			met, spoilt = try(harness.Context(b), b.Name(), load)
			someMet = someMet || met
			if c.certified {
				certified[load]++
			}
			return met, spoilt
		})
		switch {
		case err != nil && spoilt == nil && !someMet: // the server is too slow, or fails
			b.Fatalf("SLO %v: no load keeps it: %s", c.slo, reason(b, err))
		case err != nil:
			c.end(b, err)
		}
		met += found.Low
		missed += found.High
		b.Logf("SLO %v: %v", c.slo, found.Trials)
		text, sure := describeCertified(found, certified[found.Low])
		b.Log(text)
		if !sure {
			unit = "slo-uncertified-" + kind
		}
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	harness.Report(b, met/n, unit)
	harness.Report(b, missed/n, "slo-missed-"+kind)
	b.ReportMetric(float64(c.passes-before)/n, "passes/op")
}

// end ends a search without a result. If err says that the search cannot be judged, b is skipped.
func (c *capacity) end(b *testing.B, err error) {
	b.Helper()
	text := fmt.Sprintf("SLO %v: %s", c.slo, reason(b, err))
	if errors.Is(err, search.ErrCannotJudge) {
		llmbench.CannotJudge(b, text)
	}
	b.Fatal(text)
}

// reason returns the text of an error of b's search without what is said beside it: b's name, and that b cannot be judged.
func reason(b *testing.B, err error) string {
	return strings.NewReplacer(search.ErrCannotJudge.Error()+": ", "", b.Name()+"/", "").Replace(err.Error())
}

// noStart is the start of a search that has no guess.
func noStart(context.Context, string, search.Highest) (float64, error) { return 0, nil }

// scout guesses the rate that a search will find. It makes short passes, each with four times the rate of
// the previous one, until a pass misses the SLO. If the server fell behind in that pass, the guess is its
// completions per second. Otherwise it is a rate between the last two passes.
func (c *capacity) scout(ctx context.Context, name string, h search.Highest) (float64, error) {
	low := h.From
	for rate := 4 * low; rate < h.To; low, rate = rate, 4*rate {
		n := max(c.least, int(rate*c.span.Seconds()/6))
		met, _, err := c.attempt(ctx, fmt.Sprintf("%s/scout=%.4g", name, rate), n, c.open(rate))
		switch {
		case err != nil:
			return 0, err
		case met:
		case c.perSecond > 0 && c.perSecond < 0.9*rate:
			return max(c.perSecond, h.From), nil
		default:
			return math.Sqrt(low * rate), nil
		}
	}
	return low, nil
}

// describeCertified says how certain the low end of found is, and whether it is certified: whether all
// passes that met the SLO at this load are certified. certified is the number of certified passes at this
// load.
func describeCertified(found search.Interval, certified int) (text string, all bool) {
	met := 0
	for _, t := range found.Trials {
		if t.Load == found.Low && t.Met {
			met++
		}
	}
	if certified < met {
		return fmt.Sprintf("%.4g is not certified: %d of the %d passes that met the SLO there have too few requests to show with 95 %% confidence that %.0f of 100 requests keep it: want %d requests or more",
			found.Low, met-certified, met, 100*goodShare, certifiable), false
	}
	return fmt.Sprintf("%.4g is certified: each of the %d passes that met the SLO there shows with 95 %% confidence that %.0f of 100 requests keep it", found.Low, met, 100*goodShare), true
}

// certifiable is the smallest number of requests with which a pass can meet the SLO with 95 % confidence
// although one request misses the limits. With 59 requests or more, this is possible only if all of them
// meet the limits.
const certifiable = 93

// judge reports whether a pass meets the SLO, and whether that is certified. good of its n requests met the
// limits. It is certified if, with 95 % confidence, goodShare of all requests meet the limits. That is the
// case if the upper confidence bound of a percentile, by order statistics, is within the limits; see
// [sample.BoundRank]. If n is large enough for this, only a certified pass meets the SLO. If n is smaller,
// the share of the pass's own requests decides.
//
// The confidence applies to one pass, and assumes that its requests are independent. In a queue they are
// not quite independent.
func judge(good, n int) (met, certified bool) {
	k, possible := sample.BoundRank(n, goodShare)
	certified = possible && good >= k
	if n >= certifiable {
		return certified, certified
	}
	return float64(good) >= goodShare*float64(n), certified
}

// count returns the number of requests for a pass that needs at least n requests, if perSecond requests end
// per second. It is raised to certifiable if the pass then takes no longer than patience.
func (c *capacity) count(n int, perSecond float64) int {
	within := min(certifiable, int(perSecond*c.patience.Seconds()))
	return max(c.least, n, within)
}

// byRate is a trial of an open loop with the given rate in requests per second.
func (c *capacity) byRate(ctx context.Context, name string, rate float64) (bool, error) {
	n := int(math.Round(rate * c.span.Seconds()))
	if c.even {
		tell := evenRequests * math.Sqrt(rate*c.lone.Seconds())
		n = max(n, int(min(tell, rate*c.patience.Seconds())))
	}
	return c.pass(ctx, fmt.Sprintf("%s/rate=%.4g", name, rate), c.count(n, rate), c.open(rate))
}

// open returns a function for the load of an open loop with the given rate.
func (c *capacity) open(rate float64) func(seed uint64) llmbench.Load {
	return func(seed uint64) llmbench.Load { return llmbench.Load{Arrivals: c.arrivals(rate, seed)} }
}

// byConcurrency is a trial of a closed loop with the given number of users.
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

// pass makes a pass of n requests, and reports whether it met the SLO. If the client spoils the pass, pass
// repeats it with another seed.
func (c *capacity) pass(ctx context.Context, name string, n int, load func(seed uint64) llmbench.Load) (met bool, err error) {
	var spoilt error
	for range attempts {
		if met, spoilt, err = c.attempt(ctx, name, n, load); err != nil || spoilt == nil {
			return met, err
		}
	}
	return false, fmt.Errorf("%w: %s: the client is the limit in %d passes, in the last of them: %w", search.ErrCannotJudge, name, attempts, spoilt)
}

// keptShare is the unit of the share of requests that meet the SLO. It is not reported as a result, but its
// bounds tell whether the client's own delays can change the verdict on a pass.
const keptShare = "slo-kept-%"

// asks returns l with keptShare added to its result.
func (c *capacity) asks(l llmbench.Load) llmbench.Load {
	family := sample.FamilyE2E
	if c.slo.NeedsStream() {
		family = sample.FamilyTTFT
	}
	l.Units = []sample.Unit{{Name: keptShare, Better: "higher", Family: family}}
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		n, good := 0, 0
		for s := range samples {
			n++
			if c.slo.Met(s) {
				good++
			}
		}
		return map[string]float64{keptShare: 100 * float64(good) / float64(max(1, n))}
	}
	return l
}

// attempt makes one pass. spoilt says how the client has spoilt the pass, or is nil. If answers come in
// bursts, or may have text that was not read, the pass cannot be judged by an SLO with a limit on the TTFT or the TPOT.
func (c *capacity) attempt(ctx context.Context, name string, n int, load func(seed uint64) llmbench.Load) (met bool, spoilt, err error) {
	c.passes++
	c.certified = false
	l := c.asks(load(c.passes))
	l.Timeout, l.IdleTimeout = c.timeout, c.idleTimeout
	if l.Requests, err = c.draw(n, c.passes<<32); err != nil {
		return false, nil, err
	}
	result, bounds, err := c.send(ctx, name, c.target, l)
	bursts, bound := errors.Is(err, llmbench.ErrBursts) || errors.Is(err, llmbench.ErrUnread), errors.Is(err, llmbench.ErrClientBound)
	switch {
	case bursts && c.slo.NeedsStream():
		return false, nil, errors.Join(fmt.Errorf("%w: %s: %w", search.ErrCannotJudge, name, err), result.Close())
	case bound && bounds == nil:
		return false, err, result.Close()
	case err != nil && !bursts && !bound:
		return false, nil, err
	}
	defer result.Close()
	samples := result.All()
	if err := checkCached(samples, c.template); err != nil {
		return false, nil, fmt.Errorf("%s: %w", name, err)
	}
	good, late := 0, 0
	var ends []time.Duration // ends of successful requests
	for s := range samples {
		if c.slo.Met(s) {
			good++
		}
		if s.Start-s.Due > c.toleratedLateness() {
			late++
		}
		if s.Outcome == sample.OK {
			ends = append(ends, s.End)
		}
	}
	c.perSecond = completions(ends)
	met, spoilt = c.verdict(good, late, n, bounds, l.Arrivals == nil || keepsUp(samples, c.lone, c.even))
	return met, spoilt, result.Err()
}

// verdict reports whether a pass of n requests met the SLO, and sets c.certified. good requests met the
// limits as measured, and late requests were sent too late.
//
// Delays of the client make latencies longer, and rarely shorter. bounds therefore has the lowest and the
// highest share of requests that can have met the limits. The pass met the SLO if the lowest share
// suffices, and missed it if the highest share does not. Otherwise the client has spoilt the pass. The
// client has also spoilt a pass that missed the SLO if it sent requests late. If a pass with late requests
// met the SLO, it would also have met it without the delays, because latencies count from the instants at
// which requests were due.
func (c *capacity) verdict(good, late, n int, bounds map[string]sample.Interval, keptUp bool) (met bool, spoilt error) {
	low, high := good, good
	if b, known := bounds[keptShare]; known {
		const rounding = 1e-6
		low = int(math.Floor(b.Low/100*float64(n) + rounding))
		high = min(n, int(math.Ceil(b.High/100*float64(n)-rounding)))
	}
	met, certified := judge(low, n)
	possible, _ := judge(high, n)
	switch {
	case keptUp && met:
		c.certified = certified
		return true, nil
	case float64(late) > (1-goodShare)*float64(n):
		return false, fmt.Errorf("%d of %d requests were sent more than %v late", late, n, c.toleratedLateness())
	case keptUp && possible:
		return false, fmt.Errorf("the client's own delays decide whether the SLO is met: between %d and %d of %d requests keep it", low, high, n)
	}
	return false, nil
}

// completions returns how many of ends there are per second, not counting the first and the last tenth of
// them. It returns 0 if there are too few to tell.
func completions(ends []time.Duration) float64 {
	slices.Sort(ends)
	tenth := len(ends) / 10
	middle := ends[tenth : len(ends)-tenth]
	if len(middle) < 2 || middle[len(middle)-1] == middle[0] {
		return 0
	}
	return float64(len(middle)-1) / (middle[len(middle)-1] - middle[0]).Seconds()
}

// keepsUp reports whether the completions of an open loop keep up with its arrivals. In a short pass,
// requests may meet their limits although the server falls behind. For example, if requests arrive for 250
// ms at three times the server's capacity, the last request waits only 500 ms.
//
// The backlog is the number of requests that are due and have not ended. It grows by the number of arrivals
// minus the number of completions. keepsUp compares the mean backlog in the last quarter of the time of
// arrivals with the mean backlog in the second quarter, half of the time of arrivals earlier. The first
// quarter is skipped because the queue is still filling, and the time after the last arrival does not
// count.
//
// The backlog may grow by 5 % of the arrivals in half of the time, plus rate x lone, which is the number of
// requests in flight if each takes as long as a lone request (Little, "A Proof for the Queuing Formula: L =
// λW", Operations Research 9, 1961). This number allows for the variation of a steady backlog. In
// simulations with Poisson arrivals for 250 ms at a server with slots, keepsUp rejected none of 20 passes
// at 0.7 times the capacity, one of 20 at 0.9 times, and all at twice the capacity.
//
// With even arrivals, a steady backlog varies little. The backlog may then grow by 0.5 % of the arrivals,
// plus the square root of the number in flight; see evenRequests.
func keepsUp(samples iter.Seq[*sample.Sample], lone time.Duration, even bool) bool {
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
	// backlog returns the mean backlog in the quarter that begins at from.
	backlog := func(from time.Duration) float64 {
		var sum time.Duration
		for s := range samples {
			sum += max(0, min(s.End, from+quarter)-max(s.Due, from))
		}
		return float64(sum) / float64(quarter)
	}
	growth := backlog(first+3*quarter) - backlog(first+quarter)
	perQuarter := float64(n-1) / 4
	share, inFlight := 1-keptUpShare, perQuarter*float64(lone)/float64(quarter)
	if even {
		share, inFlight = evenShare, math.Sqrt(inFlight)
	}
	return growth <= share*2*perQuarter+inFlight
}

// evenShare is the tolerated growth of the backlog with even arrivals, as a share of the arrivals. A pass
// with evenRequests times the square root of the requests in flight can detect a rate that is 2.5 % above
// the capacity. In half of the time of arrivals, the backlog then grows by 2.5 % of half of the requests;
// tolerated are 0.5 % of them and the square root.
const (
	evenShare    = 0.005
	evenRequests = 2 / (0.025 - evenShare)
)

// toleratedLateness returns how late a request may be sent: a fifth of the limit on the TTFT or on the E2E
// latency, whichever is smaller.
func (c *capacity) toleratedLateness() time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, limit := range []time.Duration{c.slo.TTFT, c.slo.E2E} {
		if limit > 0 {
			least = min(least, limit/5)
		}
	}
	return least
}
