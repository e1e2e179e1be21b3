package compat

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// EvalScope is `evalscope perf`, as of 2026
// (https://github.com/modelscope/evalscope/tree/main/evalscope/perf).
//
//   - TTFT ends at the first message with a choice, even if the choice has only a role. Without streaming,
//     TTFT is the latency. The latency ends at the last message before [DONE], which may contain only
//     usage.
//   - ITL values are the gaps between messages with a choice.
//   - TPOT = (latency - TTFT) / (output tokens - 1). The TPOT of an answer with one token is 0, and is
//     included in means and percentiles.
//   - Rates are computed over the time from the first send to the last end of an answer with status 200.
//   - Each answer with status 200 is a success. The TTFT of an answer without a choice is 0.
//   - The p-th percentile is sorted[int(n*p/100)], so the 99th percentile of 100 values is the largest. It
//     is rounded to two decimals of a second, which is 10 ms.
func EvalScope(p Pass) Figures {
	const tool = "evalscope perf"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	g, f := newGather(p, ok200)
	first, last := sendOr(firstChoice), evalscopeLast(p)
	if !p.Head.Stream {
		first = ended
	}
	end := g.first // failures do not extend the time
	why := g.each(func(q *records.Request) string {
		at, why := last(q)
		end = max(end, at)
		return why
	})
	f.Duration = why.plus(seconds(end - g.first))
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(usageOr)
	f.perSecond()
	f.TTFT = g.whole(rounded(1e6), since(first))
	f.E2E = g.whole(rounded(1e9), since(last))
	if p.Head.Stream {
		f.ITL = g.whole(rounded(1e6), choiceGaps)
	}
	per := perToken(first, last, usageOr)
	tpot := func(q *records.Request) (float64, bool, string) {
		v, _, why := per(q) // the TPOT of one token is 0
		return v, true, why
	}
	f.TPOT = g.parts(rounded(1e6), tpot)
	f.Extra = evalscopeExtra(g, last, tpot)
	return f
}

// evalscopeLast returns a function for the end of an answer: the last message before [DONE], or the send if
// the answer has no message.
func evalscopeLast(p Pass) func(*records.Request) (time.Duration, string) {
	if !p.Head.Stream {
		return ended
	}
	return sendOr(lastEvent)
}

// evalscopeExtra returns the rows of the table of percentiles that are not latencies, the share of cached
// tokens, and the tokens per message. Only requests with more than one token per message count for the last
// value.
func evalscopeExtra(g *gather, last func(*records.Request) (time.Duration, string), tpot func(*records.Request) (float64, bool, string)) map[string]Latency {
	count := func(of func(*records.Request) (int, string)) Latency {
		return g.parts(rounded(1), func(q *records.Request) (float64, bool, string) {
			n, why := of(q)
			return float64(n), true, why
		})
	}
	perSecond := func(of func(*records.Request) (int, string)) Latency {
		return g.parts(rounded(1), func(q *records.Request) (float64, bool, string) {
			n, why := of(q)
			if why != "" {
				return 0, false, why
			}
			end, why := last(q)
			if why == "" && end <= q.Start {
				why = whyNaN
			}
			return float64(n) / (end - q.Start).Seconds(), true, why
		})
	}
	all := func(q *records.Request) (int, string) {
		in, why := promptTokens(q)
		if why != "" {
			return 0, why
		}
		out, why := usageOr(q)
		return in + out, why
	}
	cached, in := 0, 0
	hits := g.each(func(q *records.Request) string {
		cached += int(q.CachedTokens)
		in += int(q.PromptTokens)
		return ""
	})
	if hits = hits.plus(exact(100*float64(cached))).over(exact(float64(in)), "no token was prompted"); cached == 0 {
		hits = absent() // or the server reported 0 for all requests
	}
	return map[string]Latency{
		"Input tokens": count(promptTokens), "Output tokens": count(usageOr),
		"Output (tok/s)": perSecond(usageOr), "Total (tok/s)": perSecond(all),
		"Decode (tok/s)": g.parts(rounded(1), func(q *records.Request) (float64, bool, string) {
			v, _, why := tpot(q)
			if why == "" && v <= 0 {
				why = whyNaN
			}
			return 1e9 / v, true, why
		}),
		"KV Cache Hit Rate (%)": noLatency(hits),
		"Avg Decoded Tok/Iter": g.parts(linear, func(q *records.Request) (float64, bool, string) {
			n, why := usageOr(q)
			messages := choices(q)
			if why != "" || n < 2 || messages < 2 || n <= messages {
				return 0, false, why
			}
			return float64(n-1) / float64(messages-1), true, ""
		}),
	}
}

// whyNaN is why percentiles are unknown if a value is not a number.
const whyNaN = "the tool divides by 0, and sorts what is not a number"

// rounded returns a rule that is like floorIndex, but rounds to two decimals of unit. unit is in
// nanoseconds.
func rounded(unit float64) percentile {
	return func(s *series, p float64) float64 {
		return math.RoundToEven(floorIndex(s, p)/unit*100) / 100 * unit
	}
}

// EvalScope2024 is `evalscope perf` as of 2024, which studies of that time used
// (https://github.com/modelscope/evalscope/blob/v0.5.5/evalscope/perf/http_client.py). Only runs without
// streaming are supported; for streams, all values are unknown.
//
//   - TTFT is the latency. The time per output token is the run's time / all output tokens, which is 1 /
//     throughput.
//   - req/s is computed over the time until the last answer or failure, and tok/s over the time until the
//     last success. EvalScope looked for answers only once a second, so its times may be up to a second
//     longer, and the rates here are upper bounds.
//   - The p-th percentile is sorted[int(n*p/100)].
//   - Some requests that time out count as failed, and others are not counted.
func EvalScope2024(p Pass) Figures {
	const tool = "evalscope perf of 2024"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	if p.Head.Stream {
		return nothing("what " + tool + " made of streams is not known here")
	}
	g, f := newGather(p, usual)
	late := func(d time.Duration) Value { return g.certain(Value{V: d.Seconds(), Bound: AtLeast}) }
	f.Duration = late(g.last)
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(usageOr)
	f.Requests, f.Output = f.Completed.over(f.Duration, noTime), f.OutputTokens.over(late(g.lastServed), noServed)
	f.E2E = g.whole(floorIndex, since(ended))
	f.TTFT = f.E2E
	f.TPOT.Mean = f.Duration.over(f.OutputTokens, noToken).times(1e9)
	return f
}
