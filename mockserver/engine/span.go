package engine

import (
	"math"
	"time"
)

// An activity is what the server does between two decisions: nothing, a prefill,
// perhaps beside a decode step, or a span of decode steps.
type activity struct {
	kind  activityKind
	start time.Duration
	// Of a prefill.
	parts []part
	mixed bool // a decode step goes with it
	end   time.Duration
	// Of a span.
	n, done     int     // steps in all, and those that are over
	first, more float64 // the time of the first step, and of each next the more, in microseconds
}

type activityKind int

const (
	idle activityKind = iota
	filling
	decoding
)

// A part is what a prefill computes of one prompt.
type part struct {
	s      *Sequence
	tokens int
}

// horizon is the last instant there is, in 73 years: later ones are cut to it, so
// that they do not overflow.
const horizon = time.Duration(1) << 61

// after is the instant so many microseconds after another.
func after(start time.Duration, micros float64) time.Duration {
	return min(start+time.Duration(math.Round(min(micros*1000, float64(horizon)))), horizon)
}

// at is the end of the m-th step of a span, counted from 1. It adds up the whole
// span and rounds once, so that rounding does not add up.
func (a *activity) at(m int) time.Duration {
	k := float64(m)
	return after(a.start, k*a.first+k*(k-1)/2*a.more)
}

// over is how many steps of a span are over by an instant.
func (a *activity) over(by time.Duration) int {
	if a.at(a.n) <= by {
		return a.n
	}
	// at(m) <= by is a quadratic inequality; its solution is exact but for rounding.
	t := float64(by-a.start)/1000 + 0.001
	p := a.first - a.more/2
	m := a.done
	if root := p + math.Sqrt(p*p+2*a.more*t); root > 0 {
		m = min(max(int(min(2*t/root, float64(a.n))), a.done), a.n)
	}
	for m > a.done && a.at(m) > by {
		m--
	}
	for m < a.n && a.at(m+1) <= by {
		m++
	}
	return m
}

// next is the end of the step or the prefill that is being computed.
func (a *activity) next() (time.Duration, bool) {
	switch a.kind {
	case filling:
		return a.end, true
	case decoding:
		return a.at(a.done + 1), true
	}
	return 0, false
}

// last is the next instant at which the server decides anew.
func (a *activity) last() (time.Duration, bool) {
	switch a.kind {
	case filling:
		return a.end, true
	case decoding:
		return a.at(a.n), true
	}
	return 0, false
}
