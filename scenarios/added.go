package scenarios

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A latency is a duration of a request at the client, and the same at the server, by the server's own log.
type latency struct {
	unit   string // part of the names of units
	whole  bool   // of answers that are not streamed
	client func(*sample.Sample) (time.Duration, bool)
	server func(s *sample.Sample, e logEntry) (time.Duration, bool)
}

// addedLatencies are the latencies to which a gateway may add something.
var addedLatencies = []latency{
	{"ttft", false, (*sample.Sample).TTFT, func(_ *sample.Sample, e logEntry) (time.Duration, bool) { return e.firstToken(), true }},
	{"itl", false, meanGap, func(s *sample.Sample, e logEntry) (time.Duration, bool) {
		n := len(e.Tokens)
		if n != s.Deltas {
			return 0, false
		}
		return (e.Tokens[n-1] - e.Tokens[1]) / time.Duration(n-2), true
	}},
	{"e2e", false, (*sample.Sample).E2E, func(_ *sample.Sample, e logEntry) (time.Duration, bool) {
		return e.Tokens[len(e.Tokens)-1] - e.reached(), true
	}},
	{"whole", true, (*sample.Sample).E2E, func(_ *sample.Sample, e logEntry) (time.Duration, bool) { return e.End - e.reached(), true }},
}

// meanGap returns the mean time between the deltas of a request, from the second delta on: to the first delta, a gateway
// may add what it does once for each answer. One value for each request, because the gaps of a request are not
// independent.
func meanGap(s *sample.Sample) (time.Duration, bool) {
	if s.Deltas < 3 {
		return 0, false
	}
	return (s.Last - s.First - s.Gaps[0]) / time.Duration(s.Deltas-2), true
}

// An overhead is what a gateway adds to the latencies of a server.
type overhead struct {
	direct, gateway iter.Seq[*sample.Sample] // the requests to the server, and through the gateway
	log             serverLog                // of the server; nil if it has none, or if not all requests are in it

	figures map[string]float64
	notes   []string
	streams string        // that the gateway buffers streams or holds back tokens; "" if it does neither
	hasGap  bool          // added-itl-ms is among the figures
	late    time.Duration // see sample.FindBursts
}

// overheadOf computes by how much latencies through the gateway are longer than direct ones. If the log has all
// requests, a request's latency is the one at the client less the one in the server's log, so that differences between
// the server's answers cancel.
//
// Each round, which is a pass of both, is one observation: the median of all differences between its requests. For late see
// [sample.FindBursts].
func overheadOf(direct, gateway iter.Seq[*sample.Sample], log serverLog, late time.Duration) *overhead {
	o := &overhead{direct: direct, gateway: gateway, late: late, figures: map[string]float64{}}
	if len(log) > 0 && log.covers(direct) && log.covers(gateway) {
		o.log = log
	}
	buffers, server := sample.FindBursts(gateway, late), sample.FindBursts(direct, late)
	switch {
	case server.Found():
		o.note("answers come in bursts without the gateway (%v): what it adds to the first token and to gaps has no meaning and is omitted", server)
	case buffers.Found():
		o.streams = fmt.Sprintf("the gateway buffers streams: through it, answers come in bursts (%v); without it, %d of %d do", buffers, server.InBursts, server.Streams)
	}
	whole := ""
	if !buffers.Found() && !server.Found() {
		whole = o.whole()
	}
	if whole != "" {
		o.streams = "the gateway buffers streams: " + whole
	}
	if o.streams != "" {
		o.note("%s: what it adds to the first token and to gaps has no meaning and is omitted", o.streams)
	}
	for _, l := range addedLatencies {
		if (l.unit == "ttft" || l.unit == "itl") && (buffers.Found() || server.Found() || whole != "") {
			continue
		}
		o.add(l)
	}
	if o.hasGap {
		o.judgeGap()
	}
	return o
}

func (o *overhead) note(format string, args ...any) {
	o.notes = append(o.notes, fmt.Sprintf(format, args...))
}

// add computes the figures of a latency.
func (o *overhead) add(l latency) {
	of := func(s *sample.Sample) (time.Duration, bool) {
		if l.whole == s.Streamed {
			return 0, false
		}
		d, has := l.client(s)
		if o.log == nil || !has {
			return d, has
		}
		own, has := l.server(s, o.log[s.ID])
		return d - own, has
	}
	from, to := byPass(o.direct, of), byPass(o.gateway, of)
	var rounds, allFrom, allTo []time.Duration
	for pass, values := range from {
		if len(to[pass]) > 0 {
			rounds = append(rounds, shiftOf(values, to[pass]))
			allFrom, allTo = append(allFrom, values...), append(allTo, to[pass]...)
		}
	}
	if len(rounds) == 0 {
		return
	}
	set := func(unit string, d time.Duration) {
		o.figures["added-"+unit+"-ms"] = d.Seconds() * 1000
	}
	e := estimateOf(rounds)
	set(l.unit, e.Of)
	o.hasGap = o.hasGap || l.unit == "itl"
	if e.HasRange {
		set(l.unit+"-low", e.Low)
		set(l.unit+"-high", e.High)
	}
	if n := min(len(allFrom), len(allTo)); l.unit != "itl" && sample.P99.Enough(n) {
		less := 0.99
		if o.log != nil { // each request has its own value, of which the path without the gateway is a part
			less = 0.5
		}
		set("p99-"+l.unit, quantile(allTo, 0.99)-quantile(allFrom, less))
	}
}

// byPass returns the latencies of the successful requests of each pass.
func byPass(samples iter.Seq[*sample.Sample], of func(*sample.Sample) (time.Duration, bool)) map[int][]time.Duration {
	passes := map[int][]time.Duration{}
	for s := range samples {
		if s.Outcome != sample.OK {
			continue
		}
		if d, has := of(s); has {
			passes[s.Pass] = append(passes[s.Pass], d)
		}
	}
	return passes
}

