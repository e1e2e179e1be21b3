package compat

import (
	"fmt"
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// A Pass is what one run of a tool is: the requests of one pass.
type Pass struct {
	Head     *records.Head
	Requests iter.Seq[*records.Request]
}

// Of is a pass of a run, from 0.
func Of(run *records.Run, pass int) Pass {
	if pass == 0 && run.Passes() == 1 {
		return Pass{&run.Head, run.All()}
	}
	return Pass{&run.Head, run.Pass(pass)}
}

// Figures are what a tool would have said of a pass.
type Figures struct {
	Completed, Failed         Value // requests, as the tool counts them
	Duration                  Value // in seconds
	InputTokens, OutputTokens Value
	Requests, Good            Value // requests per second; Good, those within the SLO
	Output, Total             Value // tokens per second
	TTFT, TPOT, ITL, E2E      Latency
	PeakOutput, PeakRequests  Value // "peak" tokens per second, requests at once
	Extra                     map[string]Latency
}

// A Latency is one of a tool's latencies, in nanoseconds.
type Latency struct {
	N    int // values it is made of
	Mean Value
	std  func() float64
	at   func(p float64) float64 // percentile; nil if it cannot be told
	none Value                   // why
}

// At is the p-th percentile, p in [0,100], by the tool's own rule.
func (l Latency) At(p float64) Value {
	if l.at == nil {
		return l.none
	}
	return exact(l.at(p))
}

// Std is the standard deviation, of n values by n.
func (l Latency) Std() Value {
	if l.std == nil {
		return l.none
	}
	return exact(l.std())
}

// noLatency is one that there is not, and why.
func noLatency(v Value) Latency { return Latency{Mean: v, none: v} }

// latency summarizes s by a rule.
func latency(s *series, at percentile) Latency {
	if s.n() == 0 {
		return noLatency(cannotTell("no request has one"))
	}
	return Latency{N: s.n(), Mean: exact(s.mean()), std: s.std, at: func(p float64) float64 { return at(s, p) }}
}

// latencyOf summarizes w.
func latencyOf(w *weighted) Latency {
	if len(w.pairs) == 0 {
		return noLatency(cannotTell("no request has one"))
	}
	n := len(w.pairs)
	return Latency{N: n, Mean: exact(w.mean()), std: w.std, at: w.percentile}
}

// A fate is what a tool makes of a request.
type fate int

const (
	served fate = iota
	failed
	unclear // the records do not say
)

// A gather goes over a pass for a tool. What cannot be told of one request cannot be
// told of all that is made of it: the first reason stands, with how many have it.
type gather struct {
	fate func(q *records.Request) (fate, string)

	all, served, failed int
	unclear             reasons
	ok                  []*records.Request // those served
	first, last         time.Duration      // first send and last end of all
	lastServed          time.Duration      // last end of those served
}

// reasons counts requests of which something cannot be told.
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

// of says it of so many requests.
func (r *reasons) of(all int) Value {
	return cannotTell(fmt.Sprintf("of %d of %d requests: %s", r.n, all, r.why))
}

func (g *gather) run(p Pass) {
	for q := range p.Requests {
		if g.all == 0 || q.Start < g.first {
			g.first = q.Start
		}
		g.all++
		g.last = max(g.last, q.End)
		switch f, why := g.fate(q); f {
		case served:
			g.served++
			g.ok = append(g.ok, q)
			g.lastServed = max(g.lastServed, q.End)
		case failed:
			g.failed++
		default:
			g.unclear.add(why)
		}
	}
}

// counts are the numbers of requests that were served and that failed.
func (g *gather) counts() (completed, failures Value) {
	if g.unclear.n > 0 {
		v := g.unclear.of(g.all)
		return v, v
	}
	return exact(float64(g.served)), exact(float64(g.failed))
}

// each calls of for each request that was served, and says why something made of
// all of them cannot be told: that is the zero Value if it can.
func (g *gather) each(of func(q *records.Request) (why string)) Value {
	if g.unclear.n > 0 {
		return g.unclear.of(g.all)
	}
	var r reasons
	for _, q := range g.ok {
		if why := of(q); why != "" {
			r.add(why)
		}
	}
	if r.n > 0 {
		return r.of(g.all)
	}
	return Value{}
}

// sum adds what of gives for each request that was served.
func (g *gather) sum(of func(q *records.Request) (int, string)) Value {
	sum := 0
	why := g.each(func(q *records.Request) string {
		n, why := of(q)
		sum += n
		return why
	})
	return why.plus(exact(float64(sum)))
}

// whole summarizes a time of each request, or what of adds for it.
func (g *gather) whole(at percentile, of func(q *records.Request, d *records.Dist) (why string)) Latency {
	var s series
	if v := g.each(func(q *records.Request) string { return of(q, &s.whole) }); !v.known() {
		return noLatency(v)
	}
	return latency(&s, at)
}

// parts summarizes a figure of each request that has one.
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

// since makes whole's function of one instant: the time from the send until then.
func since(of func(q *records.Request) (time.Duration, string)) func(*records.Request, *records.Dist) string {
	return func(q *records.Request, d *records.Dist) string {
		at, why := of(q)
		if why == "" {
			d.Add(max(0, at-q.Start)) // the clocks' error may be before the send
		}
		return why
	}
}

// seconds makes a Value of a time.
func seconds(d time.Duration) Value { return exact(d.Seconds()) }

// perSecond fills the rates of f from its counts.
func (f *Figures) perSecond() {
	f.Requests = f.Completed.over(f.Duration, noTime)
	f.Output = f.OutputTokens.over(f.Duration, noTime)
	f.Total = f.InputTokens.plus(f.OutputTokens).over(f.Duration, noTime)
}
