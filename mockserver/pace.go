package mockserver

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// horizon is the longest time anything is due after admission, 73 years: longer
// ones are cut to it, so that instants do not overflow.
const horizon = 1 << 61 * time.Nanosecond

// A pace is the timing of a Config.
type pace struct {
	ttft, perPrompt, perToken time.Duration
	jitter                    float64
	seed                      uint64
	speed                     float64
}

// due returns when each of n tokens is due after a prompt of that many tokens,
// counted from admission. Intervals are added up as they are and rounded to
// nanoseconds once, so rounding does not add up.
func (p pace) due(ordinal uint64, prompt, n int) []time.Duration {
	var factors *rand.Rand
	if p.jitter > 0 {
		factors = rand.New(rand.NewPCG(p.seed, ordinal))
	}
	due := make([]time.Duration, n)
	at, step := 0.0, float64(p.ttft)+float64(p.perPrompt)*float64(prompt)
	for k := range due {
		factor := 1.0
		if factors != nil {
			factor += p.jitter * (2*factors.Float64() - 1)
		}
		at += step * factor
		due[k] = time.Duration(math.Round(min(at/p.speed, float64(horizon))))
		step = float64(p.perToken)
	}
	return due
}

// further is the time between tokens that nobody has asked for. It is never less
// than a millisecond: such an output has no end.
func (p pace) further() time.Duration {
	return max(time.Duration(min(float64(p.perToken)/p.speed, float64(time.Hour))), time.Millisecond)
}

// A clock counts from the instant it was made, on the monotonic clock.
type clock struct{ epoch time.Time }

func (c clock) now() time.Duration { return time.Since(c.epoch) }

// An alarm waits for instants of a clock, one at a time, with one timer.
type alarm struct {
	clock clock
	timer *time.Timer // nil until it is first needed
}

// wait returns at the instant until, at once if that has passed. It returns
// early, with the context's error, when the context ends.
func (a *alarm) wait(ctx context.Context, until time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	left := until - a.clock.now()
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
