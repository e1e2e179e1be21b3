package pace

import (
	"context"
	"time"
)

// A Clock gives the time since its epoch on the monotonic clock.
type Clock struct{ Epoch time.Time }

// Now returns the time since the epoch.
func (c Clock) Now() time.Duration { return time.Since(c.Epoch) }

// Time returns the time of day. It is the epoch plus Now, so it ignores adjustments of the
// wall clock since the epoch.
func (c Clock) Time() time.Time { return c.Epoch.Add(c.Now()) }

// An Alarm waits for instants of a clock, one after another, with the same timer.
type Alarm struct {
	Clock Clock
	timer *time.Timer // nil until it is needed
}

// Wait returns at the instant until, or at once if the instant has passed. If the context
// ends first, Wait returns the context's error.
func (a *Alarm) Wait(ctx context.Context, until time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	left := until - a.Clock.Now()
	if left <= 0 {
		return nil
	}
	if a.timer == nil {
		a.timer = time.NewTimer(left)
	} else {
		a.timer.Reset(left)
	}
	select {
	case <-a.timer.C:
		return nil
	case <-ctx.Done():
		a.timer.Stop()
		return ctx.Err()
	}
}
