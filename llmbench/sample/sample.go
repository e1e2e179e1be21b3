package sample

import "time"

// A Sample holds what the client measured of one request. Instants are durations since the start of the
// pass, on the client's monotonic clock. They are raw: all metrics are computed from them later.
type Sample struct {
	ID string // the request's X-Request-Id
	// Shard is the number, from 0, of the process that sent the request, if several processes made the
	// measurement together. Instants are on this process's clock.
	Shard int
	Pass  int // number of the pass among the passes of one benchmark sample, from 0
	// Request is the index of the request in the pass, from 0. Samples come in the order in which their
	// requests ended.
	Request int
	Turn    int // number of the turn in its session, from 0
	// Model is the model that the request named instead of the target's, or "".
	Model string
	// Class is the class of the load to which the request belongs, or "" if the load has none.
	Class string
	// Epoch is the start of the pass on the wall clock, accurate to about a microsecond.
	Epoch time.Time
	// From is the instant at which the warm-up that is part of the pass was over, or 0 if the pass has none. See
	// [Sample.IsWarmup].
	From time.Duration
	// Until is the instant at which the time of the pass was over. From then on the load drew no request, so that only
	// later turns of sessions were sent. It is 0 if the pass has no such time.
	Until time.Duration

	// The schedule and the send.

	// Scheduled says that the request had a due instant, as in an open loop.
	Scheduled bool
	// Due is t0, the instant from which latencies count. It is the instant of the schedule, or Start if the
	// request was not scheduled.
	Due time.Duration
	// Granted is the instant at which the request was allowed to be sent, if the limit MaxInFlight held it
	// back until after Due; else 0. The server causes this wait, not the client.
	Granted time.Duration
	// Admitted is the instant just before the request was passed to the transport.
	Admitted time.Duration
	// Start is the instant of the send: just before the first byte was written. If a connection had to be
	// opened, Start is Admitted, so that latencies contain the time to connect.
	Start time.Duration
	// SentBy is the latest instant at which the first byte can have left the process, if this instant is
	// more than 100 µs after Start; else 0. The process was then stopped just before the write or just
	// after it.
	SentBy time.Duration
	// Connect is how long the request waited for a connection to be opened. It is 0 if a connection was
	// open already, or if none could be opened.
	Connect time.Duration
	// Resent is how many times the request was sent again because the server had closed a kept-alive
	// connection without processing the request. Start is the instant of the first send.
	Resent int
	// ResentUnread says that the request had reached the server before it was sent again, but that the
	// server did not read it. The server closed the connection too soon to have processed the request, but
	// it may have refused it.
	ResentUnread bool
	// Wrote is the instant at which the last byte of the request was written. It is 0 if that byte was
	// never written. It is not later than FirstByte.
	Wrote time.Duration

	// The answer.

	// FirstByte is the instant at which the first byte of the response header came, or 0 if none came.
	FirstByte time.Duration
	// End is the instant at which the body ended, or at which the client gave the request up.
	End time.Duration
	// InFlight is the number of requests of the pass that were in flight just before End, including this
	// one. It is 0 if the request does not belong to a pass or was never sent.
	InFlight int
	// Streamed says that the client asked for a stream. Only streamed answers have deltas.
	Streamed bool
	// Events is the number of events of the stream, or 1 for the body of an answer that was not streamed.
	// It is 0 if nothing came.
	Events int
	// Deltas is the number of deltas with generated text: content, reasoning or tool-call
	// arguments.
	Deltas int
	// First and Last are the instants of the first and the last delta. They have no meaning if Deltas is 0.
	First, Last time.Duration
	// Gaps holds the Deltas-1 times between successive deltas.
	Gaps []time.Duration
	// Blank is the number of deltas before the first delta with something to see; see [Sample.SeenDelta]. It is 0
	// if no delta has something to see.
	Blank int
	// DeltaTokens holds the number of tokens of each delta, as the server reported them with its events. It
	// is nil if the server did not report them, or if no delta has several tokens.
	DeltaTokens []int32
	// Cut is the number of deltas whose event came in two parts: the second part arrived [BurstPause] or
	// more after the first, when the client had read the first. It is 0 without kernel timestamps.
	Cut int
	// Outputs is the number of deltas with more than reasoning. FirstOutput is the instant of the first of
	// these deltas or, if reasoning comes before them, of the first with something to see.
	Outputs     int
	FirstOutput time.Duration

	// Unread is the name of a member that the dialect does not know, which may have had text before or
	// between the deltas, such as "delta.thoughts". If there is one, the instants of the deltas are not all
	// instants of text, so that the times to them and between them mean nothing. It is "" if there is none.
	Unread string
	// UnreadLast says that such a member came after the last delta, so that text may have ended later.
	UnreadLast bool

	// The clock of the answer.

	// Clock is the clock of FirstByte, First, Last, Gaps, End and the instants of other events.
	Clock Clock
	// Lags holds, for each delta, the time from the kernel's timestamp to the return of the client's read.
	// It is nil if Clock is UserClock.
	Lags []time.Duration
	// Merged describes the deltas whose exact instants are unknown, in the order of the deltas. It is nil
	// if Clock is UserClock.
	Merged []Merged
	// FirstByteLag and EndLag are the lags of FirstByte and End. EndLag is 0 if End has no timestamp, for
	// example because the connection was closed.
	FirstByteLag, EndLag time.Duration
	// EventLags holds the lags of other events. Records do not contain it.
	EventLags EventLags

	// The following fields are for the metrics of other benchmark tools, which package compat computes. No
	// unit is computed from them.

	// Choices describes the events with a choice, in OpenAI's dialects.
	Choices Choices
	// LastEvent is the instant of the last event before the end marker, and Done is the instant of the end
	// marker; each is 0 if there was none.
	LastEvent, Done time.Duration
	// UsageAlone says that the server reported usage in an event without a choice.
	UsageAlone bool

	// Tokens and characters.

	MaxTokens    int  // upper limit of the output that the request asked for
	FixedOutput  bool // the request asked for exactly MaxTokens, so that a shorter answer is a failure
	AskedTokens  int  // intended length of the prompt; 0 if unknown
	PromptTokens int  // as the server reported; 0 if it did not
	CachedTokens int  // prompt tokens that the server reported as taken from a cache
	CachedStated bool // the server reported CachedTokens, which may be 0
	OutputTokens int
	TokenSource  TokenSource // source of OutputTokens
	// TextTokens is the number of tokens of the answer without its reasoning, counted by a tokenizer to
	// check OutputTokens; 0 if no tokenizer counted them. Records do not contain it.
	TextTokens int
	// ReasoningTokens is the number of reasoning tokens that the server reported; 0 if it reported none.
	// See [Sample.HidesReasoning].
	ReasoningTokens int
	// PromptChars and OutputChars are numbers of Unicode code points. PromptChars counts the text that was
	// sent, without what the dialect and the server add. OutputChars counts all generated text.
	PromptChars, OutputChars int
	// Inputs is the number of texts that the request asked to embed or to rank; 0 for a request for
	// generated text. Dimensions is the length of the vectors of the answer, or 0.
	Inputs, Dimensions int

	// The end.

	Outcome Outcome
	Err     error // the reason, if Outcome is not OK; results and records contain only its text
	Status  int   // HTTP status; 0 if there was no response
	// ErrorStatus is the HTTP status that an error in the answer states for itself, such as 400, although the
	// response had another status; 0 if there is no such error.
	ErrorStatus int
	// RetryAfter is how long the server asked the client to wait before another request, in the header
	// Retry-After of an error response (https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3). It is
	// 0 if the server did not ask. The load does not wait.
	RetryAfter time.Duration
	// Header has the fields of the answer's header that the target's RecordHeader names, in this order, without
	// fields that the answer does not have.
	Header []Field
	// TraceID is the trace ID in the request's field traceparent, in hexadecimal digits, or "" if the request
	// has no such field (https://www.w3.org/TR/trace-context/#trace-id).
	TraceID string
	Finish  string // the server's finish reason
	// UnknownFinish says that the dialect does not document the finish reason, or that the answer has none although
	// the dialect has finish reasons: its end marker says so, or it was not streamed. The reason then does not show that the answer
	// is complete.
	UnknownFinish bool
	// Server is what the server measured on its own clock; zero if the server reported nothing. Only
	// accept-len and accept-% are computed from it.
	Server ServerTimings
	// Checked says that the request was successful and its answer was checked. Correct says that the answer
	// is correct. Wrong says why the answer is not correct, in at most [MaxWrong] bytes.
	Checked, Correct bool
	Wrong            string
	// Answer is the generated answer, if the load keeps answers.
	Answer *Answer
}