// quantile returns the smallest value that at least the share q of all values do not exceed. It sorts them.
func quantile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[max(0, int(math.Ceil(q*float64(len(all))-1e-9))-1)]
}

// leastHeld is the shortest time for which a first token counts as held back.
const leastHeld = time.Millisecond

// judgeGap omits what the gateway adds to gaps if it holds back the first tokens: the later ones then catch up, and the
// gaps are shorter than the server's.
func (o *overhead) judgeGap() {
	start, server := sample.FindStart(o.gateway, o.late), sample.FindStart(o.direct, o.late)
	held := start.Found() && !(server.Found() && 3*server.Deltas > 2*start.Deltas)
	after := start.First + start.Deltas + 2 // a token that comes when it is due
	if !held {
		start.First, after = 0, math.MaxInt
	}
	first, known := o.delayOf(start.First)
	later, knownToo := o.delayOf(after)
	if !known || !knownToo {
		return
	}
	gap := o.figures["added-itl-ms"]
	high, hasRange := o.figures["added-itl-high-ms"]
	negative := hasRange && high < 0 && first-later >= leastHeld
	switch {
	case held:
		tokens := fmt.Sprintf("the first %d tokens", start.Deltas)
		if start.First > 0 {
			tokens = fmt.Sprintf("tokens %d to %d", start.First+1, start.First+start.Deltas)
		}
		o.streams = fmt.Sprintf("the gateway holds back %s for about %.3g ms (Nagle and delayed acknowledgement?), and the later ones come one by one", tokens, (first-later).Seconds()*1000)
		o.note("%s: what it adds to gaps is omitted", o.streams)
	case negative:
		o.note("the gateway holds back the first token: it adds %.3g ms to the first and %.3g ms to the last: what it adds to gaps is below 0, and omitted", first.Seconds()*1000, later.Seconds()*1000)
	case hasRange && high < 0:
		o.note("added-itl-ms is below 0 (%.3g): the gateway delays the first tokens of an answer a little more than the last", gap)
		return
	case !hasRange && gap < 0 && first-later >= leastHeld:
		o.note("added-itl-ms is omitted, because it is below 0 (%.3g), and %d rounds or more would tell whether by chance", gap, minObservations)
	default:
		return
	}
	for _, unit := range []string{"added-itl-ms", "added-itl-low-ms", "added-itl-high-ms"} {
		delete(o.figures, unit)
	}
	if held {
		o.figures[heldShare] = 100 * float64(start.Held) / float64(start.Streams)
	} else if negative {
		o.figures[heldShare] = 100 * o.shorter(leastHeld)
	}
}

// shorter returns the share of streams through the gateway whose time from the first delta to the last one is shorter by
// at least the given time than the median without the gateway.
func (o *overhead) shorter(by time.Duration) float64 {
	span := func(s *sample.Sample) (time.Duration, bool) { return s.Last - s.First, s.Deltas > 1 }
	direct, gateway := slices.Concat(slices.Collect(maps.Values(byPass(o.direct, span)))...), slices.Concat(slices.Collect(maps.Values(byPass(o.gateway, span)))...)
	if len(direct) == 0 || len(gateway) == 0 {
		return 0
	}
	most, n := quantile(direct, 0.5)-by, 0
	for _, d := range gateway {
		if d <= most {
			n++
		}
	}
	return float64(n) / float64(len(gateway))
}

// leastApart is the shortest time from the first delta to the last one of the server's streams for which it is known that
// a gateway sends them in one piece.
const leastApart = 10 * time.Millisecond

// whole says how many streams come in one piece through the gateway, if most do and the server's do not. [sample.FindBursts]
// does not judge short streams in one piece, because a server may send a few tokens at once.
func (o *overhead) whole() string {
	span := func(s *sample.Sample) (time.Duration, bool) { return s.Last - s.First, s.Deltas > 3 }
	all := func(samples iter.Seq[*sample.Sample]) []time.Duration {
		return slices.Concat(slices.Collect(maps.Values(byPass(samples, span)))...)
	}
	direct, gateway := all(o.direct), all(o.gateway)
	if len(direct) == 0 || len(gateway) == 0 {
		return ""
	}
	apart, n := quantile(direct, 0.5), 0
	for _, d := range gateway {
		if d < sample.BurstPause {
			n++
		}
	}
	if apart < leastApart || 2*n <= len(gateway) {
		return ""
	}
	return fmt.Sprintf("through it, %d of %d answers come in one piece; without it, an answer takes %.3g ms from the first token to the last", n, len(gateway), apart.Seconds()*1000)
}

// delayOf returns by how much token i comes later through the gateway, in the median. The last token has every index
// above its own.
func (o *overhead) delayOf(i int) (time.Duration, bool) {
	at := func(s *sample.Sample) (time.Duration, bool) {
		if s.Deltas < 2 {
			return 0, false
		}
		d := s.First - s.Due
		for _, gap := range s.Gaps[:min(i, s.Deltas-1)] {
			d += gap
		}
		if o.log == nil {
			return d, true
		}
		e := o.log[s.ID]
		if len(e.Tokens) != s.Deltas {
			return 0, false
		}
		return d - (e.Tokens[min(i, s.Deltas-1)] - e.reached()), true
	}
	var medians []time.Duration
	for _, samples := range []iter.Seq[*sample.Sample]{o.direct, o.gateway} {
		all := slices.Concat(slices.Collect(maps.Values(byPass(samples, at)))...)
		if len(all) == 0 {
			return 0, false
		}
		medians = append(medians, quantile(all, 0.5))
	}
	return medians[1] - medians[0], true
}
