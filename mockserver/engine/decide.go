package engine

import (
	"container/heap"
	"time"
)

// decide starts the next activity after the previous one has ended.
func (e *Engine) decide() {
	for _, s := range e.leaving {
		if s.State < Finished {
			e.leave(s, Gone)
		}
	}
	e.leaving = e.leaving[:0]
	chunked := e.p.PrefillChunk > 0
	for {
		preempted := chunked && e.makeRoom() // decode steps continue during a chunk and get their blocks first
		parts := e.current.parts[:0]
		if chunked {
			parts = e.chunks(parts)
		}
		if !preempted {
			parts = e.admit(parts)
		}
		if len(parts) > 0 {
			e.beginPrefill(parts, chunked && len(e.decoding) > 0)
			return
		}
		if len(e.decoding) > 0 && !chunked {
			e.makeRoom()
		}
		if len(e.decoding) > 0 {
			e.beginSpan()
			return
		}
		if e.queue.len() == 0 || !e.admissible(e.queue.first()) {
			e.current = activity{start: e.now, parts: parts}
			return
		}
	}
}

// beginPrefill starts the prefill of the parts. If withStep is true, a decode step runs at the
// same time.
func (e *Engine) beginPrefill(parts []part, withStep bool) {
	n, loads := 0, 0
	for _, p := range parts {
		n += p.tokens
		loads += p.s.loads
		p.s.loads = 0
	}
	micros := e.p.prefillTime(n) + e.p.LoadPerBlock*float64(loads)
	if withStep {
		micros += e.p.stepTime(len(e.decoding), e.batchTokens)
	}
	e.current = activity{kind: filling, start: e.now, parts: parts, withStep: withStep, end: addMicros(e.now, micros)}
	e.counts.Prefills++
	e.counts.Prefilled += n
}

// beginSpan starts a span of decode steps up to the next decision.
func (e *Engine) beginSpan() {
	b := len(e.decoding)
	n := e.decoding[0].lastStep - e.steps
	if e.queue.len() > 0 {
		if gap := e.stepsToPrefill(); gap > 0 {
			n = min(n, gap)
		}
	}
	if e.p.Draft > 0 {
		n = 1
	}
	e.current = activity{
		kind: decoding, start: e.now, parts: e.current.parts[:0], n: e.stepsThatFit(n),
		firstStep: e.p.stepTime(b, e.batchTokens), growth: e.p.StepPerKVToken * float64(b),
	}
}

// stepsToPrefill returns how many decode steps must come before the next prefill.
func (e *Engine) stepsToPrefill() int {
	if len(e.decoding) == 0 {
		return 0
	}
	return max(0, e.lastPrefill+e.p.PrefillGap-e.steps)
}

