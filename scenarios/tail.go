package scenarios

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// A tail measures, at ever more loads, the 99th percentile of what a gateway adds to a latency of each request: the latency
// at the client, from the send, less the same in the log of the simulated server behind the gateway, less what the
// difference is without the gateway. A load is a rate of an open loop, or a number of streams.
//
// The passes at a load are kept. They answer for every bound, and each bound uses a pass once. All passes should have the same
// arrivals but for their pace: what differs between them is then the gateway's and the machine's doing.
type tail struct {
	direct, gateway llmbench.Target
	draw            drawFunc
	load            func(at float64) llmbench.Load // without requests
	count           func(at float64) int           // of requests in a pass
	delay           func(s *sample.Sample, e logEntry) time.Duration
	lone            time.Duration // E2E latency of a request while no other is running
	headroom        float64       // how many times the load the path without the gateway must carry
	send            passFunc      // makes a pass; normally the function pass
	cpu             func() time.Duration

	base   time.Duration // the median of delay without the gateway, at a low load
	drawn  uint64        // passes so far, of which the prompts depend
	passes map[float64][]*tailPass
	alone  map[float64]*tailPass // passes without the gateway
}

// A tailPass is a pass of a tail.
type tailPass struct {
	of             []time.Duration // delay of each request; a failed one has the longest
	low, p99, high float64         // milliseconds: bounds of the true value, and the value as measured; +Inf if a request in a hundred failed
	late           float64         // milliseconds: by how much the client sent requests late, p99
	behind         bool            // completions did not keep up with arrivals
	unsure         error           // why the client's delays are unknown; nil if they are known
	bursts         error           // that answers came in bursts, or may have text that was not read; or nil
	perCore        float64         // requests per second of the gateway's CPU time; 0 if unknown
}

// tailUnit is the p99 of what is added. It is not reported as a result; see keptShare.
var tailUnit = sample.Unit{Name: "tail-added-ms", Better: "lower", Family: sample.FamilyTTFT, Statistic: sample.P99}

// tailWarmup is how many requests go before a pass.
const tailWarmup = 8

// milliseconds returns a duration in milliseconds; the longest duration is +Inf.
func milliseconds(d time.Duration) float64 {
	if d == math.MaxInt64 {
		return math.Inf(1)
	}
	return d.Seconds() * 1000
}

// fromSend returns the TTFT from the send: an open loop's client that is late adds nothing to it.
func fromSend(s *sample.Sample) time.Duration {
	d, _ := s.TTFT()
	if s.Scheduled {
		d -= s.Late()
	}
	return d
}

// firstLater is by how much a request's first token comes later than by the server's log.
func firstLater(s *sample.Sample, e logEntry) time.Duration { return fromSend(s) - e.firstToken() }

// latestToken is by how much that token of a stream comes later whose delay is the longest. If a gateway joins tokens,
// only the first and the last one are known.
func latestToken(s *sample.Sample, e logEntry) time.Duration {
	most, at := firstLater(s, e), fromSend(s)
	n := len(e.Tokens)
	if n != s.Deltas {
		return max(most, at+s.Last-s.First-(e.Tokens[n-1]-e.reached()))
	}
	for i, gap := range s.Gaps {
		at += gap
		most = max(most, at-(e.Tokens[i+1]-e.reached()))
	}
	return most
}

// delays returns the delay of each request. Requests that failed, or have no token, have the longest one.
func (t *tail) delays(samples iter.Seq[*sample.Sample], log serverLog) (all []time.Duration) {
	for s := range samples {
		d := time.Duration(math.MaxInt64)
		if e, known := log[s.ID]; known && s.Outcome == sample.OK && s.Deltas > 0 {
			d = t.delay(s, e) - t.base
		}
		all = append(all, d)
	}
	return all
}

// calibrate measures the path without the gateway at a low load.
func (t *tail) calibrate(ctx context.Context, name string, at float64) error {
	t.passes, t.alone = map[float64][]*tailPass{}, map[float64]*tailPass{}
	p, err := t.measure(ctx, name+"/base", t.direct, at)
	if err == nil {
		t.base = quantile(p.of, 0.5)
	}
	if err == nil && t.base == math.MaxInt64 {
		err = fmt.Errorf("%w: most requests fail without the gateway", search.ErrCannotJudge)
	}
	return err
}

// through returns a pass through the gateway by its number at this load. It makes the pass if there is none.
func (t *tail) through(ctx context.Context, name string, at float64, number int) (*tailPass, error) {
	for len(t.passes[at]) <= number {
		p, err := t.measure(ctx, name, t.gateway, at)
		if err != nil {
			return nil, err
		}
		t.passes[at] = append(t.passes[at], p)
	}
	return t.passes[at][number], nil
}

