package ssetest

import (
	"io"
	"time"
)

// An Event is one event as the parser under test hands it over.
type Event struct {
	// Type is the event's name. A parser may say "" or "message" of an event
	// that was given none.
	Type string
	// Data is the data lines joined with LF.
	Data string
	// ID is the last event ID of the stream when the event was dispatched: the
	// event's own, or one that an earlier block set.
	ID string
	// Retry is the reconnection time that the stream had last asked for when
	// the event was dispatched, 0 while it had not.
	Retry time.Duration
	// Unterminated is the parser's mark on an event that the end of the body
	// left without its blank line. See [Mark].
	Unterminated bool
}

// A Decode reads body to its end with the parser under test and calls emit for
// every event, in order and without waiting for later ones. It returns what
// ended the stream: nil or [io.EOF] for a body that ended, otherwise an error.
//
// Only events that the parser itself hands to its users are emitted: a parser
// that hands over a block without data shall emit it, and fail for it.
//
// The kit calls it from a goroutine of its own, many times; emit may be called
// from any goroutine, until Decode returns.
type Decode func(body io.Reader, emit func(Event)) error

// An EOF says what a parser does with an event that the end of the body left
// without its blank line. Under each a parser may also end with an error that
// is [io.ErrUnexpectedEOF].
type EOF int

const (
	// Discard is the rule of the standard: the event is not handed over.
	Discard EOF = iota
	// Flush hands it over like any other, including what a last line without
	// line end adds to it.
	Flush
	// Mark hands it over with [Event.Unterminated] set, and no other event so.
	Mark
)

// Options declare what the parser under test does not offer or does on purpose.
// The zero value is a parser that does all the standard says.
type Options struct {
	// NoType, NoID and NoRetry: events do not carry that field.
	NoType, NoID, NoRetry bool
	// NoPrompt: events may come later than the read that completes them.
	NoPrompt bool
	// EOF is what happens to an event that the end of the body cuts.
	EOF EOF
	// MaxEventSize is the bound in bytes, if the parser has one, above which
	// it gives an event up with an error. Parsers count differently, so the
	// kit wants blocks of up to half of it to pass, no event with more data,
	// and an error on an endless line or event after at most 8 times as much,
	// holding never more than 3 times as much memory (plus 1 MiB).
	// 0 means that there is no bound; memory is then not checked.
	MaxEventSize int
	// Timeout is how long one reading of one body may take before it counts as
	// hung. 0 means 10 s.
	Timeout time.Duration
}

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return 10 * time.Second
}

// passes reports whether a parser with these options must take a block of n
// bytes.
func (o Options) passes(n int) bool { return o.MaxEventSize == 0 || n <= o.MaxEventSize/2 }