// stepsThatFit returns how many of the next n steps fit into the KV cache. At least one
// step fits, because makeRoom has been called.
func (e *Engine) stepsThatFit(n int) int {
	free := e.kv.free()
	if b := len(e.decoding); n == 1 || n/e.kv.blockSize+1 <= free/b {
		return n
	}
	low, high := 1, n // low steps fit; high+1 steps do not fit or are more than n
	for low < high {
		mid := (low + high + 1) / 2
		if e.kv.growth(len(e.decoding), e.steps, mid) <= free {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// blocksForStep returns the largest number of free blocks that the next step may need.
func (e *Engine) blocksForStep() int {
	if e.p.Draft == 0 {
		return e.kv.growth(len(e.decoding), e.steps, 1)
	}
	n := 0
	for _, s := range e.decoding {
		most := min(e.p.Draft+1, s.lastStep-e.steps)
		n += e.kv.blocksFor(s.length()+most) - e.kv.blocksFor(s.length())
	}
	return n
}

// makeRoom preempts the sequences that were admitted last, of the least important priority, until the next decode step
// fits into the KV cache. It reports whether it preempted a sequence.
func (e *Engine) makeRoom() (preempted bool) {
	for len(e.decoding) > 0 && e.blocksForStep() > e.kv.free() {
		var s *Sequence
		for _, r := range e.running {
			if r.State != Holding && (s == nil || r.Job.Priority >= s.Job.Priority) {
				s = r
			}
		}
		e.evict(s)
		s.State = Waiting
		s.Preempted++
		e.counts.Preempted++
		e.queue.pushFront(s)
		preempted = true
	}
	return preempted
}

// chunks appends the next chunk of each prompt that is being computed.
func (e *Engine) chunks(parts []part) []part {
	left := e.p.PrefillChunk
	for _, s := range e.filling {
		if left == 0 || len(parts) == max(e.p.PrefillSeqs, 1) {
			break
		}
		n := min(left, s.prefillTokens-s.prefilled)
		parts = append(parts, part{s, n})
		left -= n
	}
	return parts
}

// admit admits waiting sequences if a prefill may begin now. It appends the parts of the
// admitted prompts that this prefill computes.
func (e *Engine) admit(parts []part) []part {
	if e.stepsToPrefill() > 0 {
		return parts
	}
	left, sum := e.p.PrefillChunk, 0
	for _, p := range parts {
		left -= p.tokens
		sum += p.tokens
	}
	for e.queue.len() > 0 && len(parts) < max(e.p.PrefillSeqs, 1) && e.admissible(e.queue.first()) {
		if e.p.PrefillChunk > 0 && left == 0 {
			break
		}
		s := e.queue.first()
		if sum += s.length() - e.hits(s)*e.kv.blockSize; e.p.PrefillTokens > 0 && len(parts) > 0 && sum > e.p.PrefillTokens {
			break
		}
		e.queue.pop()
		e.begin(s)
		n := s.prefillTokens
		if e.p.PrefillChunk > 0 {
			n = min(n, left)
			left -= n
		}
		parts = append(parts, part{s, n})
	}
	return parts
}

// admissible reports whether the batch and the KV cache have room for a sequence.
func (e *Engine) admissible(s *Sequence) bool {
	if len(e.running) >= e.p.MaxBatch {
		return false
	}
	hits := e.hits(s)
	need := e.kv.blocksFor(s.length()+1) - hits + e.kv.countFree(s.Job.Prefix, hits)
	spare := e.kv.watermark
	switch {
	case len(e.decoding)+len(e.filling) == 0:
		spare = 0 // no sequence is running, so no block will become free
	case e.p.PrefillChunk > 0:
		spare += e.blocksForStep() // the blocks for the decode step that runs during the chunk
	}
	return need <= e.kv.free()-spare
}

// hits returns how many blocks of a sequence's prefix come from the cache or are offloaded. If the cache has
// the whole prompt, the last block does not count: the prefill must compute at least one
// token to get the next token.
func (e *Engine) hits(s *Sequence) int {
	n := e.kv.match(s.Job.Prefix)
	if n > 0 && n*e.kv.blockSize == s.length() {
		n--
	}
	return n
}

// begin admits a sequence and gives it its blocks.
func (e *Engine) begin(s *Sequence) {
	hits := e.hits(s)
	s.blocks, s.loads = e.kv.share(s.blocks, s.Job.Prefix[:hits])
	e.kv.take(e.kv.blocksFor(s.length()+1) - hits)
	s.Cached = hits * e.kv.blockSize
	s.prefillTokens, s.prefilled = s.length()-s.Cached, 0
	s.State = Filling
	e.running = append(e.running, s)
	e.filling = append(e.filling, s)
	if e.p.PrefixCache {
		e.counts.Queried += s.length()
		e.counts.Hit += s.Cached
	}
	if s.Admitted < 0 {
		s.Admitted = e.now
		if e.watcher.Admitted != nil {
			e.watcher.Admitted(s, e.now)
		}
	}
}

// endPrefill ends a prefill.
func (e *Engine) endPrefill() {
	if e.current.withStep {
		e.endSteps(1)
	}
	e.lastPrefill = e.steps
	for _, p := range e.current.parts {
		p.s.prefilled += p.tokens
		if p.s.prefilled == p.s.prefillTokens {
			e.joinBatch(p.s)
		}
	}
}

// joinBatch puts a sequence whose prompt has been computed into the batch. It also counts
// the sequence's next token, which the prefill has computed.
func (e *Engine) joinBatch(s *Sequence) {
	e.filling = without(e.filling, s) // usually s is the first
	s.blocks = e.kv.nameBlocks(s.blocks, s.Job.Prefix)
	s.State = Holding // for a sequence that has all its tokens and does not join the batch
	s.tokens++
	e.counts.Generated++
	e.emit(s, e.now)
	if s.tokens == s.Job.Output {
		e.finish(s)
		return
	}
	s.State, s.stepAtStart, s.lastStep = Decoding, e.steps, e.steps+s.Job.Output-s.tokens
	e.batchTokens += s.length()
	e.kv.residues[e.kv.residue(s.length(), e.steps)]++
	heap.Push(&e.decoding, s)
}

// emit reports a token to the watcher.
func (e *Engine) emit(s *Sequence, at time.Duration) {
	if s.First < 0 {
		s.First = at
	}
	if e.watcher.Token != nil {
		e.watcher.Token(s, at)
	}
}

// finish ends a sequence that has all its tokens, unless its job says Hold.
func (e *Engine) finish(s *Sequence) {
	if !s.Job.Hold {
		e.leave(s, Finished)
	} else if s.cancelled {
		e.leave(s, Gone)
	}
}
