package records

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Request is a [sample.Sample] as it is in a file, but takes only two thirds of the memory. A field has
// the same name and meaning as in a Sample, except where a comment says otherwise. Instants are durations
// since the start of the pass, on the client's monotonic clock; 0 means that the instant never came. A
// Request must not be changed.
type Request struct {
	Shard int32
	Pass  int32
	Turn  int32
	Line  int32 // number of the line in the file, from 1

	Outcome     sample.Outcome
	TokenSource sample.TokenSource
	Error       string
	Finish      string
	Wrong       string

	Due, Start, Wrote, FirstByte, First, Last, End time.Duration
	Granted, Admitted                              time.Duration
	LastEvent, Done                                time.Duration
	Connect                                        time.Duration
	FirstOutput                                    time.Duration
	SentBy                                         time.Duration
	RetryAfter                                     time.Duration

	Epoch int64 // nanoseconds since 1970; 0 means unknown, in older files

	InFlight                   int32 // 0 means unknown, in older files
	Deltas, Outputs            int32
	Blank, Cut                 int32
	Events                     int32 // -1 means unknown, in older files
	PromptTokens, OutputTokens int32
	CachedTokens               int32
	ReasoningTokens            int32
	MaxTokens                  int32 // 0 means unknown
	AskedTokens                int32 // 0 means unknown
	PromptChars                int32
	OutputChars                int32
	Status                     int32
	Resent                     int32
	FixedOutput                bool // false in older files
	CachedStated               bool // CachedTokens are known, and may be 0
	ResentUnread               bool
	UsageAlone                 bool
	Streamed, Scheduled        bool
	Checked, Correct           bool

	Choices sample.Choices

	Server *sample.ServerTimings // nil if the server reported none

	Clock sample.Clock // clock of the answer's instants; "" means unknown, in older files

	Merged []sample.Merged

	DeltaTokens []int32

	gaps, lags gaps
}

// Gaps returns the Deltas-1 times between successive deltas.
func (q *Request) Gaps() iter.Seq[time.Duration] { return q.gaps.all() }

// OK reports whether the request was successful.
func (q *Request) OK() bool { return q.Outcome == sample.OK }

// Failed reports whether the request failed or was shed: its outcome is neither OK nor Left.
func (q *Request) Failed() bool { return !q.OK() && q.Outcome != sample.Left }

// sample returns q as a Sample without lags, and with only the gaps that [sample.Sample.Seen] needs.
func (q *Request) sample() sample.Sample {
	s := sample.Sample{
		Shard: int(q.Shard), Pass: int(q.Pass),
		Due: q.Due, Granted: q.Granted, Admitted: q.Admitted, Start: q.Start, SentBy: q.SentBy, Merged: q.Merged, Clock: q.Clock, Scheduled: q.Scheduled, Connect: q.Connect, Resent: int(q.Resent), ResentUnread: q.ResentUnread,
		Streamed: q.Streamed, Turn: int(q.Turn), Deltas: int(q.Deltas), Blank: int(q.Blank), Cut: int(q.Cut), Outputs: int(q.Outputs), FirstOutput: q.FirstOutput, First: q.First, Last: q.Last, End: q.End,
		MaxTokens: int(q.MaxTokens), FixedOutput: q.FixedOutput, AskedTokens: int(q.AskedTokens),
		PromptTokens: int(q.PromptTokens), CachedTokens: int(q.CachedTokens), CachedStated: q.CachedStated, OutputTokens: int(q.OutputTokens), ReasoningTokens: int(q.ReasoningTokens), PromptChars: int(q.PromptChars), OutputChars: int(q.OutputChars), TokenSource: q.TokenSource, Outcome: q.Outcome,
		Checked: q.Checked, Correct: q.Correct, Wrong: q.Wrong,
	}
	if n := q.seenDelta(); n > 0 {
		s.DeltaTokens = q.DeltaTokens
		for gap := range q.Gaps() {
			if len(s.Gaps) == n {
				break
			}
			s.Gaps = append(s.Gaps, gap)
		}
	}
	return s
}

// seenDelta returns the index of a delta, as [sample.Sample.SeenDelta] does.
func (q *Request) seenDelta() int {
	s := sample.Sample{Deltas: int(q.Deltas), Blank: int(q.Blank)}
	return s.SeenDelta()
}

// Seen returns the instant of the first delta with something to see, as [sample.Sample.Seen] does.
func (q *Request) Seen() time.Duration { s := q.sample(); return s.Seen() }

// request returns the line's sample as a Request.
func (l *line) request() Request {
	s := &l.sample
	q := Request{
		Shard: int32(s.Shard), Pass: int32(s.Pass), Turn: int32(s.Turn), Line: int32(l.number), Resent: int32(s.Resent), ResentUnread: s.ResentUnread, Status: int32(s.Status),
		Due: s.Due, Granted: s.Granted, Admitted: s.Admitted, Start: s.Start, SentBy: s.SentBy, Connect: s.Connect,
		RetryAfter: s.RetryAfter, Wrote: s.Wrote, FirstByte: s.FirstByte, First: s.First, Last: s.Last, End: s.End,
		InFlight: int32(s.InFlight), LastEvent: s.LastEvent, Done: s.Done,
		Choices:      s.Choices,
		PromptTokens: int32(s.PromptTokens), CachedTokens: int32(s.CachedTokens), CachedStated: l.has("cached_tokens"), OutputTokens: int32(s.OutputTokens), ReasoningTokens: int32(s.ReasoningTokens), UsageAlone: s.UsageAlone,
		MaxTokens: int32(s.MaxTokens), FixedOutput: s.FixedOutput, AskedTokens: int32(s.AskedTokens), PromptChars: int32(s.PromptChars), OutputChars: int32(s.OutputChars),
		Outcome: s.Outcome, TokenSource: s.TokenSource, Error: l.failure, Finish: s.Finish, Clock: s.Clock, Streamed: s.Streamed, Scheduled: s.Scheduled,
		Events: int32(s.Events), Deltas: int32(s.Deltas), Outputs: int32(s.Outputs), FirstOutput: s.FirstOutput,
		Merged: s.Merged, Blank: int32(s.Blank), Cut: int32(s.Cut), gaps: l.gaps, lags: l.lags, DeltaTokens: s.DeltaTokens, Checked: s.Checked, Correct: s.Correct, Wrong: s.Wrong,
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
