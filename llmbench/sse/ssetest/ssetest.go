package ssetest

import (
	"io"
	"time"
)

// An Event is one event as the parser under test returns it.
type Event struct {
	// Type is the value of the event's "event" field. Without that field, both
	// "" and "message" are right.
	Type string
	// Data is the values of the data fields, joined with LF.
	Data string
	// ID is the last event ID of the stream when the event was dispatched. The
	// event itself or an earlier block set that ID.
	ID string
	// Retry is the last reconnection time that the stream had asked for when
	// the event was dispatched, or 0.
	Retry time.Duration
	// Unterminated is the parser's mark on an event whose blank line is missing
	// because the body ended. See [Mark].
	Unterminated bool
}

// A Decode reads body to its end with the parser under test. It calls emit for every
// event, in order, without waiting for later events. It returns nil or [io.EOF] if
// the body ended, otherwise the error of the parser.
//
// Decode must emit exactly the events that the parser returns to its users. If the
// parser returns a block without data, Decode must emit that block, and the parser
// fails the test.
//
// The package calls Decode many times, each time in a new goroutine. Decode may call
// emit from any goroutine until Decode returns.
type Decode func(body io.Reader, emit func(Event)) error

// An EOF states what a parser does with an event whose blank line is missing because
// the body ended. With each of them, the parser may also return an error that wraps
// [io.ErrUnexpectedEOF].
type EOF int

const (
	// Discard drops the event. It is the rule of the standard.
	Discard EOF = iota
	// Flush returns the event like any other. A last line without a line end
	// counts as a line of the event.
	Flush
	// Mark returns the event with [Event.Unterminated] set, as for no other event.
	Mark
)

// Options declare the deliberate differences between the parser under test and the
// standard. The zero value declares a parser without differences.
type Options struct {
	// NoType, NoID and NoRetry declare that events do not have that field.
	NoType, NoID, NoRetry bool
	// NoPrompt declares that the parser may read more than the bytes that
	// complete an event before it returns the event.
	NoPrompt bool
	// EOF is the rule for an event that the end of the body cuts.
	EOF EOF
	// MaxEventSize is the parser's limit on the size of an event, in bytes.
	// Parsers count differently, so the rules leave room: the parser must
	// accept blocks of up to half the limit, must not return an event with more
	// data than the limit, must fail on an endless line or event before it has
	// read 8 times the limit, and must never hold more than 3 times the limit
	// plus 1 MiB of memory. 0 declares that there is no limit; memory is then
	// not checked.
	MaxEventSize int
	// Timeout is the time after which one reading of one body counts as hung.
	// 0 means 10 s. Once a reading has hung, the others have a second.
	Timeout time.Duration
	// Gaps are rules that the parser is known to break: classes of cases such as "lines",
	// cases such as "fields/no-space", and "late" for events that are returned late.
	// TestDecoder skips the cases that fail by a gap, and fails if a gap no longer occurs.
	// Fuzz changes each body so that it does not depend on the rules of these classes.
	// Check does not read them.
	Gaps []string
}

// timeout returns the time after which a reading counts as hung, after so many readings
// have hung.
func (o Options) timeout(hangs int) time.Duration {
	timeout := 10 * time.Second
	if o.Timeout > 0 {
		timeout = o.Timeout
	}
	if hangs > 0 {
		timeout = min(timeout, time.Second)
	}
	return timeout
}

// mustAccept reports whether a parser with these options must accept a block of n
// bytes.
func (o Options) mustAccept(n int) bool { return o.MaxEventSize == 0 || n <= o.MaxEventSize/2 }
