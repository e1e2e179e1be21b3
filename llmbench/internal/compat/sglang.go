package compat

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// SGLang is `python -m sglang.bench_serving` with OpenAI's endpoints
// (https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py).
//
//   - TTFT ends at the first text, content or reasoning. The TTFT of an answer without text is 0, and is
//     included in the mean. E2E ends at the last line of any kind, including [DONE].
//   - ITL values are the gaps between messages with text.
//   - TPOT = (E2E - TTFT) / (output tokens - 1), for answers with more than one token.
//   - Output tokens are usage, or without usage the number of tokens that were requested. Input tokens are
//     the prompt lengths that the data set intended, not those that the server reported.
//   - Rates are computed over a time that ends when the server has answered /server_info, so the rates here
//     are upper bounds.
//   - An answer with status 200 and no exception is a success, even if [DONE] is its only event. A body
//     without any event is a failure. Failures are not printed. Percentiles are interpolated linearly, as
//     by numpy.
//   - Peaks are per second, as in vLLM, and count messages with text. The concurrency is the sum of all
//     latencies divided by the time.
func SGLang(p Pass) Figures {
	const tool = "sglang.bench_serving"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	g, f := newGather(p, func(q *records.Request) (fate, string) {
		switch {
		case q.Outcome == sample.Empty:
			any, why := anyEvent(q)
			switch {
			case why != "":
				return unclear, why
			case any:
				return served, ""
			}
			return failed, ""
		case answeredError(q) && p.Head.Dialect == "openai-chat":
			return served, ""
		case answeredError(q):
			return failed, ""
		case endedCleanly(q) && !cutEvent(q):
			return served, ""
		}
		return usual(q)
	})
	f.Duration = g.certain(Value{V: g.last.Seconds(), Bound: AtLeast})
	f.InputTokens = g.sum(sglangPrompt)
	f.OutputTokens = g.sum(sglangTokens)
	f.perSecond()
	first := func(q *records.Request) (time.Duration, string) {
		switch {
		case !q.Streamed:
			return q.End, ""
		case q.Deltas == 0:
			return q.Start, ""
		}
		return firstText(q)
	}
	last := func(q *records.Request) (time.Duration, string) {
		switch {
		case !q.Streamed:
			return q.End, ""
		case q.Done > 0:
			return q.Done, ""
		}
		return lastEvent(q)
	}
	f.TTFT, f.E2E = orZero(g.whole(linear, since(first))), g.whole(linear, since(last))
	f.ITL = orZero(g.whole(linear, textGaps))
	f.TPOT = orZero(g.parts(linear, perToken(first, last, sglangTokens)))
	f.PeakOutput, f.PeakRequests = g.peaks(func(q *records.Request, each func(time.Duration)) string {
		at, why := first(q)
		if why != "" {
			return why
		}
		each(at)
		for gap := range q.Gaps() {
			at += gap
			each(at)
		}
		return ""
	}, last)
	f.Extra = map[string]Latency{
		"Input token throughput": noLatency(f.InputTokens.over(f.Duration, noTime)),
		"Concurrency":            noLatency(f.E2E.Mean.times(1e-9*float64(f.E2E.N)).over(f.Duration, noTime)),
	}
	return f
}

func sglangTokens(q *records.Request) (int, string) {
	switch {
	case q.TokenSource == sample.FromUsage:
		return int(q.OutputTokens), ""
	case q.MaxTokens > 0:
		return int(q.MaxTokens), ""
	}
	return 0, whyMost
}

func sglangPrompt(q *records.Request) (int, string) {
	switch {
	case q.Turn > 0:
		return 0, "it belongs to a session, and the tool does not add up the prompts of a session"
	case q.AskedTokens == 0:
		return 0, whyAsked
	}
	return int(q.AskedTokens), ""
}
