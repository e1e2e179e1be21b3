package compat

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A vllm describes a range of vLLM releases.
type vllm struct {
	usageEnds  bool // in chats, the message with usage ends E2EL, and an answer without a choice is a success
	countsIn   bool // prompt tokens are counted by the client
	failedLine bool
	peakLines  bool
	totalLabel string
	resultRTFx bool
}

// vllmVersions are the ranges of vLLM releases that differ. The labels before and after #23867, #26478 and
// #30403, and the rtfx of #32300, were read in the commits, dated 2025-09-17, 2025-10-16, 2025-12-10 and
// 2026-02-09. For #38654 (2026-04-14) and #55508, only the descriptions were read. Tags above 0.10 were not
// read: the first release that contains a commit is assumed to be the first release after the commit's
// date. A boundary may therefore be off by one release.
var vllmVersions = []Version{
	vllm{failedLine: true, peakLines: true, totalLabel: "Total token throughput (tok/s):", resultRTFx: true}.
		version("0.30", "E2EL and TPOT of chats end at the last message with a choice; an answer without one is a failure (vllm-project/vllm#55508)"),
	vllm{failedLine: true, peakLines: true, totalLabel: "Total token throughput (tok/s):", resultRTFx: true, usageEnds: true}.
		version("0.20", "input tokens are usage (vllm-project/vllm#38654)"),
	vllm{failedLine: true, peakLines: true, totalLabel: "Total token throughput (tok/s):", resultRTFx: true, usageEnds: true, countsIn: true}.
		version("0.17", "the file of results has rtfx, which 0.16 may have too (vllm-project/vllm#32300)"),
	vllm{failedLine: true, peakLines: true, totalLabel: "Total token throughput (tok/s):", usageEnds: true, countsIn: true}.
		version("0.13", `"Total token throughput" in place of "Total Token throughput" (vllm-project/vllm#30403)`),
	vllm{failedLine: true, peakLines: true, totalLabel: "Total Token throughput (tok/s):", usageEnds: true, countsIn: true}.
		version("0.11.1", "a line about failed requests (vllm-project/vllm#26478)"),
	vllm{peakLines: true, totalLabel: "Total Token throughput (tok/s):", usageEnds: true, countsIn: true}.
		version("0.11", "lines about peaks (vllm-project/vllm#23867)"),
	vllm{totalLabel: "Total Token throughput (tok/s):", usageEnds: true, countsIn: true}.
		version("0.10.1", "E2EL and TPOT of chats end at the message with usage; input tokens are the client's own count"),
}

func (v vllm) version(since, about string) Version {
	return Version{Since: since, About: about, figures: v.figures, print: v.block, result: v.save}
}

// figures computes what a range of releases of `vllm bench serve` prints
// (https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py and
// lib/endpoint_request_func.py beside it).
//
//   - TTFT ends at the first message with a choice, even if the choice has only a role. E2EL ends at the
//     last such message, before usage and [DONE]. In chats of releases before 0.30, E2EL ends at usage, and
//     an answer without a choice is a success with a TTFT of 0.
//   - ITL values are the gaps between such messages, including a message that has only a finish reason.
//     They are not per token.
//   - TPOT = (E2EL - TTFT) / (output tokens - 1), for answers with more than one token.
//   - Tokens are usage if usage came in a message without a choice. Otherwise they are the tokenizer's
//     count of the text and of the prompt. Releases before 0.20 always count the prompt by the tokenizer.
//   - Rates are computed over the time from before the first send to the end of the last request, including
//     failed requests. Percentiles are interpolated linearly, as by numpy. Means and percentiles of no
//     values are 0.
//   - An answer with status 200 and a message with a choice is a success, however the stream ended, unless
//     it was reset.
//   - Peaks are per second, counted from the first send, and count messages, not tokens. A request counts
//     in every second in which it runs (https://github.com/vllm-project/vllm/issues/56653).
func (v vllm) figures(p Pass) Figures {
	const tool = "vllm bench serve"
	if why := speaksOpenAI(p, tool); why != "" {
		return nothing(why)
	}
	if why := streams(p, tool); why != "" {
		return nothing(why)
	}
	first, last, prompt, fate := firstChoice, lastChoice, vllmPrompt, vllmFate
	if v.usageEnds && p.Head.Dialect == "openai-chat" {
		first, last, fate = sendOr(firstChoice), sendOr(lastEvent), ok200
	}
	if v.countsIn {
		prompt = func(*records.Request) (int, string) {
			return 0, "this release counts the prompt itself, and the record does not hold the prompt"
		}
	}
	g, f := newGather(p, fate)
	f.Duration = g.certain(seconds(g.last))
	f.InputTokens, f.OutputTokens = g.sum(prompt), g.sum(vllmTokens)
	f.perSecond()
	f.TTFT = orZero(g.whole(linear, since(first)))
	f.E2E = orZero(g.whole(linear, since(last)))
	f.ITL = orZero(g.whole(linear, choiceGaps))
	tpot := perToken(first, last, vllmTokens)
	f.TPOT = orZero(g.parts(linear, tpot))
	if slo := p.Head.Limits(); slo != (sample.SLO{}) {
		f.Good = g.sum(func(q *records.Request) (int, string) { return vllmGood(q, slo, first, last, tpot) }).over(f.Duration, noTime)
	}
	if v.peakLines {
		f.PeakOutput, f.PeakRequests = g.peaks(vllmEvents, last)
	}
	return f
}

// vllmFate counts requests as vLLM does: an answer with a message that has a choice is a success, even if
// the answer carries an error, has no text or was cut.
func vllmFate(q *records.Request) (fate, string) {
	fate, why := ok200(q)
	switch {
	case why != "" || q.OK() || fate != served || choices(q) > 0:
		return fate, why
	case noChoice(q):
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
	if q.PromptTokens > 0 && !q.UsageAlone {
		return 0, "its usage came in a message with a choice, where vLLM does not look for usage, or the record does not say; vLLM would count the prompt itself, which the record does not hold"
	}
	return promptTokens(q)
}

func vllmTokens(q *records.Request) (int, string) {
	if q.TokenSource == sample.FromUsage && !q.UsageAlone {
		return 0, "its usage came in a message with a choice, where vLLM does not look for usage, or the record does not say; vLLM would tokenize the text, which the record does not hold"
	}
	return usageOr(q)
}

// vllmGood returns 1 if q meets every limit, otherwise 0. The TPOT of one token is 0.
func vllmGood(q *records.Request, slo sample.SLO, first, last func(*records.Request) (time.Duration, string), tpot func(*records.Request) (float64, bool, string)) (int, string) {
	begin, why := first(q)
	if why != "" {
		return 0, why
	}
	end, why := last(q)
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
	if within(slo.TTFT, float64(begin-q.Start)) && within(slo.TPOT, per) && within(slo.E2E, float64(end-q.Start)) {
		return 1, ""
	}
	return 0, ""
}

// vllmEvents calls each with the instant of each message with a choice.
func vllmEvents(q *records.Request, each func(time.Duration)) string {
	if noChoice(q) {
		each(q.Start) // its TTFT is 0
		return ""
	}
	if why := choicesKnown(q); why != "" {
		return why
	}
	at := q.Choices.First
	each(at)
	if q.Choices.Before == 1 && q.Deltas > 0 {
		at = q.First
		each(at)
	}
	for gap := range q.Gaps() {
		at += gap
		each(at)
	}
	if q.Choices.After == 1 || q.Deltas == 0 && choices(q) == 2 {
		each(q.Choices.Last)
	}
	return ""
}
