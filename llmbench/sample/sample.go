package sample

import "time"

// A Sample is what the client knows of one request. Instants are durations since the start
// of the pass, on the client's monotonic clock. They are raw: every figure is computed from
// them afterwards.
type Sample struct {
	ID string // the request's X-Request-Id
	// Shard is the number of the process that sent the request, from 0, if several processes
	// made the measurement together. Instants are on its clock.
	Shard int
	Pass  int // number of the pass among those of one benchmark sample, from 0
	// Request is the index of the request among those of the pass, from 0.
	// Samples come in the order in which their requests ended.
	Request int
	Turn    int // number of the turn in its session, from 0
	// Epoch is the start of the pass on the wall clock, accurate to about a microsecond.
	Epoch time.Time

	// The schedule and the send.

	// Scheduled says that the request was due at an instant, as in an open loop.
	Scheduled bool
	// Due is t0, from which latencies count: the instant of the schedule, or Start if
	// the request is not scheduled.
	Due time.Duration
	// Granted is the instant at which one of MaxInFlight requests had ended and this
	// request could be sent, if that was after Due; else 0. The wait is the server's.
	Granted time.Duration
	// Admitted is the instant just before the request was handed to the transport.
	Admitted time.Duration
	// Start is the send: the instant just before the first byte was written. If a
	// connection had to be opened, Start is Admitted, so that the time to connect is part
	// of latencies.
	Start time.Duration
	// SentBy is the latest instant at which the first byte can have left the process, if
	// that is more than 100 µs after Start; else 0. The process was then stopped
	// before the write or after it.
	SentBy time.Duration
	// Connect is how long the request waited for a connection to be opened; 0 if one was
	// open, or none could be opened.
	Connect time.Duration
	// Resent is how often the request was sent again because the server had closed a kept
	// connection without having worked on the request. Start is the first send.
	Resent int
	// ResentUnread says that the request had reached the server before it was sent again. The
	// server closed the connection too soon to have worked on the request, but may have
	// refused it.
	ResentUnread bool
	// Wrote is the instant at which the last byte of the request was written; 0 if it
	// never was. It is no later than FirstByte.
	Wrote time.Duration

	// The answer.

	// FirstByte is the instant of the first byte of the answer's head; 0 if none came.
	FirstByte time.Duration
	// End is the instant of the end of the body, or at which the request was given up.
	End time.Duration
	// InFlight is the number of requests of the pass that were in flight just before End, this
	// one included. It is 0 of a request outside of a pass, and of one that was never sent.
	InFlight int
	// Streamed says that a stream was asked for. Only streamed answers have deltas.
	Streamed bool
	// Events is the number of events of the stream, or 1 for the body of an answer that is
	// not streamed. It is 0 if nothing came.
	Events int
	// Deltas is the number of deltas with generated text: content, reasoning or tool-call
	// arguments.
	Deltas int
	// First and Last are the instants of the first and the last delta. They mean nothing
	// without deltas.
	First, Last time.Duration
	// Gaps are the times between successive deltas, Deltas-1 of them.
	Gaps []time.Duration
	// DeltaTokens has the number of tokens of each delta, as the server stated them with its
	// events. It is nil if the server did not, or if no delta has several tokens.
	DeltaTokens []int32
	// Cut is the number of deltas whose event came in two parts, [BurstPause] or more apart. The
	// client had read the first part before the second arrived. It is 0 without kernel
	// timestamps.
	Cut int
	// Outputs is the number of deltas with more than reasoning, and FirstOutput the
	// instant of the first of them.
	Outputs     int
	FirstOutput time.Duration

	// The clock of the answer.

	// Clock is the clock of FirstByte, First, Last, Gaps, End and the instants of other
	// events.
	Clock Clock
	// Lags has for each delta the time from the kernel's timestamp to the return of the
	// client's read. It is nil if Clock is UserClock.
	Lags []time.Duration
	// Merged are the deltas whose instants are not known exactly, in the order of the
	// deltas. It is nil if Clock is UserClock.
	Merged []Merged
	// FirstByteLag and EndLag are the lags of FirstByte and End. EndLag is 0 if End has no
	// timestamp, such as the end of a connection.
	FirstByteLag, EndLag time.Duration
	// EventLags are the lags of other events. Records do not hold them.
	EventLags EventLags

	// What other tools compute their figures from, see package compat. No unit is computed
	// from these fields.

	// Choices are the events with a choice, in OpenAI's dialects.
	Choices Choices
	// LastEvent is the instant of the last event other than the end marker, and Done that
	// of the end marker; 0 if there was none.
	LastEvent, Done time.Duration
	// UsageAlone says that the server stated usage in an event without a choice.
	UsageAlone bool

	// Tokens and characters.

	MaxTokens    int  // upper limit of the output that the request asked for
	FixedOutput  bool // the request asked for exactly MaxTokens, so that a shorter answer is none
	AskedTokens  int  // intended length of the prompt; 0 if unknown
	PromptTokens int  // as the server stated; 0 if it did not
	CachedTokens int  // prompt tokens that the server stated as taken from a cache
	OutputTokens int
	TokenSource  TokenSource // of OutputTokens
	// TextTokens is the number of tokens of the answer without its reasoning, as a tokenizer counts
	// them for a comparison with OutputTokens; 0 if none did. Records do not hold it.
	TextTokens int
	// ReasoningTokens is the number of tokens that the model reasoned with, as the server
	// stated; 0 if the server did not. See [Sample.HidesReasoning].
	ReasoningTokens int
	// PromptChars and OutputChars are Unicode code points: of the text that was sent,
	// without what the dialect and the server add, and of all generated text.
	PromptChars, OutputChars int

	// The end.

	Outcome Outcome
	Err     error // the reason, if Outcome is not OK; in results and records only its text
	Status  int   // HTTP status; 0 without a response
	// RetryAfter is how long the server asked the client to wait before another request, in the
	// header Retry-After of an answer whose status is an error; 0 if it did not
	// (https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3). No request of a load waits so
	// long, and no unit is computed from it.
	RetryAfter time.Duration
	Finish     string // finish reason of the server
	// Server is what the server measured itself, on its own clock; zero if it states
	// nothing. Only accept-len and accept-% are computed from it.
	Server ServerTimings
	// Checked says that the request had a check and ended well, Correct that its answer is right,
	// and Wrong why the answer is not, in at most [MaxWrong] bytes.
	Checked, Correct bool
	Wrong            string
	// Answer is what was generated, if the load keeps it.
	Answer *Answer
}

