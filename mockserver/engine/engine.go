package engine

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// An Engine is one simulated server. Times are measured from its creation. Time never
// goes back: if a method gets a time before [Engine.Now], it uses Now. An Engine is not
// safe for concurrent use.
type Engine struct {
	p       Profile
	watcher Watcher

	now         time.Duration
	current     activity
	steps       int // decode steps that have ended
	lastPrefill int // the value of steps at the last prefill

	queue       queue       // Waiting
	running     []*Sequence // admitted and not ended, in the order of admission
	filling     []*Sequence // the running sequences that are Filling
	decoding    byEnd       // the running sequences that are Decoding
	batchTokens int         // number of tokens in prompts and outputs of the decoding sequences
	leaving     []*Sequence // cancelled sequences that end at the next decision

	kv      cache
	arrived int
	counts  Counts
}

// A Watcher has functions that the engine calls when something happens, in the order of
// simulated time. Each function may be nil. The functions must not call the engine.
type Watcher struct {
	// Admitted is called when a sequence is admitted for the first time.
	Admitted func(s *Sequence, at time.Duration)
	// Token is called for each token of output.
	Token func(s *Sequence, at time.Duration)
	// Ended is called when a sequence has ended. Its State is Finished or Gone.
	Ended func(s *Sequence, at time.Duration)
}

// New returns a new engine. The error comes from [Profile.Validate].
func New(p Profile, w Watcher) (*Engine, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return &Engine{p: p, watcher: w, kv: newCache(&p), lastPrefill: math.MinInt / 2}, nil
}

// ErrQueueFull is the error of a request that arrives while MaxQueue others wait.
var ErrQueueFull = errors.New("engine: the queue is full")

// A TooLongError is the error of a request that is too long ever to be served.
type TooLongError struct {
	Prompt, Output int // tokens
	Limit          int // the largest sum of Prompt and Output that can be served
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("engine: a prompt of %d and an output of %d tokens: want at most %d together", e.Prompt, e.Output, e.Limit)
}

// Submit advances time to at and adds a request. The error is [ErrQueueFull], a
// [*TooLongError], or an error that names the invalid field of the job. After an error the
// request is not served.
func (e *Engine) Submit(at time.Duration, j Job) (*Sequence, error) {
	e.Advance(at)
	switch {
	case j.Prompt < 0 || j.Prompt > maxTokens:
		return nil, fmt.Errorf("engine: prompt: %d: want 0 to %d tokens", j.Prompt, maxTokens)
	case j.Output < 1 || j.Output > maxTokens:
		return nil, fmt.Errorf("engine: output: %d: want 1 to %d tokens", j.Output, maxTokens)
	case len(j.Prefix)*e.kv.blockSize > j.Prompt:
		return nil, fmt.Errorf("engine: prefix: %d names of %d tokens each: want no more than the prompt of %d", len(j.Prefix), e.kv.blockSize, j.Prompt)
	case j.Prompt+j.Output > e.MaxTokens():
		return nil, &TooLongError{j.Prompt, j.Output, e.MaxTokens()}
	case e.p.MaxQueue > 0 && len(e.running)+e.queue.len() >= e.p.MaxBatch+e.p.MaxQueue:
		return nil, ErrQueueFull
	}
	s := &Sequence{Job: j, Arrived: e.now, Admitted: -1, First: -1, End: -1, steps: &e.steps, order: e.arrived}
	if e.p.Draft > 0 {
		s.drafts = rand.New(rand.NewPCG(^e.p.Seed, uint64(e.arrived))) // ^Seed: draws independent of DrawOutput's
	}
	e.arrived++
	e.queue.push(s)
	if e.queue.first() == s { // otherwise an earlier request still waits for room
		e.reconsider()
	}
	return s, nil
}

// MaxTokens returns the largest number of tokens that a prompt and its output may have
// together.
func (e *Engine) MaxTokens() int {
	most := min(2*maxTokens, math.MaxInt)
	if e.p.MaxContext > 0 {
		most = e.p.MaxContext
	}
	if e.p.KVBlocks > 0 {
		most = min(most, e.p.KVBlocks*e.kv.blockSize)
	}
	return most
}

