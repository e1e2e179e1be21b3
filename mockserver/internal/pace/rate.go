package pace

import (
	"math"
	"math/rand/v2"
	"time"
)

// horizon is the longest time from admission to a token, about 73 years. Longer
// times are cut to it, so that instants do not overflow.
const horizon = 1 << 61 * time.Nanosecond

// A Rate is the timing of a server that does not batch. All times are divided by
// Speed.
type Rate struct {
	TTFT, PerPromptToken, PerToken time.Duration
	Jitter                         float64 // 0 to 1: each interval is multiplied by 1-Jitter to 1+Jitter
	Seed                           uint64  // of the jitter, with the ordinal
	Speed                          float64 // above 0
}

// due returns when each of n tokens is due, counted from admission, after a prompt
// of that many tokens. The intervals are added up unrounded, so that rounding errors
// do not add up.
func (r Rate) due(ordinal uint64, prompt, n int) []time.Duration {
	var factors *rand.Rand
	if r.Jitter > 0 {
		factors = rand.New(rand.NewPCG(r.Seed, ordinal))
	}
	due := make([]time.Duration, n)
	at, step := 0.0, float64(r.TTFT)+float64(r.PerPromptToken)*float64(prompt)
	for k := range due {
		factor := 1.0
		if factors != nil {
			factor += r.Jitter * (2*factors.Float64() - 1)
		}
		at += step * factor
		due[k] = time.Duration(math.Round(min(at/r.Speed, float64(horizon))))
		step = float64(r.PerToken)
	}
	return due
}

// afterLast returns the time between tokens beyond those that were asked for. Such
// an output has no end, so the time is at least a millisecond.
func (r Rate) afterLast() time.Duration {
	return max(time.Duration(min(float64(r.PerToken)/r.Speed, float64(time.Hour))), time.Millisecond)
}