// MaxWrong is the maximum length of Sample.Wrong, in bytes.
const MaxWrong = 500

// Merged describes successive deltas whose exact instants are unknown. The client read them together with
// later bytes, which came in another TCP segment, and the kernel reports only the timestamp of the last
// segment of a read. The sample's instants of these deltas are therefore the latest possible instants.
// Deltas that came in one segment are not Merged: the server, or something between the server and the
// client, sent them together.
type Merged struct {
	Delta  int           // index of the first of the deltas
	Deltas int           // number of deltas, at least 1
	Since  time.Duration // earliest instant at which the deltas can have come
}

// A Field is a field of an HTTP header. Name is in lower case. Value contains no secret that the process knows.
type Field struct{ Name, Value string }

// ServerTimings are a server's own measurements of a request. A field is 0 if the server does not report
// it.
type ServerTimings struct {
	Load    time.Duration // loading the model, if the request had to wait for that
	Queue   time.Duration // from the arrival of the request until the server started to process it
	Prompt  time.Duration // processing the prompt (prefill)
	Predict time.Duration // generating the output (decode)
	Total   time.Duration // from the arrival of the request to its last token

	PromptTokens int // prompt tokens that were processed
	CachedTokens int // prompt tokens that were taken from a cache instead
	OutputTokens int // generated tokens

	// DraftTokens is the number of tokens that speculative decoding drafted, and AcceptedTokens is how many
	// of them were accepted. DecodeSteps is the number of the request's decode steps. Servers report either
	// the tokens or the steps; see [Sample.Accepted].
	DraftTokens, AcceptedTokens, DecodeSteps int
}
