package ssetest

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// An Event is one event that the parser under test returned.
type Event struct {
	// Type is the value of the event's "event" field. Without this field, both "" and "message" are
	// correct.
	Type string
	// Data holds the values of the data fields, joined with LF.
	Data string
	// ID is the stream's last event ID when the event was dispatched. The event itself or an earlier block
	// set it.
	ID string
	// Retry is the last reconnection time that the stream requested before the event was dispatched, or 0.
	Retry time.Duration
	// Unterminated says that the parser marked the event as incomplete, because the body ended before the
	// event's blank line. See [Mark].
	Unterminated bool
}

// A Decode function reads body to its end with the parser under test. It calls emit for every event, in
// order, without waiting for later events. It returns nil or [io.EOF] if the body ended, otherwise the
// error of the parser.
//
// A Decode function must emit exactly the events that the parser returns to its users. If the parser
// returns a block without data, the function must emit it too; the parser then fails the test.
//
// The package calls the function many times, each time in a new goroutine. The function may call emit from
// any goroutine until it returns.
type Decode func(body io.Reader, emit func(Event)) error

// An EOF says what a parser does with an event whose blank line is missing because the body ended. In each
// case, the parser may also return an error that wraps [io.ErrUnexpectedEOF].
type EOF int

const (
	// Discard means that the parser drops the event. This is the rule of the standard.
	Discard EOF = iota
	// Flush means that the parser returns the event like any other event. A last line without a line end
	// counts as a line of the event.
	Flush
	// Mark means that the parser returns the event with [Event.Unterminated] set. No other event may have
	// this mark.
	Mark
)

// Options declare intended differences between the parser under test and the standard. The zero value
// declares no differences.
type Options struct {
	// NoType, NoID and NoRetry declare that events do not have the field of that name.
	NoType, NoID, NoRetry bool
	// NoPrompt declares that the parser may read beyond an event before it returns the event.
	NoPrompt bool
	// EOF says what the parser does with an event that is incomplete at the end of the body.
	EOF EOF
	// MaxEventSize is the parser's limit for the size of an event, in bytes. Because parsers count
	// differently, the rules are loose. The parser must accept blocks of up to half the limit. It must not
	// return an event with more data than the limit. It must fail on an endless line or event before it has
	// read 8 times the limit. It must never hold more memory than 3 times the limit plus 1 MiB. 0 declares
	// that there is no limit; memory is then not checked.
	MaxEventSize int
	// Timeout is the time after which one reading of a body counts as hung. 0 means 10 s. After one reading
	// has hung, the timeout is at most 1 s.
	Timeout time.Duration
	// Gaps declare rules that the parser is known to break: classes of cases such as "lines", single cases
	// such as "fields/no-space", and "late" if the parser returns events late. TestDecoder skips failed
	// cases that a gap declares, and cases that are wrong for the same reason as a declared class, and fails if a gap no longer occurs. Fuzz changes each body so that it
	// does not depend on the rules of these classes. Check ignores Gaps.
	Gaps []string
}

// String returns the options as Go code.
func (o Options) String() string {
	var fields []string
	add := func(set bool, format string, args ...any) {
		if set {
			fields = append(fields, fmt.Sprintf(format, args...))
		}
	}
	add(o.NoType, "NoType: true")
	add(o.NoID, "NoID: true")
	add(o.NoRetry, "NoRetry: true")
	add(o.NoPrompt, "NoPrompt: true")
	add(o.EOF == Flush, "EOF: ssetest.Flush")
	add(o.EOF == Mark, "EOF: ssetest.Mark")
	add(o.MaxEventSize > 0, "MaxEventSize: %d", o.MaxEventSize)
	add(o.Timeout > 0, "Timeout: %d", o.Timeout)
	add(len(o.Gaps) > 0, "Gaps: %#v", o.Gaps)
	return "ssetest.Options{" + strings.Join(fields, ", ") + "}"
}

// timeout returns the time after which a reading counts as hung, when the given number of readings have
// hung before.
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
