package compat

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// VLLM is `vllm bench serve`
// (https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py and
// lib/endpoint_request_func.py beside it).
//
//   - TTFT ends at the first message with a choice, even if the choice has only a role.
//     E2EL ends at the last such message, before usage and [DONE].
//   - ITL is the gaps between such messages, including a message with only a finish
//     reason. It is not per token.
//   - TPOT = (E2EL - TTFT) / (output tokens - 1), of answers with more than one token.
//   - Tokens are usage if it came in a message without a choice. Otherwise they are the
//     tokenizer's count of the text and of the prompt.
//   - Rates are over the time from before the first send to the end of the last request,
//     failed requests included. Percentiles are interpolated linearly, as by numpy.
//   - An answer with status 200 and a message with a choice is a success, however the
//     stream ended, except by a reset.
//   - Peaks are per second from the first send, and count messages, not tokens. A request
//     counts in every second in which it runs
//     (https://github.com/vllm-project/vllm/issues/56653).
func VLLM(p Pass) Figures {
	const tool = "vllm bench serve"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	if why := streams(p, tool); why != "" {
		return nothing(why)
	}
	g := gather{fate: vllmFate}
	g.run(p)
	var f Figures
	f.Completed, f.Failed = g.counts()
	f.Duration = g.each(func(*records.Request) string { return "" }).plus(seconds(g.last))
	f.InputTokens, f.OutputTokens = g.sum(vllmPrompt), g.sum(vllmTokens)
	f.perSecond()
	f.TTFT = g.whole(linear, since(firstChoice))
	f.E2E = g.whole(linear, since(lastChoice))
	f.ITL = g.whole(linear, choiceGaps)
	tpot := perToken(firstChoice, lastChoice, vllmTokens)
	f.TPOT = g.parts(linear, tpot)
	f.Good = absent()
	if slo := p.Head.Limits(); slo != (sample.SLO{}) {
		f.Good = g.sum(func(q *records.Request) (int, string) { return vllmGood(q, slo, tpot) }).over(f.Duration, noTime)
	}
	f.PeakOutput, f.PeakRequests = g.peaks(vllmEvents, lastChoice)
	return f
}

// vllmFate follows vLLM in that a message with a choice makes a success, also of an answer
// that carries an error or has no text.
func vllmFate(q *records.Request) (fate, string) {
	if q.Outcome != sample.ServerError && q.Outcome != sample.Empty {
		return usual(q)
	}
	if choices(q) > 0 {
		return served, ""
	}
	if noChoice(q) {
		return failed, ""
	}
	if q.Outcome == sample.Empty {
		if any, why := anyEvent(q); !any && why == "" {
			return failed, ""
		}
	}
	return unclear, whyChoices
}

func vllmPrompt(q *records.Request) (int, string) {
	if q.Prompt > 0 && !q.UsageAlone {
		return 0, "its usage came with a choice, where vLLM does not look, or its record does not say; it would count the prompt itself, which is not kept"
	}
	return promptTokens(q)
}

func vllmTokens(q *records.Request) (int, string) {
	if q.Source == sample.FromUsage && !q.UsageAlone {
		return 0, "its usage came with a choice, where vLLM does not look, or its record does not say; it would tokenize the text, which is not kept"
	}
	return usageOr(q)
}

// vllmGood is 1 if q keeps every limit: a TPOT of one token is 0.
func vllmGood(q *records.Request, slo sample.SLO, tpot func(*records.Request) (float64, bool, string)) (int, string) {
	first, why := firstChoice(q)
	if why != "" {
		return 0, why
	}
	per := 0.0
	if slo.TPOT > 0 {
		if per, _, why = tpot(q); why != "" {
			return 0, why
		}
	}
	within := func(limit time.Duration, v float64) bool { return limit == 0 || v <= float64(limit) }
	if within(slo.TTFT, float64(first-q.Start)) && within(slo.TPOT, per) && within(slo.E2E, float64(q.ChoiceLast-q.Start)) {
		return 1, ""
	}
	return 0, ""
}

// vllmEvents calls each with the instants of the messages with a choice.
func vllmEvents(q *records.Request, each func(time.Duration)) string {
	if why := choicesKnown(q); why != "" {
		return why
	}
	at := q.ChoiceFirst
	each(at)
	if q.Before == 1 && q.Deltas > 0 {
		at = q.First
		each(at)
	}
	for gap := range q.Gaps() {
		at += gap
		each(at)
	}
	if q.After == 1 || q.Deltas == 0 && choices(q) == 2 {
		each(q.ChoiceLast)
	}
	return ""
}
