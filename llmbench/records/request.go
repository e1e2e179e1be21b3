package records

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Request is a [sample.Sample] as a file holds it, in less memory. Instants are durations
// since the start of the pass, on the client's monotonic clock; 0 if they never came. A
// Request is read only.
type Request struct {
	Shard int32 // Sample.Shard
	Pass  int32
	Turn  int32 // of its session, from 0
	Line  int32 // in the file, from 1

	Outcome sample.Outcome
	Source  sample.TokenSource
	Error   string
	Finish  string
	Wrong   string // Sample.Wrong

	Due, Start, Wrote, FirstByte, First, Last, End time.Duration
	Granted, Admitted                              time.Duration
	LastEvent, Done                                time.Duration
	Connect                                        time.Duration // time to open a connection
	ChoiceFirst, ChoiceLast                        time.Duration // Sample.Choices
	FirstOutput                                    time.Duration // Sample.FirstOutput
	SentBy                                         time.Duration // Sample.SentBy
	RetryAfter                                     time.Duration // Sample.RetryAfter

	Epoch int64 // Sample.Epoch, in nanoseconds since 1970; 0: unknown, in older files

	InFlight            int32 // Sample.InFlight; 0: unknown, in older files
	Before, Amid, After int32 // Sample.Choices
	Deltas, Outputs     int32
	Cut                 int32 // Sample.Cut
	Events              int32 // Sample.Events; -1: unknown, in older files
	Prompt, Output      int32 // tokens
	Cached              int32 // tokens of the prompt
	Reasoning           int32 // Sample.ReasoningTokens
	MaxTokens           int32 // upper limit of the output that the request asked for; 0: unknown
	Asked               int32 // intended tokens of the prompt; 0: unknown
	PromptChars         int32
	OutputChars         int32
	Status              int32
	Resent              int32
	FixedOutput         bool // the request asked for exactly MaxTokens; false in older files
	ResentUnread        bool
	UsageAlone          bool
	Streamed, Scheduled bool
	Checked, Correct    bool // Sample.Checked and Sample.Correct

	Server *sample.ServerTimings // nil: the server stated none

	Clock sample.Clock // of the answer's instants; "": unknown, in older files

	Merged []sample.Merged // Sample.Merged

	DeltaTokens []int32 // Sample.DeltaTokens

	gaps, lags gaps
}

// Gaps returns the times between successive deltas, Deltas-1 of them.
func (q *Request) Gaps() iter.Seq[time.Duration] { return q.gaps.all() }

// OK reports whether the request ended well.
func (q *Request) OK() bool { return q.Outcome == sample.OK }

// Failed reports whether the request failed: its outcome is neither OK nor Left.
func (q *Request) Failed() bool { return !q.OK() && q.Outcome != sample.Left }

// sample returns q as a Sample without gaps and lags.
func (q *Request) sample() sample.Sample {
	return sample.Sample{
		Shard: int(q.Shard), Pass: int(q.Pass),
		Due: q.Due, Granted: q.Granted, Admitted: q.Admitted, Start: q.Start, SentBy: q.SentBy, Merged: q.Merged, Clock: q.Clock, Scheduled: q.Scheduled, Connect: q.Connect, Resent: int(q.Resent), ResentUnread: q.ResentUnread,
		Streamed: q.Streamed, Turn: int(q.Turn), Deltas: int(q.Deltas), Cut: int(q.Cut), Outputs: int(q.Outputs), FirstOutput: q.FirstOutput, First: q.First, Last: q.Last, End: q.End,
		MaxTokens: int(q.MaxTokens), FixedOutput: q.FixedOutput, AskedTokens: int(q.Asked),
		PromptTokens: int(q.Prompt), CachedTokens: int(q.Cached), OutputTokens: int(q.Output), ReasoningTokens: int(q.Reasoning), PromptChars: int(q.PromptChars), OutputChars: int(q.OutputChars), TokenSource: q.Source, Outcome: q.Outcome,
		Checked: q.Checked, Correct: q.Correct, Wrong: q.Wrong,
	}
}

// request returns the line's sample.
func (l *line) request() Request {
	s := &l.sample
	q := Request{
		Shard: int32(s.Shard), Pass: int32(s.Pass), Turn: int32(s.Turn), Line: int32(l.number), Resent: int32(s.Resent), ResentUnread: s.ResentUnread, Status: int32(s.Status),
		Due: s.Due, Granted: s.Granted, Admitted: s.Admitted, Start: s.Start, SentBy: s.SentBy, Connect: s.Connect,
		RetryAfter: s.RetryAfter, Wrote: s.Wrote, FirstByte: s.FirstByte, First: s.First, Last: s.Last, End: s.End,
		InFlight: int32(s.InFlight), LastEvent: s.LastEvent, Done: s.Done,
		Before: int32(s.Choices.Before), Amid: int32(s.Choices.Amid), After: int32(s.Choices.After), ChoiceFirst: s.Choices.First, ChoiceLast: s.Choices.Last,
		Prompt: int32(s.PromptTokens), Cached: int32(s.CachedTokens), Output: int32(s.OutputTokens), Reasoning: int32(s.ReasoningTokens), UsageAlone: s.UsageAlone,
		MaxTokens: int32(s.MaxTokens), FixedOutput: s.FixedOutput, Asked: int32(s.AskedTokens), PromptChars: int32(s.PromptChars), OutputChars: int32(s.OutputChars),
		Outcome: s.Outcome, Source: s.TokenSource, Error: l.failure, Finish: s.Finish, Clock: s.Clock, Streamed: s.Streamed, Scheduled: s.Scheduled,
		Events: int32(s.Events), Deltas: int32(s.Deltas), Outputs: int32(s.Outputs), FirstOutput: s.FirstOutput,
		Merged: s.Merged, Cut: int32(s.Cut), gaps: l.gaps, lags: l.lags, DeltaTokens: s.DeltaTokens, Checked: s.Checked, Correct: s.Correct, Wrong: s.Wrong,
	}
	if l.has("epoch_unix_ns") {
		q.Epoch = s.Epoch.UnixNano()
	}
	if s.Server != (sample.ServerTimings{}) {
		q.Server = &sample.ServerTimings{}
		*q.Server = s.Server
	}
	return q
}

// TTFT returns the TTFT as [sample.Sample.TTFT] does.
func (q *Request) TTFT() (time.Duration, bool) { s := q.sample(); return s.TTFT() }

// TPOT returns the time per output token as [sample.Sample.TPOT] does.
func (q *Request) TPOT() (time.Duration, bool) { s := q.sample(); return s.TPOT() }

// E2E returns the E2E latency as [sample.Sample.E2E] does.
func (q *Request) E2E() (time.Duration, bool) { s := q.sample(); return s.E2E() }

// Keeps reports whether the request keeps every limit of an SLO, as sample.SLO.Met does.
func (q *Request) Keeps(limits sample.SLO) bool {
	s := q.sample()
	return limits.Met(&s)
}
