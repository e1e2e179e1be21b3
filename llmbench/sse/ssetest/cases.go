package ssetest

import (
	"slices"
	"strings"
	"time"
)

// A testCase is a body and the result that the standard prescribes. The cases were written by hand; a test
// compares them with the reference decoder.
type testCase struct {
	class, name, why string
	stream           string
	want             []Event // the events that the body completes; Type "" means message
	tail             *Event  // the event that is incomplete at the end of the body, or nil
	err              error   // the final error of the body; nil means io.EOF
}

func allCases() []testCase {
	return slices.Concat(
		inClass("bom", bomCases),
		inClass("lines", lineCases),
		inClass("fields", fieldCases),
		inClass("comments", commentCases),
		inClass("event", eventCases),
		inClass("id", idCases),
		inClass("retry", retryCases),
		inClass("dispatch", dispatchCases),
		inClass("nul", nulCases),
		inClass("utf8", utf8Cases),
		inClass("eof", eofCases),
		inClass("errors", errorCases),
		inClass(llmClass, llmCases),
		inClass("limits", limitCases()),
	)
}

// llmClass has streams in the forms that servers of language models send.
const llmClass = "llm"

func inClass(class string, cases []testCase) []testCase {
	out := slices.Clone(cases)
	for i := range out {
		out[i].class = class
	}
	return out
}

// messages returns one event per data, without type, ID and retry.
func messages(data ...string) []Event {
	var events []Event
	for _, d := range data {
		events = append(events, Event{Data: d})
	}
	return events
}

// withID returns an event with a last event ID.
func withID(id, data string) Event { return Event{Data: data, ID: id} }

// typed returns an event with a type.
func typed(typ, data string) Event { return Event{Type: typ, Data: data} }

// retrying returns messages of a stream that requested a reconnection time of ms milliseconds before the
// first message.
func retrying(ms int, data ...string) []Event {
	events := messages(data...)
	for i := range events {
		events[i].Retry = time.Duration(ms) * time.Millisecond
	}
	return events
}

// pending returns a pointer to the event that is incomplete at the end of the body.
func pending(e Event) *Event { return &e }

// rep is a short name for strings.Repeat.
func rep(s string, n int) string { return strings.Repeat(s, n) }