// Cancel advances time to at and cancels a request. A waiting sequence ends at once, a
// running sequence at the end of the current step. With [Profile.Zombies], a sequence that
// does not have all its tokens is computed to its end. Cancelling a sequence that has ended
// does nothing.
func (e *Engine) Cancel(at time.Duration, s *Sequence) {
	e.Advance(at)
	if s.State >= Finished || s.cancelled {
		return
	}
	s.cancelled = true
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
		e.shorten(1)
	}
}

// reconsider makes the engine decide about the queue as early as possible. If the server is idle,
// it decides now. If a span of decode steps is running and the batch has room, the span ends early.
func (e *Engine) reconsider() {
	switch {
	case e.queue.len() == 0:
	case e.current.kind == idle:
		e.decide()
	case len(e.running) < e.p.MaxBatch:
		e.shorten(max(1, e.stepsToPrefill()))
	}
}

// shorten ends the current span of decode steps, if there is one, after at most that many more
// steps.
func (e *Engine) shorten(steps int) {
	if e.current.kind == decoding {
		e.current.n = min(e.current.n, e.current.done+steps)
	}
}

// Advance advances time to the given instant. What happens exactly at the instant is
// included.
func (e *Engine) Advance(to time.Duration) {
	to = min(to, horizon)
	for {
		switch e.current.kind {
		case filling:
			if e.current.end > to {
				e.now = max(e.now, to)
				return
			}
			e.now = e.current.end
			e.endPrefill()
		case decoding:
			if done := e.current.stepsBy(to); done > e.current.done {
				e.endSteps(done - e.current.done)
			}
			if e.current.done < e.current.n {
				e.now = max(e.now, to)
				return
			}
			e.now = e.current.stepEnd(e.current.n)
		default:
			e.now = max(e.now, to)
			return
		}
		e.decide()
	}
}

// Now returns the current simulated time.
func (e *Engine) Now() time.Duration { return e.now }

// Next returns the end of the current decode step or prefill. No token comes before it.
// Next returns false if the server is idle.
func (e *Engine) Next() (time.Duration, bool) { return e.current.endOf(e.current.done + 1) }

// NextChange returns the next instant at which a sequence may be admitted, preempted or
// end, if no request is submitted or cancelled before. Until then the engine only computes
// tokens. NextChange returns false if the server is idle.
func (e *Engine) NextChange() (time.Duration, bool) { return e.current.endOf(e.current.n) }

// Counts returns what the engine has done up to [Engine.Now].
func (e *Engine) Counts() Counts { return e.counts }

// Load returns how busy the engine is at [Engine.Now].
func (e *Engine) Load() Load {
	return Load{Running: len(e.running), Waiting: e.queue.len(), Decoding: len(e.decoding), KVUsed: e.kv.used, KVTotal: e.p.KVBlocks}
}

// ResetPrefixCache drops the cached blocks that no sequence is using.
func (e *Engine) ResetPrefixCache() { e.kv.reset() }

// leave ends a sequence and sets its State. The blocks of a running sequence become free.
func (e *Engine) leave(s *Sequence, state State) {
	if s.State != Waiting {
		e.evict(s)
	}
	s.State, s.End = state, e.now
	if e.watcher.Ended != nil {
		e.watcher.Ended(s, e.now)
	}
}

// evict takes a sequence out of the running sequences and frees its blocks.
func (e *Engine) evict(s *Sequence) {
	held := e.blocksOf(s)
	switch s.State {
	case Filling:
		e.filling = without(e.filling, s)
	case Decoding:
		e.leaveBatch(s)
	}
	e.kv.release(s.blocks, held)
	s.blocks = s.blocks[:0]
	e.running = without(e.running, s)
}

// blocksOf returns the number of blocks that a running sequence uses.
func (e *Engine) blocksOf(s *Sequence) int {
	if s.State == Filling {
		return e.kv.blocksFor(s.length() + 1)
	}
	return e.kv.blocksFor(s.length())
}

// leaveBatch takes a sequence out of the batch.
func (e *Engine) leaveBatch(s *Sequence) {
	tokens := s.Tokens()
	e.batchTokens -= s.length()
	e.kv.residues[e.kv.residue(s.length(), e.steps)]--
	heap.Remove(&e.decoding, s.index)
	s.tokens, s.State = tokens, Holding
}
