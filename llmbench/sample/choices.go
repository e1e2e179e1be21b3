package sample

import "time"

// Choices describe the events of a stream that have a choice (OpenAI's dialects). The zero
// value means that no event had one, or that the dialect has none.
type Choices struct {
	// Before, Amid and After are the numbers of such events without text: before the first
	// delta, between two deltas, and after the last one. Events with text are deltas.
	Before, Amid, After int
	// First and Last are the instants of the first and the last such event.
	First, Last time.Duration
}
