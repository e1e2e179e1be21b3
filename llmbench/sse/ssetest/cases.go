package ssetest

import (
	"slices"
	"strings"
	"time"
)

// A testCase is a body and what the standard makes of it. All of it is written
// by hand; that the reference decoder says the same is tested.
type testCase struct {
	class, name, why string
	stream           string
	want             []Event // the events it dispatches; Type "" means message
	tail             *Event  // the event that the end of the body cuts, if any
	err              error   // what the body ends with, if not io.EOF
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
		inClass("llm", llmCases),
		inClass("limits", limitCases()),
	)
}

func inClass(class string, cases []testCase) []testCase {
	out := slices.Clone(cases)
	for i := range out {
		out[i].class = class
	}
	return out
}

// messages returns one event for each data, with no type, ID or retry.
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

// retrying returns messages whose stream asked for a reconnection time in ms
// before the first of them.
func retrying(ms int, data ...string) []Event {
	events := messages(data...)
	for i := range events {
		events[i].Retry = time.Duration(ms) * time.Millisecond
	}
	return events
}

// pending is an event that the end of the body cuts.
func pending(e Event) *Event { return &e }

// rep is strings.Repeat, which the tables need often.
func rep(s string, n int) string { return strings.Repeat(s, n) }
