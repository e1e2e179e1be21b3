package records

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Request is what one request experienced: the fields of [sample.Sample] that
// its file keeps. Instants are on the client's monotonic clock, from the start of
// the pass; those that never came are 0. It is read only.
type Request struct {
	Pass int32
	Turn int32 // of its session, from 0
	Line int32 // in the file, from 1

	Outcome sample.Outcome
	Source  sample.TokenSource
	Error   string
	Finish  string

	Due, Start, Wrote, FirstByte, First, Last, End time.Duration
	Granted, Admitted                              time.Duration
	LastEvent, Done                                time.Duration
	Connect                                        time.Duration // how long
	ChoiceFirst, ChoiceLast                        time.Duration // Sample.Choices
	FirstOutput                                    time.Duration // Sample.FirstOutput

	Before, Amid, After int32 // Sample.Choices
	Deltas, Outputs     int32
	Events              int32 // Sample.Events; -1: unknown, in older files
	Prompt, Output      int32 // tokens
	Cached              int32 // tokens of the prompt
	MaxTokens           int32 // that the request allowed; 0: unknown
	Asked               int32 // tokens of the prompt that was to be sent; 0: unknown
	PromptChars         int32
	OutputChars         int32
	Status              int32
	Resent              int32
	UsageAlone          bool
	Streamed, Scheduled bool

	Server *sample.ServerTimings // nil: the server stated none

	Clock sample.Clock // of what came; "": unknown, written before there was a choice

	gaps, lags gaps
}

// Gaps are the times between successive deltas, Deltas-1 of them.
func (q *Request) Gaps() iter.Seq[time.Duration] { return q.gaps.all() }

// OK reports whether the request ended well.
func (q *Request) OK() bool { return q.Outcome == sample.OK }

// Failed reports whether the request neither ended well nor was left as planned.
func (q *Request) Failed() bool { return !q.OK() && q.Outcome != sample.Left }

// sample returns q as a Sample without its gaps: what its figures are computed of.
func (q *Request) sample() sample.Sample {
	return sample.Sample{
		Due: q.Due, Granted: q.Granted, Admitted: q.Admitted, Start: q.Start, Clock: q.Clock, Scheduled: q.Scheduled, Connect: q.Connect, Resent: int(q.Resent),
		Streamed: q.Streamed, Turn: int(q.Turn), Deltas: int(q.Deltas), Outputs: int(q.Outputs), FirstOutput: q.FirstOutput, First: q.First, Last: q.Last, End: q.End,
		PromptTokens: int(q.Prompt), CachedTokens: int(q.Cached), OutputTokens: int(q.Output), PromptChars: int(q.PromptChars), OutputChars: int(q.OutputChars), TokenSource: q.Source, Outcome: q.Outcome,
	}
}

// TTFT, TPOT and E2E are those of [sample.Sample].
func (q *Request) TTFT() (time.Duration, bool) { s := q.sample(); return s.TTFT() }

// TPOT is that of [sample.Sample].
func (q *Request) TPOT() (time.Duration, bool) { s := q.sample(); return s.TPOT() }

// E2E is that of [sample.Sample].
func (q *Request) E2E() (time.Duration, bool) { s := q.sample(); return s.E2E() }
