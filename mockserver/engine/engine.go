package engine

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// An Engine is one simulated server. Instants given to it must not go back; one
// that does is taken as the latest so far. It is not safe for concurrent use.
type Engine struct {
	p     Profile
	watch Watcher

	now   time.Duration
	act   activity
	steps int // decode steps that are over
	since int // the step count at the last prefill

	queue    queue       // Waiting
	placed   []*Sequence // admitted and not gone, in that order
	filling  []*Sequence // of them, Filling
	decoding byEnd       // of them, Decoding
	tokens   int         // the lengths of those, summed up
	leaving  []*Sequence // to go at the next decision

	kv      cache
	arrived int
	counts  Counts
}

// A Watcher is told what happens, in the order in which it does. A function that
// is nil is not called. None of them may call the engine.
type Watcher struct {
	// Admitted is called when a sequence is first given a place.
	Admitted func(s *Sequence, at time.Duration)
	// Token is called for each token that comes out.
	Token func(s *Sequence, at time.Duration)
	// Ended is called when a sequence has left: State tells how.
	Ended func(s *Sequence, at time.Duration)
}

// New makes a server of that speed. The error is that of [Profile.Validate].
func New(p Profile, w Watcher) (*Engine, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return &Engine{p: p, watch: w, kv: newCache(&p), since: math.MinInt / 2}, nil
}

// ErrQueueFull is why a request is refused that finds MaxQueue others waiting.
var ErrQueueFull = errors.New("engine: the queue is full")

// A TooLongError is why a request is refused that could never be served.
type TooLongError struct {
	Prompt, Output int // tokens
	Most           int // of both together
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("engine: a prompt of %d and an output of %d tokens: want at most %d together", e.Prompt, e.Output, e.Most)
}

// Submit hands a request to the server at an instant. The error is
// [ErrQueueFull], a [*TooLongError], or says which of the job's fields cannot be
// used; the request is not served then.
func (e *Engine) Submit(at time.Duration, j Job) (*Sequence, error) {
	e.Advance(at)
	switch {
	case j.Prompt < 0 || j.Prompt > mostTokens:
		return nil, fmt.Errorf("engine: prompt: %d, want 0 to %d tokens", j.Prompt, mostTokens)
	case j.Output < 1 || j.Output > mostTokens:
		return nil, fmt.Errorf("engine: output: %d, want 1 to %d tokens", j.Output, mostTokens)
	case len(j.Prefix)*e.kv.size > j.Prompt:
		return nil, fmt.Errorf("engine: prefix: %d names of %d tokens each, want no more than the prompt of %d", len(j.Prefix), e.kv.size, j.Prompt)
	case j.Prompt+j.Output > e.MaxTokens():
		return nil, &TooLongError{j.Prompt, j.Output, e.MaxTokens()}
	case e.p.MaxQueue > 0 && len(e.placed)+e.queue.len() >= e.p.MaxBatch+e.p.MaxQueue:
		return nil, ErrQueueFull
	}
	s := &Sequence{Job: j, Arrived: e.now, Admitted: -1, First: -1, End: -1, engine: e, order: e.arrived}
	if e.p.Draft > 0 {
		s.drafts = rand.New(rand.NewPCG(^e.p.Seed, uint64(e.arrived))) // not what DrawOutput draws from
	}
	e.arrived++
	e.queue.push(s)
	if e.queue.len() == 1 { // else the first waits for room, and all wait for the first
		e.reconsider()
	}
	return s, nil
}

// MaxTokens returns how long a prompt and its output may be together.
func (e *Engine) MaxTokens() int {
	most := 2 * mostTokens
	if e.p.MaxContext > 0 {
		most = e.p.MaxContext
	}
	if e.p.KVBlocks > 0 {
		most = min(most, e.p.KVBlocks*e.kv.size)
	}
	return most
}

