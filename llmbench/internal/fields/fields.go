// Package fields lists the fields of a sample, for the code that writes, reads or stores samples.
package fields

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Visitor receives the fields of a sample from [Visit]. Each method receives three values: the
// field's name in records, a pointer to the field, and the condition under which records contain the field.
// The name is "" if records never contain the field. A visitor may read or set the fields.
type Visitor interface {
	Text(name string, p *string, when When)
	Word(name string, p *string, when When) // a text that many samples have in common
	Int(name string, p *int, when When)
	Flag(name string, p *bool, when When)
	Duration(name string, p *time.Duration, when When) // a duration, or an instant since the start of the pass
	Wall(name string, p *time.Time, when When)
	Error(name string, p *error, when When)
	Durations(name string, p *[]time.Duration, when When)
	Counts(name string, p *[]int32, when When)
	Merged(name string, p *[]sample.Merged, when When)
	// ToolCalls receives two names: one for the list of function names, and one for the list of arguments.
	ToolCalls(names, arguments string, p *[]sample.ToolCall, when When)
	Fields(name string, p *[]sample.Field, when When)
	// Open begins a group of fields. The argument set says whether the sample has the group. If Open
	// returns true, Visit visits the fields of the group and then calls Close; otherwise it skips the
	// group.
	Open(name string, set bool) bool
	Close()
}

// When says under which condition records contain a field. A field that a record does not contain has the
// zero value.
type When int

const (
	Always   When = iota
	IfSet         // if the field is not zero
	IfCame        // if the field is an instant after the start of the pass
	Came          // always; as null unless the field is an instant after the start of the pass
	Null          // always as null
	IfShards      // if several processes made the measurement together
	Never
)

// given returns Always if yes is true, and otherwise Never.
func given(yes bool) When {
	if yes {
		return Always
	}
	return Never
}

// Visit passes each field of s to v. It is the only list of all fields: the code that writes, reads or
// stores samples uses it. The order is the order in records.
func Visit(s *sample.Sample, v Visitor) {
	v.Text("id", &s.ID, Always)
	v.Int("shard", &s.Shard, IfShards)
	v.Int("pass", &s.Pass, Always)
	v.Int("request", &s.Request, Always)
	v.Int("turn", &s.Turn, IfSet)
	v.Word("model", &s.Model, IfSet)
	v.Word("class", &s.Class, IfSet)
	visitSend(s, v)
	visitAnswer(s, v)
	visitClock(s, v)
	visitTokens(s, v)
	visitEnd(s, v)
}

// visitSend visits the schedule, the send, and the main instants of the answer.
func visitSend(s *sample.Sample, v Visitor) {
	text := Null
	if s.Deltas > 0 {
		text = Always
	}
	v.Flag("scheduled", &s.Scheduled, given(s.Scheduled && (s.Class != "" || s.Turn > 0))) // otherwise the head tells
	v.Duration("due_ns", &s.Due, Always)
	v.Wall("epoch_unix_ns", &s.Epoch, Always)
	v.Duration("", &s.From, Never)
	v.Duration("", &s.Until, Never)
	v.Duration("granted_ns", &s.Granted, IfCame)
	v.Duration("start_ns", &s.Start, Always)
	v.Duration("admitted_ns", &s.Admitted, Always)
	v.Duration("sent_by_ns", &s.SentBy, IfCame)
	v.Duration("connect_ns", &s.Connect, Always)
	v.Int("resent", &s.Resent, IfSet)
	v.Flag("resent_unread", &s.ResentUnread, IfSet)
	v.Duration("wrote_ns", &s.Wrote, Came)
	v.Duration("first_byte_ns", &s.FirstByte, Came)
	v.Duration("first_ns", &s.First, text)
	v.Duration("last_ns", &s.Last, text)
	v.Duration("end_ns", &s.End, Always)
	v.Int("in_flight", &s.InFlight, IfSet)
}

// visitAnswer visits the events of the answer. A record without the field outputs means that every delta
// has more than reasoning.
func visitAnswer(s *sample.Sample, v Visitor) {
	v.Flag("", &s.Streamed, Never)
	v.Int("", &s.Deltas, Never)
	v.Durations("gaps_ns", &s.Gaps, Always)
	v.Counts("delta_tokens", &s.DeltaTokens, IfSet)
	v.Int("events", &s.Events, Always)
	v.Int("outputs", &s.Outputs, given(s.Outputs < s.Deltas))
	v.Duration("first_output_ns", &s.FirstOutput, given(s.Outputs < s.Deltas && s.Outputs > 0))
	v.Int("blank", &s.Blank, IfSet)
	v.Int("cut", &s.Cut, IfSet)
	v.Word("unread", &s.Unread, IfSet)
	v.Flag("unread_last", &s.UnreadLast, IfSet)
	if c := &s.Choices; v.Open("choices", *c != sample.Choices{}) {
		v.Int("before", &c.Before, Always)
		v.Int("amid", &c.Amid, Always)
		v.Int("after", &c.After, Always)
		v.Duration("first_ns", &c.First, Always)
		v.Duration("last_ns", &c.Last, Always)
		v.Close()
	}
	v.Duration("last_event_ns", &s.LastEvent, IfCame)
	v.Duration("done_ns", &s.Done, IfCame)
}

