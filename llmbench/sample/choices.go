package sample

import "time"

// Choices describes the events of a stream that have an element in the list "choices" (OpenAI's dialects).
// It counts those without text; events with text are deltas. The zero value means that no event had a
// choice, or that the dialect has none.
type Choices struct {
	// Before, Amid and After are the numbers of events with a choice but without text: before the first
	// delta, between two deltas, and after the last delta.
	Before, Amid, After int
	// First and Last are the instants of the first and the last event with a choice.
	First, Last time.Duration
}
