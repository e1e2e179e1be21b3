package compat

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// AIPerf is `aiperf profile`, with --use-server-token-count if the server reported usage
// (https://github.com/ai-dynamo/aiperf/blob/main/docs/metrics-reference.md).
//
//   - TTFT ends at the first message whose content is not empty, and the request latency at the last such
//     message.
//   - ITL = (request latency - TTFT) / (output tokens - 1), one value per request. Other tools call this
//     TPOT.
//   - Output tokens are a tokenizer's count of the text, or usage with the flag above.
//   - Rates are computed over the time from the first send to the last response.
func AIPerf(p Pass) Figures {
	if why := speaksOpenAI(p, "aiperf"); why != "" {
		return nothing(why)
	}
	g, f := newGather(p, usual)
	first, last := firstText, lastText
	if !p.Head.Stream {
		first, last = ended, ended
	}
	var end time.Duration
	why := g.each(func(q *records.Request) string {
		at, why := last(q)
		end = max(end, at)
		return why
	})
	f.Duration = why.plus(seconds(between(g.first, end)))
	if len(g.ok) == 0 && why.known() {
		f.Duration = cannotTell(noServed + ", and it ends at the last text")
	}
	f.InputTokens, f.OutputTokens = g.sum(promptTokens), g.sum(usageOr)
	f.perSecond()
	f.E2E = g.whole(linear, since(last))
	if p.Head.Stream {
		f.TTFT = g.whole(linear, since(first))
		f.ITL = g.parts(linear, perToken(first, last, usageOr))
	}
	return f
}