// visitClock visits the clock of the answer and the read lags.
func visitClock(s *sample.Sample, v Visitor) {
	v.Word("clock", (*string)(&s.Clock), IfSet)
	v.Durations("read_lags_ns", &s.Lags, IfSet)
	v.Merged("merged", &s.Merged, IfSet)
	v.Duration("first_byte_lag_ns", &s.FirstByteLag, IfSet)
	v.Duration("end_lag_ns", &s.EndLag, IfSet)
	if l := &s.EventLags; v.Open("", *l != sample.EventLags{}) {
		v.Duration("", &l.FirstOutput, Never)
		v.Duration("", &l.ChoiceFirst, Never)
		v.Duration("", &l.ChoiceLast, Never)
		v.Duration("", &l.LastEvent, Never)
		v.Duration("", &l.Done, Never)
		v.Close()
	}
}

// visitTokens visits token and character counts, and what the server itself measured.
func visitTokens(s *sample.Sample, v Visitor) {
	v.Int("max_tokens", &s.MaxTokens, IfSet)
	v.Flag("fixed_output", &s.FixedOutput, IfSet)
	v.Int("prompt_tokens", &s.PromptTokens, Always)
	v.Int("cached_tokens", &s.CachedTokens, given(s.CachedStated || s.CachedTokens > 0))
	v.Flag("", &s.CachedStated, Never)
	v.Int("output_tokens", &s.OutputTokens, Always)
	v.Int("", &s.TextTokens, Never)
	v.Int("reasoning_tokens", &s.ReasoningTokens, IfSet)
	v.Flag("usage_alone", &s.UsageAlone, IfSet)
	v.Word("token_source", (*string)(&s.TokenSource), IfSet)
	v.Int("asked_tokens", &s.AskedTokens, IfSet)
	v.Int("prompt_chars", &s.PromptChars, IfSet)
	v.Int("output_chars", &s.OutputChars, IfSet)
	v.Int("inputs", &s.Inputs, IfSet)
	v.Int("dimensions", &s.Dimensions, IfSet)
	if t := &s.Server; v.Open("server", *t != sample.ServerTimings{}) {
		v.Duration("load_ns", &t.Load, IfSet)
		v.Duration("queue_ns", &t.Queue, IfSet)
		v.Duration("prompt_ns", &t.Prompt, IfSet)
		v.Duration("predict_ns", &t.Predict, IfSet)
		v.Duration("total_ns", &t.Total, IfSet)
		v.Int("prompt_tokens", &t.PromptTokens, IfSet)
		v.Int("cached_tokens", &t.CachedTokens, IfSet)
		v.Int("output_tokens", &t.OutputTokens, IfSet)
		v.Int("draft_tokens", &t.DraftTokens, IfSet)
		v.Int("accepted_tokens", &t.AcceptedTokens, IfSet)
		v.Int("decode_steps", &t.DecodeSteps, IfSet)
		v.Close()
	}
}

// visitEnd visits how the request ended, and the answer if the load keeps it. Only checks get the vectors and
// scores of an answer, so that they are not visited.
func visitEnd(s *sample.Sample, v Visitor) {
	v.Word("finish", &s.Finish, IfSet)
	v.Flag("unknown_finish", &s.UnknownFinish, IfSet)
	v.Word("outcome", (*string)(&s.Outcome), Always)
	v.Error("error", &s.Err, IfSet)
	v.Int("status", &s.Status, Always)
	v.Int("error_status", &s.ErrorStatus, IfSet)
	v.Duration("retry_after_ns", &s.RetryAfter, IfSet)
	v.Fields("header", &s.Header, IfSet)
	v.Text("trace_id", &s.TraceID, IfSet)
	v.Flag("", &s.Checked, Never)
	v.Flag("correct", &s.Correct, given(s.Checked))
	v.Word("wrong", &s.Wrong, given(s.Checked && s.Wrong != ""))
	if v.Open("answer", s.Answer != nil) {
		if s.Answer == nil {
			s.Answer = &sample.Answer{}
		}
		a := s.Answer
		v.Text("text", &a.Text, Always)
		v.Text("reasoning", &a.Reasoning, IfSet)
		v.ToolCalls("tool_names", "tool_calls", &a.ToolCalls, IfSet)
		v.Word("", &a.Finish, Never)
		v.Close()
	}
}
