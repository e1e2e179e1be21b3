package llmbench

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// An Outcome is how a request ended. Every outcome but [OK] is a failure, and
// failed requests enter no latency and no token figure.
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

	// Due is t0, from which latencies count: in an open loop the instant the
	// schedule asked for, in a closed loop the same as Start.
	Due       time.Duration
	Start     time.Duration // just before the request was handed to the transport
	Scheduled bool          // Due was set by a schedule (open loop)

	// Connect is how long opening a connection took, 0 when one was open.
	Connect time.Duration
	// Resent counts how often the request was sent again, because the server
	// had closed the connection kept for it before a byte of an answer. t0
	// stays the first send.
	Resent int
	// Wrote is when the last byte of the request was written, FirstByte when
	// the first byte of the answer's head was read; 0 when it never was.
	Wrote, FirstByte time.Duration

	Streamed bool
	// Deltas counts the deltas that carried generated text. Without any,
	// First and Last mean nothing. Only streamed answers have deltas.
	Deltas      int
	First, Last time.Duration   // when the first and the last delta were read
	Gaps        []time.Duration // between successive deltas: Deltas-1 of them
	End         time.Duration   // when the end of the body was read, or the request was given up

	PromptTokens int // as the server stated; 0 means it did not
	CachedTokens int // those of the prompt that the server said it took from a cache
	OutputTokens int
	TokenSource  TokenSource

	// Server is what the server measured itself, on its own clock, where it
	// says so: llama.cpp and Ollama always do. No figure is computed from it.
	Server dialect.Timings

	Status  int    // of the HTTP response; 0 without one
	Finish  string // the server's finish reason
	Outcome Outcome
	Err     error // why the outcome is not OK

	text string // generated text whose tokens are still to be counted
}

// TTFT is the time from t0 to the first delta that carried generated text.
// There is none when the answer was not streamed or had no text.
func (s *Sample) TTFT() (time.Duration, bool) { return s.First - s.Due, s.Deltas > 0 }

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
