package ssetest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// expected returns the events that the parser under test must emit for a body. The arguments events and
// tail are the events of the body. The parser has emitted n events and returned err.
func expected(o Options, events []Event, tail *Event, n int, err error) []Event {
	if tail == nil || o.EOF == Discard || errors.Is(err, io.ErrUnexpectedEOF) && n == len(events) {
		return events
	}
	last := *tail
	last.Unterminated = o.EOF == Mark
	return append(events[:len(events):len(events)], last)
}

// differ describes the first difference between got and want, or returns "" if there is none. It does not
// compare fields that the options exclude. Invalid UTF-8 is equal to its replacement.
func differ(o Options, got, want []Event) string {
	for i := range want {
		if i == len(got) {
			return fmt.Sprintf("event %d is missing: want %s", i, show(o, want[i]))
		}
		if !same(o, got[i], want[i]) {
			return fmt.Sprintf("event %d is %s: want %s", i, show(o, got[i]), show(o, want[i]))
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("event %d should not exist: %s", len(want), show(o, got[len(want)]))
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

func typeOf(e Event) string { return cmp.Or(e.Type, "message") }

// show formats an event as Go code, without the fields that the options exclude.
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

// quote quotes s. If s is long, it quotes only the beginning and the end.
func quote(s string) string {
	const most = 160
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q + %d bytes + %q", s[:most/2], len(s)-most, s[len(s)-most/2:])
}

// endProblem describes what is wrong with err, the error that the parser returned. It returns "" if err is
// correct. The argument bodyErr is the final error of the body. The argument cut says that the body ended
// within a block, and tooLarge says that the body has a block that the parser does not have to accept.
func endProblem(err, bodyErr error, cut, tooLarge bool) string {
	var p panicError
	switch {
	case errors.As(err, &p), errors.Is(err, errHung):
		return err.Error()
	case bodyErr != nil && err == nil:
		return fmt.Sprintf("the body failed (%v), but the parser ended without an error", bodyErr)
	case bodyErr != nil, err == nil, tooLarge:
		return ""
	case cut && errors.Is(err, io.ErrUnexpectedEOF):
		return ""
	}
	return fmt.Sprintf("the body ended without an error, but the parser returned %v", err)
}
