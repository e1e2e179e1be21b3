package sample

import "time"

// Choices are the events of a stream that had a choice, with text or without. Its
// zero value says that none had, or that the dialect knows none.
type Choices struct {
	// Before, Amid and After count those without text: before the first delta,
	// between two, and after the last one. Those with text are Sample.Deltas.
	Before, Amid, After int
	First, Last         time.Duration // when the first and the last came
}
