package compat

import (
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// The functions in this file answer questions about a request that the formulas of several tools ask. If
// the record does not contain the answer, they return a reason.

// The reasons.
const (
	whyGivenUp   = "llmbench gave up on it, and how it would have continued is unknown"
	whyCut       = "its stream ended without an error and without a finish reason, and how the tool counts that is unknown"
	whyChoices   = "its record has no instants of events with a choice (it is an older record, or of another dialect)"
	whyLastEvent = "its record has no instant of the last event"
	whyEvents    = "its record does not say whether an event came (it is an older record)"
	whyMalformed = "the tool may have read what llmbench could not"
	whyTokens    = "the server reported no usage, and the record does not hold the text for the tool's tokenizer"
	whyPrompt    = "the server did not report the prompt tokens, and the record does not hold the prompt for the tool's tokenizer"
	whyAsked     = "its record has no intended prompt length (it is an older record, or the length was not set)"
	whyMost      = "the server did not report the output tokens, and the record does not hold the limit that the tool uses instead"
	whyTools     = "it has text in tool calls, which the record does not distinguish from other text"
)

// speaksOpenAI returns "" if a tool that only speaks OpenAI's dialects could have made the run. Otherwise
// it returns why not.
func speaksOpenAI(p Pass, tool string) string {
	if strings.HasPrefix(p.Head.Dialect, "openai-") && p.Head.Dialect != "openai-responses" {
		return ""
	}
	return tool + " speaks /v1/chat/completions and /v1/completions, and this run was in dialect " + p.Head.Dialect
}

// streams returns "" if a tool that always streams could have made the run. Otherwise it returns why not.
func streams(p Pass, tool string) string {
	if p.Head.Stream {
		return ""
	}
	return tool + " always streams, and this run did not"
}

// nothing returns the Figures of a tool that could not have made the run: every value is unknown, for the
// reason why.
func nothing(why string) Figures { return every(cannotTell(why)) }

// every returns Figures with one value for everything.
func every(v Value) Figures {
	l := noLatency(v)
	return Figures{
		Completed: v, Failed: v, Duration: v, InputTokens: v, OutputTokens: v,
		Requests: v, Good: v, Output: v, Total: v,
		TTFT: l, TPOT: l, ITL: l, E2E: l,
		PeakOutput: v, PeakRequests: v,
	}
}

// choices returns the number of events with a choice, or 0 if the number is unknown.
func choices(q *records.Request) int {
	if q.Choices.First == 0 {
		return 0
	}
	return int(q.Deltas) + q.Choices.Before + q.Choices.Amid + q.Choices.After
}

// noChoice reports whether it is known that no event had a choice. That is known if the record has the
// instant of the last event, or a clock, because such records also contain the choices.
func noChoice(q *records.Request) bool {
	return q.Choices.First == 0 && q.Deltas == 0 && (q.LastEvent > 0 || q.Done > 0 || q.Clock != "")
}

// anyEvent reports whether the answer had any event, including [DONE]. If that is unknown, it returns the
// reason.
func anyEvent(q *records.Request) (bool, string) {
	switch {
	case q.Events > 0 || q.LastEvent > 0 || q.Done > 0:
		return true, ""
	case q.Events == 0 || q.Streamed && q.Clock != "": // a record with a clock contains the instant of the last event if there was one
		return false, ""
	}
	return false, whyEvents
}

// calledTools reports whether part of the text may belong to tool calls.
func calledTools(q *records.Request) bool {
	return q.Finish == "tool_calls" || q.Finish == "function_call"
}

// instant returns an instant, or the reason why the record does not have it.
func instant(at time.Duration, why string) (time.Duration, string) {
	if at == 0 {
		return 0, why
	}
	return at, ""
}

func firstChoice(q *records.Request) (time.Duration, string) {
	return instant(q.Choices.First, whyChoices)
}

func lastChoice(q *records.Request) (time.Duration, string) {
	return instant(q.Choices.Last, whyChoices)
}

func lastEvent(q *records.Request) (time.Duration, string) {
	return instant(q.LastEvent, whyLastEvent)
}

func ended(q *records.Request) (time.Duration, string) { return q.End, "" }

// sendOr is like of, but returns the send for an answer that has no event, or no event with a choice.
func sendOr(of func(*records.Request) (time.Duration, string)) func(*records.Request) (time.Duration, string) {
	return func(q *records.Request) (time.Duration, string) {
		at, why := of(q)
		if why != "" && noChoice(q) {
			return q.Start, ""
		}
		return at, why
	}
}

// choiceGaps adds the gaps between successive events with a choice: the gaps between deltas, and the gap to
// an event without text before the first or after the last delta.
func choiceGaps(q *records.Request, d *records.Dist) string {
	if noChoice(q) {
		return ""
	}
	if why := choicesKnown(q); why != "" {
		return why
	}
	switch {
	case choices(q) == 1:
		return ""
	case q.Deltas == 0:
		d.Add(q.Choices.Last - q.Choices.First)
		return ""
	}
	if q.Choices.Before == 1 {
		d.Add(q.First - q.Choices.First)
	}
	d.AddGaps(q)
	if q.Choices.After == 1 {
		d.Add(q.Choices.Last - q.Last)
	}
	return ""
}

// choicesKnown returns "" if the instants of all events with a choice are known. Otherwise it returns why
// not.
func choicesKnown(q *records.Request) string {
	n := choices(q)
	switch {
	case n == 0:
		return whyChoices
	case n > 2 && q.Deltas == 0 || q.Deltas > 0 && (q.Choices.Before > 1 || q.Choices.Amid > 0 || q.Choices.After > 1):
		return "it has several events without text, whose instants the record does not hold"
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

// promptTokens returns the number of prompt tokens that the server reported.
func promptTokens(q *records.Request) (int, string) {
	if q.PromptTokens == 0 {
		return 0, whyPrompt
	}
	return int(q.PromptTokens), ""
}

// cachedTokens returns the number of cached prompt tokens that the server reported. Records do not
// distinguish a server that reported 0 from one that reported nothing. The callers therefore assume that
// the server reports cached tokens if any request has some.
func cachedTokens(q *records.Request) (int, string) { return int(q.CachedTokens), "" }

// usageOr returns the output tokens as counted by a tool that uses usage, or its own tokenizer if there is
// no usage.
func usageOr(q *records.Request) (int, string) {
	switch q.TokenSource {
	case sample.FromUsage, sample.FromTokenizer:
		return int(q.OutputTokens), ""
	}
	return 0, whyTokens
}

// perToken returns a function for parts: (end - first) / (tokens - 1), for answers with more than one
// token.
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
		return float64(between(a, b)) / float64(n-1), why == "", why
	}
}

// firstText returns the instant of the first delta with text, content or reasoning.
func firstText(q *records.Request) (time.Duration, string) { return q.First, noText(q) }

// lastText returns the instant of the last delta.
func lastText(q *records.Request) (time.Duration, string) { return q.Last, noText(q) }

// noText returns "" if the instants of the text are known. Otherwise it returns why not.
func noText(q *records.Request) string {
	switch {
	case q.Deltas == 0:
		return "it has no text"
	case calledTools(q):
		return whyTools
	}
	return ""
}

// usual returns how most tools count a request. If that is unknown, it returns the reason.
func usual(q *records.Request) (fate, string) {
	switch q.Outcome {
	case sample.OK:
		return served, ""
	case sample.Connect, sample.HTTP, sample.Shed:
		return failed, ""
	case sample.Timeout, sample.Stalled, sample.Canceled:
		return unclear, whyGivenUp
	case sample.Truncated:
		if !endedCleanly(q) { // the tool's HTTP client reports an error
			return failed, ""
		}
		return unclear, whyCut
	case sample.Malformed:
		return unclear, whyMalformed
	}
	return unclear, "how the tool counts the outcome " + string(q.Outcome) + " is unknown"
}

// answeredError reports whether an answer with status 200 carries an error of the server.
func answeredError(q *records.Request) bool {
	return (q.Outcome == sample.ServerError || q.Outcome == sample.Shed) && q.Status == 200
}

// ok200 returns how a request is counted by a tool for which each answer with status 200 is a success,
// unless the tool's HTTP client reports an error. An answer that carries an error object, has no text, or
// ended early is then a success too.
func ok200(q *records.Request) (fate, string) {
	if answeredError(q) || q.Outcome == sample.Empty || endedCleanly(q) {
		return served, ""
	}
	return usual(q)
}

// truncated is part of the error text of a stream that ended without a connection error before the answer
// was complete. Package dialect writes this text.
const truncated = "stream is truncated"

// endedCleanly reports whether the stream of an incomplete answer ended without a connection error. A
// stream that was reset has a connection error.
func endedCleanly(q *records.Request) bool {
	return q.Outcome == sample.Truncated && q.Streamed && strings.Contains(q.Error, truncated)
}

// cutEvent reports whether the stream ended within an event.
func cutEvent(q *records.Request) bool {
	return endedCleanly(q) && strings.Contains(q.Error, truncated+" within an event")
}
