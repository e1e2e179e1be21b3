package sample

import "time"

// An Outcome is how a request ended. Every outcome but [OK] and [Left] is a
// failure, and only successful requests enter latencies and token figures.
type Outcome string

// The outcomes, as they stand in records.
const (
	OK          Outcome = "ok"           // the answer was whole
	Connect     Outcome = "connect"      // no connection, or it was lost before the answer began
	HTTP        Outcome = "http"         // a status other than 2xx
	Timeout     Outcome = "timeout"      // the request's own deadline passed
	Stalled     Outcome = "stalled"      // the stream fell silent for longer than the idle timeout
	Truncated   Outcome = "truncated"    // the answer broke off
	ServerError Outcome = "server-error" // the server reported an error within the answer
	Empty       Outcome = "empty"        // an answer without events, or without a single token
	Malformed   Outcome = "malformed"    // not what the dialect allows
	Canceled    Outcome = "canceled"     // the pass was given up: its deadline passed, or it was interrupted
	Left        Outcome = "left"         // the client left before the end, as the load plans: no failure
)

// A TokenSource tells where a request's output token count comes from.
type TokenSource string

// The sources, from the best to none.
const (
	FromUsage     TokenSource = "usage"     // the server stated it, as usage or beside its timings
	FromEvents    TokenSource = "events"    // the server stated for each event how many tokens it has
	FromTokenizer TokenSource = "tokenizer" // the load's tokenizer counted the text
	FromDeltas    TokenSource = "deltas"    // the deltas were counted: a server may put several tokens in one
	FromNothing   TokenSource = "none"      // unknown: not streamed, and the server stated nothing
)

// A Sample is what one request experienced. Its instants are on the client's
// monotonic clock, since the start of the pass, and are kept raw: every metric
// is computed from them afterwards.
type Sample struct {
	ID   string // as sent in X-Request-Id
	Pass int    // which pass of the benchmark's sample, from 0
	Turn int    // which turn of its session, from 0

	// Epoch is the start of the pass, which the instants count from, on the
	// wall clock: good to a microsecond.
	Epoch time.Time

	// Due is t0, from which latencies count: in an open loop the instant the
	// schedule asked for, in a closed loop the same as Start.
	Due time.Duration
	// Granted is when the request had its turn in an open loop with MaxInFlight:
	// what it waited for that beyond Due is the server's doing. Else it is 0.
	Granted time.Duration
	// Admitted is just before the request was handed to the transport. Start is
	// the send, just before its first byte was written: the client's own delay
	// between the two is not the server's. Where a connection had to be opened,
	// that is not left out: Start is Admitted.
	Admitted, Start time.Duration
	Scheduled       bool // Due was set by a schedule (open loop)

	// Connect is how long the request waited for a connection to be opened, 0 when
	// one was open or none could be.
	Connect time.Duration
	// Resent counts how often the request was sent again, because the server
	// had closed the connection kept for it before a byte of an answer. t0
	// stays the first send.
	Resent int
	// Wrote is when the last byte of the request was written, FirstByte when
	// the first byte of the answer's head came, which is no earlier; 0 when it
	// never was.
	Wrote, FirstByte time.Duration

	// Clock is what FirstByte, First, Last, Gaps, End and the instants of other
	// events are on.
	Clock Clock
	// Lags tells of each delta how long after the kernel's stamp the client
	// had read it: the stamp plus the lag is the user clock's instant. On the
	// user clock it is nil. FirstByteLag and EndLag are the same of FirstByte
	// and End; EndLag is 0 where End is the user clock's all the same, as the
	// end of a connection has no stamp.
	Lags                 []time.Duration
	FirstByteLag, EndLag time.Duration
	// EventLags are the same of the instants of other events. Records do not hold
	// them.
	EventLags EventLags

	Streamed bool
	// Choices says which events of the stream had a choice, of OpenAI's dialects
	// only. LastEvent is when the last event but the end marker was read, Done
	// when the end marker was; 0 when none was. No figure is computed from these,
	// but other tools compute theirs from them, see package compat.
	Choices         Choices
	LastEvent, Done time.Duration
	// UsageAlone tells that the server stated usage in an event without a choice.
	UsageAlone bool
	// Deltas counts the deltas that carried generated text. Without any,
	// First and Last mean nothing. Only streamed answers have deltas.
	Deltas      int
	First, Last time.Duration   // when the first and the last delta came
	Gaps        []time.Duration // between successive deltas: Deltas-1 of them
	// Outputs counts those of the deltas that carried more than reasoning, and
	// FirstOutput is when the first of them was read.
	Outputs     int
	FirstOutput time.Duration
	End         time.Duration // when the end of the body came, or the request was given up

	MaxTokens    int // that were asked for at most
	PromptTokens int // as the server stated; 0 means it did not
	CachedTokens int // those of the prompt that the server said it took from a cache
	OutputTokens int
	TokenSource  TokenSource
	// AskedTokens is the request's PromptTokens: how long the prompt was meant
	// to be, where the workload knows; 0 means it does not.
	AskedTokens int
	// PromptChars and OutputChars are characters (Unicode code points): of the
	// text that was sent, without what the dialect and the server put around it,
	// and of all that was generated.
	PromptChars, OutputChars int

	// Server is what the server measured itself, on its own clock, where it
	// says so: llama.cpp and Ollama always do. No figure is computed from it.
	Server ServerTimings

	Status  int    // of the HTTP response; 0 without one
	Finish  string // the server's finish reason
	Outcome Outcome
	Err     error // why the outcome is not OK

	// Answer is what was generated, if the load keeps it.
	Answer *Answer
}

