package engine

import (
	"math/rand/v2"
	"time"
)

// A Job describes a request to an engine.
type Job struct {
	// Prompt is the length of the prompt in tokens, 0 or more. Output is how many
	// tokens are generated, 1 or more.
	Prompt, Output int
	// Prefix has the names of the prompt's full blocks of [Profile.BlockTokens]
	// tokens, in order. A name identifies a block together with everything before it. So
	// if two prompts have the same first n names, they are equal up to the end of block n.
	// A block without a name is not cached.
	Prefix []uint64
	// Priority determines who waits: of the waiting sequences, one with a lower value is admitted
	// first, and of the running ones, one with a higher value is preempted first.
	Priority int
	// Hold keeps the sequence running after its last token until it is cancelled. It
	// models a request that hangs.
	Hold bool
	// Ref is the caller's own data. The engine does not use it.
	Ref any
}

// A State is the state of a sequence.
type State int

// The states.
const (
	Waiting  State = iota // in the queue
	Filling               // admitted; the prompt is being computed
	Decoding              // in the batch
	Holding               // has all its tokens and still runs
	Finished              // ended with all its tokens
	Gone                  // ended by Cancel
)

// A Sequence is a request in an engine. Only the engine may change its fields.
type Sequence struct {
	Job Job
	// State is the state at [Engine.Now].
	State State
	// Arrived is when the request was submitted. Admitted is when it was admitted for the
	// first time, First is when its first token came, and End is when it ended. A time is -1
	// as long as the event has not happened.
	Arrived, Admitted, First, End time.Duration
	// Cached is how many tokens of the prompt were in the prefix cache or offloaded at the last
	// admission. Preempted is how often the sequence has been preempted.
	Cached, Preempted int
	// Drafts is zero without [Profile.Draft].
	Drafts Drafts

	steps  *int       // the engine's step count
	order  int        // number of requests submitted before this one
	drafts *rand.Rand // nil without Draft

	tokens      int // number of output tokens when the sequence joined the batch
	stepAtStart int // the engine's step count at that time
	lastStep    int // the step count at which the last token comes
	index       int // index in the heap of decoding sequences

	prefillTokens, prefilled int      // number of tokens to compute in the prefill, and number computed so far
	blocks                   []*block // the named blocks that the sequence uses
	loads                    int      // number of these that the next prefill loads
	cancelled                bool     // Cancel has been called
}

// Tokens returns how many tokens of output the sequence has at [Engine.Now].
func (s *Sequence) Tokens() int {
	if s.State == Decoding {
		return s.tokens + *s.steps - s.stepAtStart
	}
	return s.tokens
}

// length returns the number of tokens in the prompt and the output so far.
func (s *Sequence) length() int { return s.Job.Prompt + s.Tokens() }

// byEnd is a container/heap of decoding sequences. On top is the sequence that ends first.
// Among sequences that end at the same step, the one that arrived first is on top.
type byEnd []*Sequence

func (h byEnd) Len() int { return len(h) }
func (h byEnd) Less(i, j int) bool {
	return h[i].lastStep < h[j].lastStep || h[i].lastStep == h[j].lastStep && h[i].order < h[j].order
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

func (h *byEnd) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return s
}
