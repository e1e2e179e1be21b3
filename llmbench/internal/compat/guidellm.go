package compat

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// GuideLLM is `guidellm benchmark`
// (https://github.com/vllm-project/guidellm/blob/main/src/guidellm/schemas/request_stats.py
// and statistics.py beside it).
//
//   - TTFT ends at the first text. The latency ends at the end of the stream.
//   - TPOT = (last text - send) / output tokens, so it includes the TTFT.
//   - ITL = (last text - first text) / (output tokens - 1), one value per request.
//   - In means and percentiles of TPOT and ITL, requests are weighted by their tokens.
//   - Output tokens are usage, or without usage the number of messages with text.
//   - The p-th percentile is the smallest value whose cumulative share reaches p.
//   - Rates are distributions over time, from the start to the end of the tool's scheduler.
func GuideLLM(p Pass) Figures {
	if why := speaksOpenAI(p, "guidellm"); why != "" {
		return nothing(why)
	}
	g, f := newGather(p, usual)
	f.Duration = cannotTell("it is from the scheduler's own start to its end")
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(guidellmTokens)
	f.Requests = cannotTell("its rates are distributions over the scheduler's own time")
	f.Output, f.Total = f.Requests, f.Requests
	weigh := func(of func(q *records.Request, w *weighted) string) Latency {
		w := &weighted{}
		if v := g.each(func(q *records.Request) string { return of(q, w) }); !v.known() {
			return noLatency(v)
		}
		return latencyOf(w)
	}
	f.E2E = weigh(func(q *records.Request, w *weighted) string {
		w.add(float64(between(q.Start, q.End)), 1)
		return ""
	})
	f.TTFT = weigh(func(q *records.Request, w *weighted) string {
		ttft := 0.0 // for an answer without a first token
		if q.Deltas > 0 {
			first, why := firstText(q)
			if why != "" {
				return why
			}
			ttft = float64(between(q.Start, first))
		}
		w.add(ttft, 1)
		return ""
	})
	f.TPOT = weigh(func(q *records.Request, w *weighted) string {
		n, why := guidellmTokens(q)
		last := q.End
		if q.Deltas > 0 && why == "" {
			last, why = lastText(q)
		}
		if n > 0 {
			w.add(float64(between(q.Start, last))/float64(n), float64(n))
		}
		return why
	})
	if p.Head.Stream {
		f.ITL = weigh(func(q *records.Request, w *weighted) string {
			n, why := guidellmTokens(q)
			if q.Deltas > 0 && calledTools(q) {
				return whyTools
			}
			if n > 1 && q.Deltas > 0 {
				w.add(float64(q.Last-q.First)/float64(n-1), float64(n-1))
			}
			return why
		})
	}
	return f
}

func guidellmTokens(q *records.Request) (int, string) {
	switch {
	case q.TokenSource == sample.FromUsage:
		return int(q.OutputTokens), ""
	case q.Deltas > 0 && calledTools(q):
		return 0, whyTools
	case q.Deltas > 0:
		return int(q.Deltas), ""
	}
	return 0, "the server did not report its output tokens, and it was not streamed"
}