// MaxWrong is the greatest length of Sample.Wrong, in bytes.
const MaxWrong = 500

// Merged are successive deltas that the client read together with later bytes, which came in
// another TCP segment. The kernel's timestamp of such a read is that of the last segment.
// The instant that the sample has for these deltas is therefore the latest possible one.
// Deltas that came in one segment are not Merged, because the server, or something
// between, sent them together.
type Merged struct {
	Delta  int           // index of the first of the deltas
	Deltas int           // number of deltas, at least 1
	Since  time.Duration // earliest instant at which the deltas can have come
}

// ServerTimings are a server's own measurements of a request. What the server does not
// state is 0.
type ServerTimings struct {
	Load    time.Duration // loading the model, if the request had to wait for that
	Queue   time.Duration // from the arrival of the request until the server began to work on it
	Prompt  time.Duration // processing the prompt (prefill)
	Predict time.Duration // generating the output (decode)
	Total   time.Duration // from the arrival of the request to its last token

	PromptTokens int // prompt tokens that were processed
	CachedTokens int // prompt tokens that were taken from a cache instead
	OutputTokens int // generated tokens

	// DraftTokens are the tokens that speculative decoding drafted, and AcceptedTokens those of
	// them that were accepted. DecodeSteps are the decode steps of the request. Servers state
	// either the tokens or the steps; see [Sample.Accepted].
	DraftTokens, AcceptedTokens, DecodeSteps int
}

// TTFT returns the time to first token: from t0 to the first delta with generated text. It
// returns false if the answer was not streamed or has no text.
func (s *Sample) TTFT() (time.Duration, bool) { return s.First - s.Due, s.Deltas > 0 }

// TTFO returns the time to first output: from t0 to the first delta with more than
// reasoning, which is the first that a user sees of the answer
// (https://github.com/ai-dynamo/aiperf/blob/main/docs/metrics-reference.md). It returns
// false if the answer was not streamed or has only reasoning.
func (s *Sample) TTFO() (time.Duration, bool) { return s.FirstOutput - s.Due, s.Outputs > 0 }

// E2E returns the E2E latency: from t0 to the last delta, or to the end of the body if the
// answer was not streamed. It returns false for a stream without text.
func (s *Sample) E2E() (time.Duration, bool) {
	if !s.Streamed {
		return s.End - s.Due, true
	}
	return s.Last - s.Due, s.Deltas > 0
}

// TPOT returns the time per output token after the first: (last delta - first delta) /
// (output tokens - 1). It returns false if there are fewer than two tokens or two deltas, or
// if the server counted tokens that it did not stream.
func (s *Sample) TPOT() (time.Duration, bool) {
	if s.Deltas < 2 || s.OutputTokens < 2 || s.HidesReasoning() {
		return 0, false
	}
	return (s.Last - s.First) / time.Duration(s.OutputTokens-1), true
}

// summarized is how many times more tokens a delta of reasoning must have than a delta of the
// rest of the answer, so that the deltas are taken for a summary of the reasoning.
const summarized = 4

// HidesReasoning reports whether OutputTokens contains reasoning tokens that the server did not
// stream. The time between the first and the last delta is then not the time of OutputTokens.
//
// The number of deltas decides, since a delta has at least one token. The reasoning is hidden if
// there is no delta of it, or if its deltas have many more tokens each than the others, as where
// the server streams a summary or sends all of the reasoning at once. The reasoning is not
// hidden if there are more deltas of the rest than that can have tokens: then reasoning is part
// of the text, or OutputTokens does not count it.
func (s *Sample) HidesReasoning() bool {
	reasoning, rest := s.ReasoningTokens, s.OutputTokens-s.ReasoningTokens
	if reasoning == 0 || rest < 0 || s.TokenSource != FromUsage || s.Outputs > rest+reasoning/2 {
		return false
	}
	return summarized*float64(s.Deltas-s.Outputs)*float64(rest) < float64(s.Outputs)*float64(reasoning)
}
