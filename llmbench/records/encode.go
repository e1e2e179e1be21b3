package records

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An encoder appends members to a JSON object. Records are written while the client measures, and
// appending takes a fraction of the time of a package that looks at types.
type encoder []byte

// appendLine appends the line of a sample, as the type line has it. An answer is not read again: no
// figure is computed from it. The line has the shard if several processes made the measurement.
func (e *encoder) appendLine(s *sample.Sample, shards bool) {
	*e = append(*e, '{')
	e.text("id", s.ID)
	if shards {
		e.int("shard", s.Shard)
	}
	e.int("pass", s.Pass)
	e.int("request", s.Request)
	e.unlessZero("turn", s.Turn)
	e.duration("due_ns", s.Due)
	e.duration("epoch_unix_ns", time.Duration(s.Epoch.UnixNano()))
	e.ifCame("granted_ns", s.Granted)
	e.duration("start_ns", s.Start)
	e.duration("admitted_ns", s.Admitted)
	e.ifCame("sent_by_ns", s.SentBy)
	e.duration("connect_ns", s.Connect)
	e.unlessZero("resent", s.Resent)
	e.ifTrue("resent_unread", s.ResentUnread)
	e.orNull("wrote_ns", s.Wrote, s.Wrote > 0)
	e.orNull("first_byte_ns", s.FirstByte, s.FirstByte > 0)
	e.orNull("first_ns", s.First, s.Deltas > 0)
	e.orNull("last_ns", s.Last, s.Deltas > 0)
	e.duration("end_ns", s.End)
	e.unlessZero("in_flight", s.InFlight)
	e.list("gaps_ns", s.Gaps)
	e.appendDeltaTokens(s.DeltaTokens)
	e.int("events", s.Events)
	if s.Outputs < s.Deltas {
		e.int("outputs", s.Outputs)
		if s.Outputs > 0 {
			e.duration("first_output_ns", s.FirstOutput)
		}
	}
	e.unlessZero("cut", s.Cut)
	e.appendChoices(s.Choices)
	e.ifCame("last_event_ns", s.LastEvent)
	e.ifCame("done_ns", s.Done)
	e.ifText("clock", string(s.Clock))
	if len(s.Lags) > 0 {
		e.list("read_lags_ns", s.Lags)
	}
	e.appendMerged(s.Merged)
	e.unlessZero("first_byte_lag_ns", int(s.FirstByteLag))
	e.unlessZero("end_lag_ns", int(s.EndLag))
	e.appendTokens(s)
	e.appendServer(s.Server)
	e.ifText("finish", s.Finish)
	e.text("outcome", string(s.Outcome))
	if s.Err != nil {
		e.ifText("error", s.Err.Error())
	}
	e.int("status", s.Status)
	e.unlessZero("retry_after_ns", int(s.RetryAfter))
	if s.Checked {
		e.bool("correct", s.Correct)
		e.ifText("wrong", s.Wrong)
	}
	if a := s.Answer; a != nil {
		e.open("answer")
		e.text("text", a.Text)
		e.ifText("reasoning", a.Reasoning)
		e.ifText("tool_names", a.ToolNames)
		e.ifText("tool_calls", a.ToolCalls)
		*e = append(*e, '}')
	}
	*e = append(*e, '}', '\n')
}

// appendTokens appends what is known of tokens and characters.
func (e *encoder) appendTokens(s *sample.Sample) {
	e.unlessZero("max_tokens", s.MaxTokens)
	e.ifTrue("fixed_output", s.FixedOutput)
	e.int("prompt_tokens", s.PromptTokens)
	e.unlessZero("cached_tokens", s.CachedTokens)
	e.int("output_tokens", s.OutputTokens)
	e.unlessZero("reasoning_tokens", s.ReasoningTokens)
	e.ifTrue("usage_alone", s.UsageAlone)
	e.ifText("token_source", string(s.TokenSource))
	e.unlessZero("asked_tokens", s.AskedTokens)
	e.unlessZero("prompt_chars", s.PromptChars)
	e.unlessZero("output_chars", s.OutputChars)
}

// appendChoices appends the events with a choice, if there were any.
func (e *encoder) appendChoices(c sample.Choices) {
	if c == (sample.Choices{}) {
		return
	}
	e.open("choices")
	e.int("before", c.Before)
	e.int("amid", c.Amid)
	e.int("after", c.After)
	e.duration("first_ns", c.First)
	e.duration("last_ns", c.Last)
	*e = append(*e, '}')
}

