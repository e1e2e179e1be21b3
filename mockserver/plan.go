package mockserver

import (
	"context"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A plan decides when each request is admitted and when each of its tokens is
// due. It knows nothing of HTTP: a handler joins, waits for its admission and its
// tokens, and leaves.
type plan interface {
	// join takes a request in, or refuses it with an engine's error.
	join(j job) (place, error)
	load() engine.Load
	counts() engine.Counts
	resetPrefixCache()
}

// A place is one request's in a plan. It belongs to one handler.
type place interface {
	// admitted waits for a slot and returns the instant since when there is one.
	admitted(ctx context.Context) (time.Duration, error)
	// token waits until token k is due. The request must have been admitted.
	// Tokens after the last in the timetable follow at a steady rate.
	token(ctx context.Context, k int) error
	// timetable tells when each token was due, counted from admission: of token k
	// when it is.
	timetable() []time.Duration
	// cached is how many tokens of the prompt needed no prefill.
	cached() int
	// leave gives the slot, or the place in the queue, back. It may be called at
	// any time.
	leave()
}

// A job is what a plan has to know of a request.
type job struct {
	ordinal uint64
	arrived time.Duration
	prompt  int      // tokens
	prefix  []uint64 // names of the prompt's blocks
	output  int      // tokens that have a deadline, at least 1
	endless bool     // keeps its slot until it leaves
}