// Cancel tells that a request's client is gone. One that waits leaves at once,
// one that has a place at the end of the step that is being computed; with
// [Profile.Zombies] it is computed all the same, unless all its tokens are out.
// Cancelling what has ended does nothing.
func (e *Engine) Cancel(at time.Duration, s *Sequence) {
	e.Advance(at)
	if s.State >= Finished || s.gone {
		return
	}
	s.gone = true
	switch {
	case s.State == Holding:
		e.leave(s, Gone)
		e.reconsider()
	case e.p.Zombies:
		s.Job.Hold = false
	case s.State == Waiting:
		e.queue.remove(s)
		e.leave(s, Gone)
		e.reconsider()
	default:
		e.leaving = append(e.leaving, s)
		e.cut(1)
	}
}

// reconsider lets those who wait be admitted as soon as may be.
func (e *Engine) reconsider() {
	switch {
	case e.queue.len() == 0:
	case e.act.kind == idle:
		e.decide()
	case len(e.placed) < e.p.MaxBatch:
		e.cut(max(1, e.gap()))
	}
}

// cut ends a span of decode steps so many steps from now, if it is longer.
func (e *Engine) cut(steps int) {
	if e.act.kind == decoding {
		e.act.n = min(e.act.n, e.act.done+steps)
	}
}

// Advance lets time pass up to an instant, which included.
func (e *Engine) Advance(to time.Duration) {
	to = min(to, horizon)
	for {
		switch e.act.kind {
		case filling:
			if e.act.end > to {
				e.now = max(e.now, to)
				return
			}
			e.now = e.act.end
			e.filled()
		case decoding:
			if done := e.act.over(to); done > e.act.done {
				e.step(done - e.act.done)
			}
			if e.act.done < e.act.n {
				e.now = max(e.now, to)
				return
			}
			e.now = e.act.at(e.act.n)
		default:
			e.now = max(e.now, to)
			return
		}
		e.decide()
	}
}

// Now returns the instant to which the engine was advanced last.
func (e *Engine) Now() time.Duration { return e.now }

// Next returns when the step or prefill that is being computed ends, and with it
// the next token may come out; false if the server is idle.
func (e *Engine) Next() (time.Duration, bool) { return e.act.next() }

// NextChange returns the next instant at which, if nobody comes or goes, anything
// but a further token of a sequence may happen; false if the server is idle.
func (e *Engine) NextChange() (time.Duration, bool) { return e.act.last() }

// ResetPrefixCache forgets the blocks of prompts that no sequence is using.
func (e *Engine) ResetPrefixCache() { e.kv.reset() }

// leave ends a sequence that has its blocks and its place no more, or gives them
// back.
func (e *Engine) leave(s *Sequence, state State) {
	if s.State != Waiting {
		e.displace(s)
	}
	s.State, s.End = state, e.now
	if e.watch.Ended != nil {
		e.watch.Ended(s, e.now)
	}
}

// displace takes a sequence's place and blocks away.
func (e *Engine) displace(s *Sequence) {
	held := e.held(s)
	switch s.State {
	case Filling:
		i := slices.Index(e.filling, s)
		e.filling = slices.Delete(e.filling, i, i+1)
	case Decoding:
		e.undecode(s)
	}
	e.kv.release(s, held)
	i := slices.Index(e.placed, s)
	e.placed = slices.Delete(e.placed, i, i+1)
}

// held is the number of blocks that an admitted sequence uses.
func (e *Engine) held(s *Sequence) int {
	if s.State == Filling {
		return e.kv.need(s.length() + 1)
	}
	return e.kv.need(s.length())
}

// undecode takes a sequence out of the batch.
func (e *Engine) undecode(s *Sequence) {
	tokens := s.Tokens()
	e.tokens -= s.length()
	e.kv.places[e.kv.place(s.length(), e.steps)]--
	heap.Remove(&e.decoding, s.index)
	s.tokens, s.State = tokens, Holding
}
