package pace

import (
	"math"
	"math/rand/v2"
	"time"
)

// horizon is the longest time from admission to a token, about 73 years. Longer times are
// replaced by horizon, so that sums do not overflow.
const horizon = 1 << 61 * time.Nanosecond

// A Rate is the timing of a server that does not batch. All times are divided by
// Speed.
type Rate struct {
	TTFT, PerPromptToken, PerToken time.Duration
	Jitter                         float64 // 0 to 1; each interval gets a random factor in [1-Jitter, 1+Jitter]
	Seed                           uint64  // seed of the jitter, together with the request's ordinal
	Speed                          float64 // above 0
}

// due returns when each of n output tokens is due, measured from admission. ordinal is the
// request's number and prompt is the number of tokens in its prompt. Only the sums of the
// intervals are rounded, so that rounding errors do not add up.
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

// afterLast returns the time between the tokens that an endless output has beyond its
// requested length. It is at least a millisecond, so that an endless output does not keep a
// CPU busy.
func (r Rate) afterLast() time.Duration {
	return max(time.Duration(min(float64(r.PerToken)/r.Speed, float64(time.Hour))), time.Millisecond)
}
