package engine

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// A Job is what a server has to know of a request.
type Job struct {
	// Prompt is the length of the prompt in tokens, 0 or more, and Output how
	// many tokens are generated, 1 or more.
	Prompt, Output int
	// Prefix names the prompt's full blocks of [Profile.BlockTokens] tokens, from
	// its beginning: two prompts whose first n names agree are the same up to the
	// end of block n. A name must stand for a block and all before it. What has no
	// name is not cached.
	Prefix []uint64
	// Hold keeps the sequence's place and its blocks after its last token, until
	// it is cancelled: as a request that hangs.
	Hold bool
	// Ref is the caller's own.
	Ref any
}

// A State is how far a sequence has come.
type State int

// The states.
const (
	Waiting  State = iota // in the queue
	Filling               // admitted, the prompt is being computed
	Decoding              // in the batch
	Holding               // all tokens out, place kept
	Finished              // all tokens out
	Gone                  // cancelled before that
)

// A Sequence is a request in the engine. Its fields belong to the engine, and are
// to be read only.
type Sequence struct {
	Job Job
	// State is how far it has come by the instant to which the engine was
	// advanced last.
	State State
	// Arrived is when it was submitted, Admitted when it was first given a place,
	// First when its first token came out and End when it left, in the caller's
	// time; -1 where that has not happened.
	Arrived, Admitted, First, End time.Duration
	// Cached is how many tokens of the prompt were found in the prefix cache at
	// the last admission, and Preempted how often it was thrown out of the batch.
	Cached, Preempted int

	engine *Engine
	order  int        // of arrival
	drafts *rand.Rand // nil without Draft

	tokens int // out, when it began to decode
	begun  int // the engine's step count then
	ends   int // the step count at which its last token comes
	index  int // in the heap of those that decode

	fill, filled int      // tokens to compute in its prefill, and how many are
	blocks       []*block // those with names
	gone         bool     // its client is
}

// Tokens returns how many tokens are out by the instant to which the engine was
// advanced last.
func (s *Sequence) Tokens() int {
	if s.State == Decoding {
		return s.tokens + s.engine.steps - s.begun
	}
	return s.tokens
}

// length is how many tokens its KV cache holds once what is out is in it.
func (s *Sequence) length() int { return s.Job.Prompt + s.Tokens() }

// byEnd is a container/heap of decoding sequences, the one that ends first on
// top, of several the one that came first.
type byEnd []*Sequence

func (h byEnd) Len() int { return len(h) }
func (h byEnd) Less(i, j int) bool {
	return h[i].ends < h[j].ends || h[i].ends == h[j].ends && h[i].order < h[j].order
}

func (h byEnd) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *byEnd) Push(x any) {
	s := x.(*Sequence)
	s.index = len(*h)
	*h = append(*h, s)
}

// fix moves a sequence whose end has changed.
func (h *byEnd) fix(s *Sequence) { heap.Fix(h, s.index) }

func (h *byEnd) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return s
}
