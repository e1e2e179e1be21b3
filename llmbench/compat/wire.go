package compat

import (
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// What follows is asked of a request by the formulas of several tools. Each says
// why, where a record does not hold it.

const (
	whyGivenUp   = "this client gave it up; how it would have gone on is not known"
	whyCut       = "its stream was cut: by a reset it failed, by a clean end it did not, and the record does not say which"
	whyChoices   = "its record does not say when events with a choice came (it is older than that, or of another dialect)"
	whyLastEvent = "its record does not say when the last event came"
	whyEvents    = "its record does not say whether an event came (it is older than that)"
	whyMalformed = "what this client could not read another may have"
	whyTokens    = "its output tokens were not stated as usage, and its text is not kept for the tool's tokenizer"
	whyPrompt    = "its prompt tokens were not stated, and the prompt is not kept for the tool's tokenizer"
	whyAsked     = "its record does not say how long its prompt was to be (it is older than that, or nothing was asked)"
	whyMost      = "its output tokens were not stated; the tool takes those that were asked for, which its record does not hold"
	whyTools     = "it has text in tool calls, which the record does not tell from the rest"
)

// speaksOpenAI says why a tool of OpenAI's dialects could not have made the run.
func speaksOpenAI(p Pass, tool string) string {
	if strings.HasPrefix(p.Head.Dialect, "openai-") && p.Head.Dialect != "openai-responses" {
		return ""
	}
	return tool + " speaks /v1/chat/completions and /v1/completions, and this run was in dialect " + p.Head.Dialect
}

// streams says why a tool that only streams could not have made the run.
func streams(p Pass, tool string) string {
	if p.Head.Stream {
		return ""
	}
	return tool + " always streams, and this run did not"
}

// nothing returns the figures of a tool that could not have made the run: none is known.
func nothing(why string) Figures {
	v := cannotTell(why)
	l := noLatency(v)
	return Figures{
		Completed: v, Failed: v, Duration: v, InputTokens: v, OutputTokens: v,
		Requests: v, Good: v, Output: v, Total: v,
		TTFT: l, TPOT: l, ITL: l, E2E: l,
		PeakOutput: v, PeakRequests: v,
	}
}

// choices is how many events with a choice were read.
func choices(q *records.Request) int {
	if q.ChoiceFirst == 0 {
		return 0
	}
	return int(q.Deltas + q.Before + q.Amid + q.After)
}

// noChoice reports whether it is known that no event had a choice: a record with any
// instant that tools count, or with a clock, is of a time when choices were written.
func noChoice(q *records.Request) bool {
	return q.ChoiceFirst == 0 && q.Deltas == 0 && (q.LastEvent > 0 || q.Done > 0 || q.Clock != "")
}

// anyEvent reports whether an answer had an event, [DONE] included, or why that is not
// known.
func anyEvent(q *records.Request) (bool, string) {
	switch {
	case q.Events > 0 || q.LastEvent > 0 || q.Done > 0:
		return true, ""
	case q.Events == 0 || q.Streamed && q.Clock != "": // records with a clock have the instant of the last event
		return false, ""
	}
	return false, whyEvents
}

// calledTools reports whether some of the text may be of tool calls.
func calledTools(q *records.Request) bool {
	return q.Finish == "tool_calls" || q.Finish == "function_call"
}

func firstChoice(q *records.Request) (time.Duration, string) {
	if q.ChoiceFirst == 0 {
		return 0, whyChoices
	}
	return q.ChoiceFirst, ""
}

func lastChoice(q *records.Request) (time.Duration, string) {
	if q.ChoiceFirst == 0 {
		return 0, whyChoices
	}
	return q.ChoiceLast, ""
}

func lastEvent(q *records.Request) (time.Duration, string) {
	if q.LastEvent == 0 {
		return 0, whyLastEvent
	}
	return q.LastEvent, ""
}

func ended(q *records.Request) (time.Duration, string) { return q.End, "" }

// choiceGaps adds the gaps between successive events with a choice: those between
// deltas, and those to an event without text at either end.
func choiceGaps(q *records.Request, d *records.Dist) string {
	if why := choicesKnown(q); why != "" {
		return why
	}
	switch {
	case choices(q) == 1:
		return ""
	case q.Deltas == 0:
		d.Add(q.ChoiceLast - q.ChoiceFirst)
		return ""
	}
	if q.Before == 1 {
		d.Add(q.First - q.ChoiceFirst)
	}
	d.AddGaps(q)
	if q.After == 1 {
		d.Add(q.ChoiceLast - q.Last)
	}
	return ""
}

// choicesKnown says why the instants of all events with a choice are not known.
func choicesKnown(q *records.Request) string {
	n := choices(q)
	switch {
	case n == 0:
		return whyChoices
	case n > 2 && q.Deltas == 0 || q.Deltas > 0 && (q.Before > 1 || q.Amid > 0 || q.After > 1):
		return "it has events without text whose instants its record does not hold"
	}
	return ""
}

// textGaps adds the gaps between successive deltas.
func textGaps(q *records.Request, d *records.Dist) string {
	if calledTools(q) {
		return whyTools
	}
	d.AddGaps(q)
	return ""
}

// promptTokens are those that the server stated.
func promptTokens(q *records.Request) (int, string) {
	if q.Prompt == 0 {
		return 0, whyPrompt
	}
	return int(q.Prompt), ""
}

// usageOr are the output tokens of a tool that reads usage, and else counts itself.
func usageOr(q *records.Request) (int, string) {
	switch q.Source {
	case sample.FromUsage, sample.FromTokenizer:
		return int(q.Output), ""
	}
	return 0, whyTokens
}

// perToken makes a TPOT of three formulas: (end - first) / (tokens - 1), of answers
// of more than one token.
func perToken(first, end func(*records.Request) (time.Duration, string), tokens func(*records.Request) (int, string)) func(*records.Request) (float64, bool, string) {
	return func(q *records.Request) (float64, bool, string) {
		n, why := tokens(q)
		if why != "" || n < 2 {
			return 0, false, why
		}
		a, why := first(q)
		if why != "" {
			return 0, false, why
		}
		b, why := end(q)
		return float64(b-a) / float64(n-1), why == "", why
	}
}

// firstText is the first delta with text: content or reasoning.
func firstText(q *records.Request) (time.Duration, string) { return q.First, noText(q) }

// lastText is the last one.
func lastText(q *records.Request) (time.Duration, string) { return q.Last, noText(q) }

// noText says why it is not known when an answer's text came, "" if it is.
func noText(q *records.Request) string {
	switch {
	case q.Deltas == 0:
		return "it has no text"
	case calledTools(q):
		return whyTools
	}
	return ""
}

// usual is what most tools make of a request's outcome, or why it is not known.
func usual(q *records.Request) (fate, string) {
	switch q.Outcome {
	case sample.OK:
		return served, ""
	case sample.Connect, sample.HTTP:
		return failed, ""
	case sample.Timeout, sample.Stalled, sample.Canceled:
		return unclear, whyGivenUp
	case sample.Truncated:
		return unclear, whyCut
	case sample.Malformed:
		return unclear, whyMalformed
	}
	return unclear, "what the tool makes of the outcome " + string(q.Outcome) + " is not known"
}