// measure makes a pass.
func (t *tail) measure(ctx context.Context, name string, target llmbench.Target, at float64) (p *tailPass, err error) {
	t.drawn++
	n := t.count(at)
	l := t.load(at)
	if l.Requests, err = t.draw(n+tailWarmup, t.drawn<<32); err != nil {
		return nil, err
	}
	l.Requests, l.Warmup = l.Requests[:n], l.Requests[n:]
	if err := emptyLog(ctx, t.direct); err != nil {
		return nil, err
	}
	var log serverLog
	var noLog error
	l.Units = []sample.Unit{tailUnit}
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		if log == nil {
			log, noLog = readLog(ctx, t.direct)
		}
		return map[string]float64{tailUnit.Name: milliseconds(quantile(t.delays(samples, log), 0.99))}
	}
	before := t.cpu()
	result, bounds, err := t.send(ctx, fmt.Sprintf("%s/at=%.4g", name, at), target, l)
	p = &tailPass{}
	switch {
	case errors.Is(err, llmbench.ErrBursts) || errors.Is(err, llmbench.ErrUnread):
		p.bursts = err
	case errors.Is(err, llmbench.ErrClientBound) && bounds == nil:
		p.unsure = err
	case err != nil && !errors.Is(err, llmbench.ErrClientBound):
		return nil, err
	}
	defer result.Close()
	if used := t.cpu() - before; used > 0 {
		p.perCore = float64(n+len(l.Warmup)) / used.Seconds()
	}
	samples := result.All()
	l.Figures(samples) // also reads the log
	if noLog != nil {
		return nil, noLog
	}
	if !log.covers(samples) {
		return nil, fmt.Errorf("%w: the simulated server's log lacks requests that were answered: the gateway does not pass on X-Request-Id, or another server answers", search.ErrCannotJudge)
	}
	p.of = t.delays(samples, log)
	p.p99 = milliseconds(quantile(p.of, 0.99))
	p.low, p.high = p.p99, p.p99
	if b, known := bounds[tailUnit.Name]; known {
		p.low, p.high = b.Low, b.High
	}
	if l.Arrivals != nil {
		p.behind = !keepsUp(samples, t.lone, false)
		var late []time.Duration
		for s := range samples {
			late = append(late, s.Late())
		}
		p.late = milliseconds(quantile(late, 0.99))
	}
	return p, result.Err()
}

// keeps reports whether a pass keeps a bound, in milliseconds. An error says why the client, or bursts of answers, leave that
// open. The time by which the client sent requests late may have made them wait for each other. What the client may have
// changed is ignored if it is at most a tenth of the bound.
func (p *tailPass) keeps(bound float64) (bool, error) {
	known := !(p.high-p.low+p.late > bound/10) // also if both are infinite
	switch {
	case p.unsure != nil:
		return false, p.unsure
	case !p.behind && (p.high <= bound || known && p.p99 <= bound):
		return p.bursts == nil, p.bursts
	case known, p.low-p.late > bound, p.behind && p.late <= bound:
		return false, nil
	}
	return false, fmt.Errorf("the client's own delays decide: the gateway adds between %.3g and %.3g ms, and the client sent requests %.3g ms late (p99)", p.low, p.high, p.late)
}

// clear reports whether a pass is so far from a bound that another pass would hardly be on its other side.
func (p *tailPass) clear(bound float64) bool {
	return p.behind || p.p99 < 0.7*bound || p.p99 > 1.5*bound
}

// decides reports whether a load keeps a bound, by one pass if that is clear, and otherwise by two that agree. The argument
// used counts the passes that the bound has used.
func (t *tail) decides(ctx context.Context, name string, at, bound float64, used map[float64]int) (bool, error) {
	var open error
	votes := map[bool]int{}
	for range attempts {
		p, err := t.through(ctx, name, at, used[at])
		if err != nil {
			return false, err
		}
		used[at]++
		met, why := p.keeps(bound)
		if why != nil {
			open = why
			continue
		}
		if votes[met]++; votes[met] == 2 || p.clear(bound) {
			return met, nil
		}
	}
	if open == nil {
		open = errors.New("passes differ")
	}
	return false, fmt.Errorf("%w: at %.4g, in %d passes: %w", search.ErrCannotJudge, at, attempts, open)
}

// highest searches for the highest load at which what the gateway adds is within a bound, in milliseconds. The error wraps
// search.ErrCannotJudge if the client or the server may be the limit.
func (t *tail) highest(ctx context.Context, name string, h search.Highest, bound float64) (search.Interval, error) {
	used := map[float64]int{}
	found, err := h.Find(func(at float64) (bool, error) { return t.decides(ctx, name, at, bound, used) })
	if err != nil {
		return found, err
	}
	return found, t.carries(ctx, name, found.High, bound)
}

// carries returns an error that wraps search.ErrCannotJudge if the path without the gateway does not carry a load with
// headroom, so that its own limit may be what was found: half of the bound must be left.
func (t *tail) carries(ctx context.Context, name string, at, bound float64) (err error) {
	at = math.Ceil(at * t.headroom)
	p := t.alone[at]
	if p == nil {
		if p, err = t.measure(ctx, name+"/alone", t.direct, at); err != nil {
			return err
		}
		t.alone[at] = p
	}
	if met, why := p.keeps(bound / 2); !met {
		if why == nil {
			why = fmt.Errorf("%.3g ms are added there", p.p99)
		}
		return fmt.Errorf("%w: the client or the simulated server may be the limit, because they do not carry %.4g without the gateway: %w", search.ErrCannotJudge, at, why)
	}
	return nil
}