// ServerTimings are what a server says of a request that it answered. What it does
// not say is 0.
type ServerTimings struct {
	Load    time.Duration // of the model, if the request had to wait for that
	Queue   time.Duration // until the server began to work on the request
	Prompt  time.Duration // processing the prompt (prefill)
	Predict time.Duration // generating the output (decode)
	Total   time.Duration // from the request's arrival to its last token

	// The tokens that the durations are of: those of the prompt that the server
	// processed, those that it took from a cache instead, and those that it
	// generated.
	PromptTokens, CachedTokens, OutputTokens int
}

// An Answer is what a server generated for one request.
type Answer struct {
	Text      string `json:"text"`
	Reasoning string `json:"reasoning,omitempty"` // before it, where the server parts the two
	// ToolNames are the functions that were called, parted by spaces, and
	// ToolCalls their arguments, one after the other.
	ToolNames string `json:"tool_names,omitempty"`
	ToolCalls string `json:"tool_calls,omitempty"`
}

// TTFT is the time from t0 to the first delta that carried generated text.
// There is none when the answer was not streamed or had no text.
func (s *Sample) TTFT() (time.Duration, bool) { return s.First - s.Due, s.Deltas > 0 }

// TTFO is the time to first output token: from t0 to the first delta that carried
// more than reasoning, which is when its user sees something of the answer
// (after https://github.com/ai-dynamo/aiperf/blob/main/docs/metrics-reference.md).
// An answer that
// was not streamed, or that never came to an end of its reasoning, has none.
func (s *Sample) TTFO() (time.Duration, bool) { return s.FirstOutput - s.Due, s.Outputs > 0 }

// E2E is the time from t0 to the last delta or, not streamed, to the end of the
// body. A stream without text has none.
func (s *Sample) E2E() (time.Duration, bool) {
	if !s.Streamed {
		return s.End - s.Due, true
	}
	return s.Last - s.Due, s.Deltas > 0
}

// TPOT is the time per output token after the first:
// (last delta - first delta) / (output tokens - 1), for streamed answers of two
// tokens or more. A stream whose text came in one delta does not tell it.
func (s *Sample) TPOT() (time.Duration, bool) {
	if s.Deltas < 2 || s.OutputTokens < 2 {
		return 0, false
	}
	return (s.Last - s.First) / time.Duration(s.OutputTokens-1), true
}
