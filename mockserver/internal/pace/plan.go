// Package pace decides when a mock server admits each request and when each token is due.
// The times come from a fixed rate or from an engine. The package knows nothing about HTTP.
//
// Every wait is until a deadline, never for a duration, so that delays do not add up.
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
	// Join adds a request. If the engine refuses the request, Join returns the engine's
	// error.
	Join(j Job) (Place, error)
	// Load returns how many requests run and wait.
	Load() engine.Load
	// Waiting returns how many requests wait.
	Waiting() int
	// Counts returns the engine's counts, or zeros if there is no engine.
	Counts() engine.Counts
	// ResetPrefixCache empties the prefix cache, if there is one.
	ResetPrefixCache()
}

// A Place is the place of one request in a plan. Only the handler of the request uses it.
type Place interface {
	// WaitAdmission waits until the request has a slot and returns the instant at which it
	// got the slot.
	WaitAdmission(ctx context.Context) (time.Duration, error)
	// WaitToken waits until token k is due. The request must have been admitted.
	// Tokens after the end of the timetable follow at a steady rate.
	WaitToken(ctx context.Context, k int) error
	// Timetable returns when each token is due, counted from admission. The entry of
	// token k is valid once WaitToken(k) has returned.
	Timetable() []time.Duration
	// Step returns how many tokens of the request exist at the end of the decode step that
	// computes token k. That is k + 1 or, with speculative decoding, more. WaitToken(k) must
	// have returned.
	Step(k int) int
	// Drafts returns the counts of speculative decoding for the request.
	Drafts() engine.Drafts
	// Cached returns how many tokens of the prompt came from the prefix cache.
	Cached() int
	// Leave gives up the slot or the place in the queue. It may be called at any time and
	// more than once.
	Leave()
}

// A Job describes a request to a plan.
type Job struct {
	Ordinal  uint64
	Arrived  time.Duration
	Prompt   int      // number of tokens in the prompt
	Prefix   []uint64 // names of the prompt's blocks
	Output   int      // number of tokens that need a deadline, at least 1
	Priority int      // of waiting requests, one with a lower value comes first
	Endless  bool     // the request keeps its slot until it leaves
}
