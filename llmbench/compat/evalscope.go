package compat

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// EvalScope is `evalscope perf` of 2026
// (https://github.com/modelscope/evalscope/tree/main/evalscope/perf).
//
//   - TTFT ends at the first message with a choice, a role's too; not streamed, it is
//     the latency. The latency ends at the last message, usage too, before [DONE].
//   - ITL is the gaps between messages with a choice.
//   - TPOT = (latency - TTFT) / (output tokens - 1), and 0 of one token, which goes
//     into means and percentiles.
//   - Rates are over the time from the first send to the last end.
//   - 200 is a success, even of nothing: without a choice its TTFT is 0.
//   - The p-th percentile is sorted[int(n*p/100)], so that of 100 values the 99th is
//     the largest, rounded to two decimals: of latencies in seconds, 10 ms.
func EvalScope(p Pass) Figures {
	const tool = "evalscope perf"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	g := gather{fate: evalscopeFate}
	g.run(p)
	var f Figures
	f.Completed, f.Failed = g.counts()
	f.Duration = g.each(func(*records.Request) string { return "" }).plus(seconds(g.last - g.first))
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(usageOr)
	f.perSecond()
	first, last := evalscopeFirst, lastEvent
	if !p.Head.Stream {
		first, last = ended, ended
	}
	f.TTFT = g.whole(rounded(1e6), since(first))
	f.E2E = g.whole(rounded(1e9), since(last))
	f.ITL = noLatency(absent())
	if p.Head.Stream {
		f.ITL = g.whole(rounded(1e6), func(q *records.Request, d *records.Dist) string {
			if noChoice(q) {
				return ""
			}
			return choiceGaps(q, d)
		})
	}
	per := perToken(first, last, usageOr)
	f.TPOT = g.parts(rounded(1e6), func(q *records.Request) (float64, bool, string) {
		v, _, why := per(q) // 0 of one token
		return v, true, why
	})
	f.Good, f.PeakOutput, f.PeakRequests = absent(), absent(), absent()
	return f
}

// evalscopeFirst is the send of an answer without a choice: its TTFT is 0.
func evalscopeFirst(q *records.Request) (time.Duration, string) {
	if noChoice(q) {
		return q.Start, ""
	}
	return firstChoice(q)
}

func evalscopeFate(q *records.Request) (fate, string) {
	if q.Outcome == sample.ServerError && q.Status == 200 || q.Outcome == sample.Empty {
		return served, ""
	}
	return usual(q)
}

// rounded is floorIndex, rounded to two decimals of a unit of so many nanoseconds.
func rounded(unit float64) percentile {
	return func(s *series, p float64) float64 {
		return math.RoundToEven(floorIndex(s, p)/unit*100) / 100 * unit
	}
}

// EvalScope2024 is `evalscope perf` of 2024, with which studies of that time were
// made (https://github.com/modelscope/evalscope/blob/v0.5.5/evalscope/perf/http_client.py),
// without streaming: of streams its formulas are not known here.
//
//   - TTFT is the latency. The time per output token is the run's time over all
//     tokens, 1 / throughput.
//   - req/s are over the time of the last answer or failure, tok/s over that of the
//     last success. Both may be up to a second late, as the collector looked once a
//     second, so that rates are at most what is said here.
//   - The p-th percentile is sorted[int(n*p/100)].
//   - Of the requests that time out some are counted as failed, and some not at all.
func EvalScope2024(p Pass) Figures {
	const tool = "evalscope perf of 2024"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	if p.Head.Stream {
		return nothing("what " + tool + " made of streams is not known here")
	}
	g := gather{fate: usual}
	g.run(p)
	var f Figures
	f.Completed, f.Failed = g.counts()
	late := func(d time.Duration) Value {
		return g.each(func(*records.Request) string { return "" }).plus(Value{V: d.Seconds(), Bound: AtLeast})
	}
	f.Duration = late(g.last)
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(usageOr)
	f.Requests, f.Output = f.Completed.over(f.Duration, noTime), f.OutputTokens.over(late(g.lastServed), noServed)
	f.Total = absent()
	f.E2E = g.whole(floorIndex, since(ended))
	f.TTFT = f.E2E
	f.TPOT = noLatency(absent())
	f.TPOT.Mean = f.Duration.over(f.OutputTokens, noToken).times(1e9)
	f.ITL = noLatency(absent())
	f.Good, f.PeakOutput, f.PeakRequests = absent(), absent(), absent()
	return f
}
