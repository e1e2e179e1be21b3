package llmbench

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// note keeps what other tools count of an event that came at an instant. It is
// called before the event's text is counted.
func note(s *sample.Sample, d *dialect.Delta, at, lag time.Duration) {
	if d.Done && s.Done == 0 {
		s.Done, s.EventLags.Done = at, lag
	}
	if !d.Done || d.Choices > 0 {
		s.LastEvent, s.EventLags.LastEvent = at, lag
	}
	c := &s.Choices
	if d.Choices > 0 {
		if c.First == 0 {
			c.First, s.EventLags.ChoiceFirst = at, lag
		}
		c.Last, s.EventLags.ChoiceLast = at, lag
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