// appendDeltaTokens appends the tokens of each delta, if they are known and some delta has several.
func (e *encoder) appendDeltaTokens(all []int32) {
	if len(all) == 0 {
		return
	}
	e.key("delta_tokens")
	*e = append(*e, '[')
	for i, n := range all {
		if i > 0 {
			*e = append(*e, ',')
		}
		*e = strconv.AppendInt(*e, int64(n), 10)
	}
	*e = append(*e, ']')
}

// appendMerged appends the deltas that were read together with later ones.
func (e *encoder) appendMerged(all []sample.Merged) {
	if len(all) == 0 {
		return
	}
	e.key("merged")
	*e = append(*e, '[')
	for i, m := range all {
		if i > 0 {
			*e = append(*e, ',')
		}
		*e = append(strconv.AppendInt(append(*e, '['), int64(m.Delta), 10), ',')
		*e = append(strconv.AppendInt(*e, int64(m.Deltas), 10), ',')
		*e = append(strconv.AppendInt(*e, int64(m.Since), 10), ']')
	}
	*e = append(*e, ']')
}

// appendServer appends what the server stated.
func (e *encoder) appendServer(t sample.ServerTimings) {
	if t == (sample.ServerTimings{}) {
		return
	}
	e.open("server")
	e.unlessZero("load_ns", int(t.Load))
	e.unlessZero("queue_ns", int(t.Queue))
	e.unlessZero("prompt_ns", int(t.Prompt))
	e.unlessZero("predict_ns", int(t.Predict))
	e.unlessZero("total_ns", int(t.Total))
	e.unlessZero("prompt_tokens", t.PromptTokens)
	e.unlessZero("cached_tokens", t.CachedTokens)
	e.unlessZero("output_tokens", t.OutputTokens)
	e.unlessZero("draft_tokens", t.DraftTokens)
	e.unlessZero("accepted_tokens", t.AcceptedTokens)
	e.unlessZero("decode_steps", t.DecodeSteps)
	*e = append(*e, '}')
}

// key appends the name of a member, which needs no escapes.
func (e *encoder) key(name string) {
	if (*e)[len(*e)-1] != '{' {
		*e = append(*e, ',')
	}
	*e = append(append(append(*e, '"'), name...), '"', ':')
}

// open begins an object that is a member.
func (e *encoder) open(name string) {
	e.key(name)
	*e = append(*e, '{')
}

func (e *encoder) int(name string, v int) { e.duration(name, time.Duration(v)) }

func (e *encoder) unlessZero(name string, v int) {
	if v != 0 {
		e.int(name, v)
	}
}

// duration appends nanoseconds.
func (e *encoder) duration(name string, d time.Duration) {
	e.key(name)
	*e = strconv.AppendInt(*e, int64(d), 10)
}

// orNull appends an instant, or null if it never came.
func (e *encoder) orNull(name string, at time.Duration, came bool) {
	if came {
		e.duration(name, at)
		return
	}
	e.key(name)
	*e = append(*e, "null"...)
}

// ifCame appends an instant, or nothing if it never came.
func (e *encoder) ifCame(name string, at time.Duration) {
	if at > 0 {
		e.duration(name, at)
	}
}

func (e *encoder) bool(name string, v bool) {
	e.key(name)
	*e = strconv.AppendBool(*e, v)
}

func (e *encoder) ifTrue(name string, v bool) {
	if v {
		e.bool(name, true)
	}
}

// text appends a text. Bytes that are not UTF-8 are replaced.
func (e *encoder) text(name, s string) {
	e.key(name)
	*e, _ = jsontext.AppendQuote(*e, s) // the error is about bytes that were replaced
}

func (e *encoder) ifText(name, s string) {
	if s != "" {
		e.text(name, s)
	}
}

// list appends an array of nanoseconds.
func (e *encoder) list(name string, all []time.Duration) {
	e.key(name)
	*e = append(*e, '[')
	for i, d := range all {
		if i > 0 {
			*e = append(*e, ',')
		}
		*e = strconv.AppendInt(*e, int64(d), 10)
	}
	*e = append(*e, ']')
}
