// Package pace decides when a mock server admits each request and when each token is
// due: at a fixed rate, or as an engine says. It knows nothing of HTTP.
//
// Every wait is for a deadline, never for a length of time, so that lateness does
// not add up.
package pace

import (
	"context"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A Plan schedules the requests of one server. A handler joins the plan, waits for
// its admission and for its tokens, and leaves. The methods may be called
// concurrently.
type Plan interface {
	// Join adds a request. The error is the engine's if it refuses the request.
	Join(j Job) (Place, error)
	// Load returns how many requests run and wait.
	Load() engine.Load
	// Counts returns what an engine has counted, and zeros without an engine.
	Counts() engine.Counts
	// ResetPrefixCache empties the prefix cache, if there is one.
	ResetPrefixCache()
}

// A Place is the place of one request in a plan. One handler uses it.
type Place interface {
	// WaitAdmission waits until the request has a slot and returns the instant since
	// which it has one.
	WaitAdmission(ctx context.Context) (time.Duration, error)
	// WaitToken waits until token k is due. The request must have been admitted.
	// Tokens after the end of the timetable follow at a steady rate.
	WaitToken(ctx context.Context, k int) error
	// Timetable returns when each token is due, counted from admission. The entry of
	// token k is valid once WaitToken(k) has returned.
	Timetable() []time.Duration
	// Step returns how many tokens have been computed when the decode step has ended that
	// computed token k: k + 1 or, with speculative decoding, more. WaitToken(k) must have
	// returned.
	Step(k int) int
	// Drafts returns what was drafted for the request.
	Drafts() engine.Drafts
	// Cached returns how many tokens of the prompt came from the prefix cache.
	Cached() int
	// Leave gives the slot, or the place in the queue, back. It may be called at any
	// time, and more than once.
	Leave()
}

// A Job is what a plan has to know of a request.
type Job struct {
	Ordinal uint64
	Arrived time.Duration
	Prompt  int      // tokens of the prompt
	Prefix  []uint64 // names of the prompt's blocks
	Output  int      // tokens that have a deadline, at least 1
	Endless bool     // the request keeps its slot until it leaves
}
