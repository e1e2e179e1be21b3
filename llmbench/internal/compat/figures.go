package compat

import (
	"fmt"
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// A Pass holds the requests of one pass of a benchmark, which corresponds to one run of another tool.
type Pass struct {
	Head     *records.Head
	Requests iter.Seq[*records.Request]
}

// Of returns one pass of a run, without the requests of a warm-up, which other tools do not count. Passes are numbered from 0.
func Of(run *records.Run, pass int) Pass {
	return Pass{&run.Head, func(yield func(*records.Request) bool) {
		for q := range run.Pass(pass) {
			if run.Head.Measures(q) && !yield(q) {
				return
			}
		}
	}}
}

// Figures are what a tool would have printed for a pass.
type Figures struct {
	Completed, Failed         Value // requests, by the tool's definitions
	Duration                  Value // in seconds
	InputTokens, OutputTokens Value
	Requests, Good            Value // requests per second: all requests, and requests that meet the SLO
	Output, Total             Value // tokens per second
	TTFT, TPOT, ITL, E2E      Latency
	PeakOutput, PeakRequests  Value // "peak" tokens per second, and concurrent requests
	Extra                     map[string]Latency
}

// A Latency is one of a tool's latencies, in nanoseconds.
type Latency struct {
	N    int // number of values
	Mean Value
	std  func() float64
	at   func(p float64) float64 // computes a percentile; nil if percentiles are unknown
	none Value                   // if at is nil, why percentiles are unknown
}

// At returns the p-th percentile by the tool's own rule. p is in [0,100].
func (l Latency) At(p float64) Value {
	if l.at == nil {
		return l.none
	}
	return exact(l.at(p))
}

// Std returns the standard deviation of the population.
func (l Latency) Std() Value {
	if l.std == nil {
		return l.none
	}
	return exact(l.std())
}

// noLatency returns a latency without values, for the reason in v.
func noLatency(v Value) Latency { return Latency{Mean: v, none: v} }

// noValue is why there is no latency.
const noValue = "no request has one"

// orZero replaces a latency that no request has by zeros. It is for tools that print 0 in this case.
func orZero(l Latency) Latency {
	if l.Mean.Why != noValue {
		return l
	}
	return Latency{Mean: exact(0), std: func() float64 { return 0 }, at: func(float64) float64 { return 0 }}
}

// latency summarizes s. at is the rule for percentiles.
func latency(s *series, at percentile) Latency {
	if s.n() == 0 {
		return noLatency(cannotTell(noValue))
	}
	return Latency{N: s.n(), Mean: exact(s.mean()), std: s.std, at: func(p float64) float64 { return at(s, p) }}
}

// latencyOf summarizes weighted values.
func latencyOf(w *weighted) Latency {
	if len(w.pairs) == 0 {
		return noLatency(cannotTell(noValue))
	}
	n := len(w.pairs)
	return Latency{N: n, Mean: exact(w.mean()), std: w.std, at: w.percentile}
}

// A fate says how a tool counts a request.
type fate int

const (
	served fate = iota
	failed
	unclear   // the records do not determine it
	uncounted // counted neither as served nor as failed
)

// A gather collects the requests of a pass for a tool. If something is unknown for one request, the values
// over all requests are unknown; the reason then describes the first such request and says how many there
// are.
type gather struct {
	all, served, failed int
	unclear             reasons
	ok                  []*records.Request // the served requests
	first               time.Duration      // first send of all requests
	last                time.Duration      // last end of all requests, since the pass began or its warm-up was over
	lastServed          time.Duration      // the same of the served requests
}

// reasons counts the requests for which something is unknown.
type reasons struct {
	n   int
	why string
}

func (r *reasons) add(why string) {
	if r.n == 0 {
		r.why = why
	}
	r.n++
}

// of returns an unknown value with the reason, or the zero Value if there is no reason. all is the number of all
// requests.
func (r *reasons) of(all int) Value {
	if r.n == 0 {
		return Value{}
	}
	return cannotTell(fmt.Sprintf("of %d of %d requests: %s", r.n, all, r.why))
}

// newGather collects the requests of a pass, which the tool counts as fateOf says. It also returns figures with
// these counts; all other values are absent.
func newGather(p Pass, fateOf func(q *records.Request) (fate, string)) (*gather, Figures) {
	g := &gather{}
	for q := range p.Requests {
		if g.all == 0 || q.Start < g.first {
			g.first = q.Start
		}
		g.all++
		end := q.End - p.Head.WarmupFor
		g.last = max(g.last, end)
		switch f, why := fateOf(q); f {
		case served:
			g.served++
			g.ok = append(g.ok, q)
			g.lastServed = max(g.lastServed, end)
		case failed:
			g.failed++
		case uncounted:
		default:
			g.unclear.add(why)
		}
	}
	f := every(absent())
	f.Completed, f.Failed = g.certain(exact(float64(g.served))), g.certain(exact(float64(g.failed)))
	return g, f
}

// certain returns v, a value over all requests, or an unknown Value if it is unknown whether the tool counts a request
// as served or failed.
func (g *gather) certain(v Value) Value { return g.unclear.of(g.all).plus(v) }

// each calls of for each served request. If of never returns a reason, each returns the zero Value.
// Otherwise it returns an unknown Value that says why values over all requests are unknown.
func (g *gather) each(of func(q *records.Request) (why string)) Value {
	if v := g.unclear.of(g.all); !v.known() {
		return v
	}
	var r reasons
	for _, q := range g.ok {
		if why := of(q); why != "" {
			r.add(why)
		}
	}
	return r.of(g.all)
}

// sum returns the sum of a number over the served requests.
func (g *gather) sum(of func(q *records.Request) (int, string)) Value {
	sum := 0
	why := g.each(func(q *records.Request) string {
		n, why := of(q)
		sum += n
		return why
	})
	return why.plus(exact(float64(sum)))
}

// whole summarizes times over all served requests. of adds the times of one request to d.
func (g *gather) whole(at percentile, of func(q *records.Request, d *records.Dist) (why string)) Latency {
	var s series
	if v := g.each(func(q *records.Request) string { return of(q, &s.whole) }); !v.known() {
		return noLatency(v)
	}
	return latency(&s, at)
}

// parts summarizes a value over the served requests that have it.
func (g *gather) parts(at percentile, of func(q *records.Request) (v float64, has bool, why string)) Latency {
	s := &series{}
	if v := g.each(func(q *records.Request) string {
		v, has, why := of(q)
		if has {
			s.add(v)
		}
		return why
	}); !v.known() {
		return noLatency(v)
	}
	return latency(s, at)
}

// since returns a function for whole that adds the time from the send to an instant.
func since(of func(q *records.Request) (time.Duration, string)) func(*records.Request, *records.Dist) string {
	return func(q *records.Request, d *records.Dist) string {
		at, why := of(q)
		if why == "" {
			d.Add(between(q.Start, at))
		}
		return why
	}
}

// between returns the time from one instant to another. It returns 0 if the second instant comes first,
// which is possible because the send is measured on the client's clock and the answer may be measured on
// the kernel's. Other tools use only one clock.
func between(from, to time.Duration) time.Duration { return max(0, to-from) }

// seconds returns d in seconds.
func seconds(d time.Duration) Value { return exact(d.Seconds()) }

// perSecond computes the rates of f from its counts.
func (f *Figures) perSecond() {
	f.Requests = f.Completed.over(f.Duration, noTime)
	f.Output = f.OutputTokens.over(f.Duration, noTime)
	f.Total = f.InputTokens.plus(f.OutputTokens).over(f.Duration, noTime)
}
