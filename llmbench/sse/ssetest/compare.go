package ssetest

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// expected returns what the parser under test shall emit for a body of which
// the standard makes events and tail, when it ended with err after emitting n
// events.
func expected(o Options, events []Event, tail *Event, n int, err error) []Event {
	if tail == nil || o.EOF == Discard || errors.Is(err, io.ErrUnexpectedEOF) && n == len(events) {
		return events
	}
	last := *tail
	last.Unterminated = o.EOF == Mark
	return append(events[:len(events):len(events)], last)
}

// differ tells how got differs from want, or "" if it does not. What the
// options leave out is not compared; text is compared as a UTF-8 decoder reads it.
func differ(o Options, got, want []Event) string {
	for i := range want {
		if i == len(got) {
			return fmt.Sprintf("event %d is missing: want %s", i, show(o, want[i]))
		}
		if !same(o, got[i], want[i]) {
			return fmt.Sprintf("event %d is %s; want %s", i, show(o, got[i]), show(o, want[i]))
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("event %d is one too many: %s", len(want), show(o, got[len(want)]))
	}
	return ""
}

func same(o Options, got, want Event) bool {
	return sameText(got.Data, want.Data) &&
		(o.NoType || sameText(typeOf(got), typeOf(want))) &&
		(o.NoID || sameText(got.ID, want.ID)) &&
		(o.NoRetry || got.Retry == want.Retry || want.Retry == anyRetry) &&
		(o.EOF != Mark || got.Unterminated == want.Unterminated)
}

func sameText(a, b string) bool {
	return a == b || decodeUTF8([]byte(a)) == decodeUTF8([]byte(b))
}

func typeOf(e Event) string {
	if e.Type == "" {
		return "message"
	}
	return e.Type
}

// show prints an event as Go, without what the options leave out.
func show(o Options, e Event) string {
	var b strings.Builder
	b.WriteString("{")
	if !o.NoType && typeOf(e) != "message" {
		fmt.Fprintf(&b, "Type: %s, ", quote(e.Type))
	}
	fmt.Fprintf(&b, "Data: %s", quote(e.Data))
	if !o.NoID && e.ID != "" {
		fmt.Fprintf(&b, ", ID: %s", quote(e.ID))
	}
	if !o.NoRetry && e.Retry != 0 && e.Retry != anyRetry {
		fmt.Fprintf(&b, ", Retry: %v", e.Retry)
	}
	if e.Unterminated {
		b.WriteString(", Unterminated: true")
	}
	b.WriteString("}")
	return b.String()
}

// quote quotes s; of a long one only the two ends.
func quote(s string) string {
	const most = 160
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q + %d bytes + %q", s[:most/2], len(s)-most, s[len(s)-most/2:])
}

// endsWell tells what is wrong with the error that a reading ended with, or
// returns "".
//
// bodyErr is what the body ended with, cut whether it ended within a block, and
// tooLarge whether the body holds a block that the parser need not take.
func endsWell(err, bodyErr error, cut, tooLarge bool) string {
	var p panicked
	switch {
	case errors.As(err, &p), errors.Is(err, errHung):
		return err.Error()
	case bodyErr != nil && err == nil:
		return fmt.Sprintf("the body failed (%v), the parser ended without an error", bodyErr)
	case bodyErr != nil, err == nil, tooLarge:
		return ""
	case cut && errors.Is(err, io.ErrUnexpectedEOF):
		return ""
	}
	return fmt.Sprintf("the body ended cleanly, the parser with the error %v", err)
}
