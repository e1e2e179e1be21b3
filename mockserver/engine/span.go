package engine

import (
	"math"
	"time"
)

// An activity is what the server does between two decisions: nothing, a prefill, a
// prefill together with a decode step, or a span of decode steps.
type activity struct {
	kind  activityKind
	start time.Duration
	// The fields of a prefill.
	parts    []part
	withStep bool // a decode step runs at the same time
	end      time.Duration
	// The fields of a span.
	n, done           int     // steps in the span, and steps that have ended
	firstStep, growth float64 // microseconds of the first step, and how much longer each further step is
}

type activityKind int

const (
	idle activityKind = iota
	filling
	decoding
)

// A part is the part of one prompt that a prefill computes.
type part struct {
	s      *Sequence
	tokens int
}

// horizon is the last instant, after about 73 years. Later instants are replaced by
// horizon, so that sums do not overflow.
const horizon = time.Duration(1) << 61

// addMicros returns start plus the given number of microseconds.
func addMicros(start time.Duration, micros float64) time.Duration {
	return min(start+time.Duration(math.Round(min(micros*1000, float64(horizon)))), horizon)
}

// stepEnd returns the end of step m of a span, where the first step is 1. It rounds only
// the sum of the m steps, so that rounding errors do not add up.
func (a *activity) stepEnd(m int) time.Duration {
	k := float64(m)
	return addMicros(a.start, k*a.firstStep+k*(k-1)/2*a.growth)
}

// stepsBy returns how many steps of a span have ended at the instant by.
func (a *activity) stepsBy(by time.Duration) int {
	if a.stepEnd(a.n) <= by {
		return a.n
	}
	// stepEnd(m) <= by is a quadratic inequality. Its solution may be off by rounding,
	// which the loops below correct.
	t := float64(by-a.start)/1000 + 0.001
	p := a.firstStep - a.growth/2
	m := a.done
	if root := p + math.Sqrt(p*p+2*a.growth*t); root > 0 {
		m = min(max(int(min(2*t/root, float64(a.n))), a.done), a.n)
	}
	for m > a.done && a.stepEnd(m) > by {
		m--
	}
	for m < a.n && a.stepEnd(m+1) <= by {
		m++
	}
	return m
}

// endOf returns the end of the prefill, or of step m of the span. It returns false if the server is idle.
func (a *activity) endOf(m int) (time.Duration, bool) {
	switch a.kind {
	case filling:
		return a.end, true
	case decoding:
		return a.stepEnd(m), true
	}
	return 0, false
}
