package llmbench

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// Choices are the events of a stream that had a choice, with text or without. Its
// zero value says that none had, or that the dialect knows none.
type Choices struct {
	// Before, Amid and After count those without text: before the first delta,
	// between two, and after the last one. Those with text are Sample.Deltas.
	Before, Amid, After int
	First, Last         time.Duration // when the first and the last came
}

// note keeps what other tools count of an event that came at an instant. It is
// called before the event's text is counted.
func (s *Sample) note(d *dialect.Delta, at, lag time.Duration) {
	if d.Done && s.Done == 0 {
		s.Done, s.lags.done = at, lag
	}
	if !d.Done || d.Choices > 0 {
		s.LastEvent, s.lags.lastEvent = at, lag
	}
	c := &s.Choices
	if d.Choices > 0 {
		if c.First == 0 {
			c.First, s.lags.choiceFirst = at, lag
		}
		c.Last, s.lags.choiceLast = at, lag
	} else if d.Usage.OutputTokens > 0 {
		s.UsageAlone = true
	}
	if d.Chunks > 0 {
		c.Amid, c.After = c.Amid+c.After, 0
	}
	switch n := max(0, d.Choices-d.Chunks); {
	case s.Deltas+d.Chunks == 0:
		c.Before += n
	default:
		c.After += n
	}
}
