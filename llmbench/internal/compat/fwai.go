package compat

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// FwAI is llm_bench of fw-ai/benchmark, which runs on locust
// (https://github.com/fw-ai/benchmark/blob/main/llm_bench/load_test.py).
//
//   - The time to first token ends at the first text. Without streaming there is none.
//   - The total latency ends at the end of the stream, after [DONE].
//   - The latency per token is (total latency - time to first token) / output tokens, where other tools
//     divide by output tokens - 1.
//   - Output tokens are usage, or 0 without usage. An answer with 0 tokens has no latency per token, and is
//     not included in averages of tokens.
//   - Percentiles come from locust's histogram, which keeps two digits: 3432 ms counts as 3400.
//   - A stream that is reset counts neither as a success nor as a failure. A stream that ends early without
//     an error, or with an error object after some text, is a short success. A stream that ends within an
//     event is a failure.
//   - req/s is computed over the time from the start to the last end. There is no tok/s.
func FwAI(p Pass) Figures {
	g, f := newGather(p, func(q *records.Request) (fate, string) {
		switch {
		case answeredError(q) && q.Streamed:
			if q.Deltas == 0 {
				return failed, "" // without a first token
			}
			return served, ""
		case q.OK() && calledTools(q):
			return unclear, whyTools
		case q.Outcome == sample.Empty || q.Outcome == sample.Truncated && q.Deltas == 0 && endedCleanly(q) || cutEvent(q):
			return failed, "" // without a first token, or with an event that is not JSON
		case endedCleanly(q) && calledTools(q):
			return unclear, whyTools
		case endedCleanly(q):
			return served, ""
		case q.Outcome == sample.Truncated:
			return uncounted, ""
		}
		return usual(q)
	})
	f.Duration = g.certain(seconds(g.last))
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(fwaiTokens)
	f.Requests = f.Completed.over(f.Duration, noTime)
	f.E2E = g.whole(locust, since(ended))
	perToken := func(from bool) Latency {
		return g.parts(locust, func(q *records.Request) (float64, bool, string) {
			n, _ := fwaiTokens(q)
			if n == 0 {
				return 0, false, ""
			}
			begin := q.Start
			if from {
				var why string
				if begin, why = firstText(q); why != "" {
					return 0, false, why
				}
			}
			return float64(between(begin, q.End)) / float64(n), true, ""
		})
	}
	some := func(of func(*records.Request) (int, string)) Latency {
		return g.parts(linear, func(q *records.Request) (float64, bool, string) {
			n, why := of(q)
			return float64(n), n > 0, why
		})
	}
	f.Extra = map[string]Latency{
		"Overall Latency Per Token": perToken(false),
		"Num Tokens":                some(fwaiTokens),
		"Prompt Tokens":             some(promptTokens),
	}
	if f.Extra["Cached Tokens"] = some(cachedTokens); f.Extra["Cached Tokens"].Mean.Why == noValue {
		f.Extra["Cached Tokens"] = noLatency(absent()) // or the server reported 0 for all requests
	}
	if p.Head.Stream {
		f.TTFT, f.TPOT = g.whole(locust, since(firstText)), perToken(true)
	}
	return f
}

func fwaiTokens(q *records.Request) (int, string) {
	if q.TokenSource == sample.FromUsage {
		return int(q.OutputTokens), ""
	}
	return 0, ""
}
