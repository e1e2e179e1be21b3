package engine

import (
	"container/heap"
	"time"
)

// decide begins what is to be done next, at the end of what was done before.
func (e *Engine) decide() {
	for _, s := range e.leaving {
		if s.State < Finished {
			e.leave(s, Gone)
		}
	}
	e.leaving = e.leaving[:0]
	chunked := e.p.PrefillChunk > 0
	for {
		made := chunked && e.makeRoom() // decoding goes on beside the prefill and comes first
		parts := e.act.parts[:0]
		if chunked {
			parts = e.chunks(parts)
		}
		if !made {
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
			e.act = activity{start: e.now, parts: parts}
			return
		}
	}
}

// beginPrefill computes the parts, beside a decode step or alone.
func (e *Engine) beginPrefill(parts []part, mixed bool) {
	n := 0
	for _, p := range parts {
		n += p.tokens
	}
	micros := e.p.prefillTime(n)
	if mixed {
		micros += e.p.stepTime(len(e.decoding), e.tokens)
	}
	e.act = activity{kind: filling, start: e.now, parts: parts, mixed: mixed, end: after(e.now, micros)}
	e.counts.Prefills++
	e.counts.Prefilled += n
}

// beginSpan decodes until something is to be decided.
func (e *Engine) beginSpan() {
	b := len(e.decoding)
	n := e.decoding[0].ends - e.steps
	if e.queue.len() > 0 {
		if gap := e.gap(); gap > 0 {
			n = min(n, gap)
		}
	}
	if e.p.Draft > 0 {
		n = 1
	}
	e.act = activity{
		kind: decoding, start: e.now, parts: e.act.parts[:0], n: e.fitting(n),
		first: e.p.stepTime(b, e.tokens), more: e.p.StepPerKVToken * float64(b),
	}
}

// gap is how many decode steps must still come before the next prefill.
func (e *Engine) gap() int {
	if len(e.decoding) == 0 {
		return 0
	}
	return max(0, e.since+e.p.PrefillGap-e.steps)
}

// fitting is how many of the next n steps the KV cache has room for; for one it
// has been made.
func (e *Engine) fitting(n int) int {
	free := e.kv.free()
	if b := len(e.decoding); n == 1 || n/e.kv.size+1 <= free/b {
		return n
	}
	low, high := 1, n // high + 1 does not fit, or is too many
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

// need is how many blocks the next step fills newly, at most.
func (e *Engine) need() int {
	if e.p.Draft == 0 {
		return e.kv.growth(len(e.decoding), e.steps, 1)
	}
	n := 0
	for _, s := range e.decoding {
		most := min(e.p.Draft+1, s.ends-e.steps)
		n += e.kv.need(s.length()+most) - e.kv.need(s.length())
	}
	return n
}

// makeRoom throws out who came last until the next decode step fits into the KV
// cache, and reports whether it had to.
func (e *Engine) makeRoom() (made bool) {
	for len(e.decoding) > 0 && e.need() > e.kv.free() {
		last := len(e.placed) - 1
		for e.placed[last].State == Holding {
			last--
		}
		s := e.placed[last]
		e.displace(s)
		s.State = Waiting
		s.Preempted++
		e.counts.Preempted++
		e.queue.pushFront(s)
		made = true
	}
	return made
}

// chunks adds the next chunk of each prompt that is being computed.
func (e *Engine) chunks(parts []part) []part {
	left := e.p.PrefillChunk
	for _, s := range e.filling {
		if left == 0 || len(parts) == max(e.p.PrefillSeqs, 1) {
			break
		}
		n := min(left, s.fill-s.filled)
		parts = append(parts, part{s, n})
		left -= n
	}
	return parts
}

// admit gives places to those who wait, as far as a prefill may begin, and adds
// what is to be computed of their prompts.
func (e *Engine) admit(parts []part) []part {
	if e.gap() > 0 {
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
		if sum += s.length() - e.hits(s)*e.kv.size; e.p.PrefillTokens > 0 && len(parts) > 0 && sum > e.p.PrefillTokens {
			break
		}
		e.queue.pop()
		e.place(s)
		n := s.fill
		if e.p.PrefillChunk > 0 {
			n = min(n, left)
			left -= n
		}
		parts = append(parts, part{s, n})
	}
	return parts
}

// admissible reports whether there is a place and room for a sequence.
func (e *Engine) admissible(s *Sequence) bool {
	if len(e.placed) >= e.p.MaxBatch {
		return false
	}
	hits := e.hits(s)
	need := e.kv.need(s.length()+1) - hits + e.kv.unused(s.Job.Prefix, hits)
	spare := e.kv.watermark
	switch {
	case len(e.decoding)+len(e.filling) == 0:
		spare = 0 // it will not get better by waiting
	case e.p.PrefillChunk > 0:
		spare += e.need() // of the decode step beside it
	}
	return need <= e.kv.free()-spare
}

// hits is how many blocks of a sequence's prefix are in the cache; the last token
// before the next must be computed all the same.
func (e *Engine) hits(s *Sequence) int {
	n := e.kv.match(s.Job.Prefix)
	if n > 0 && n*e.kv.size == s.length() {
		n--
	}
	return n
}

// place gives a sequence a place and blocks.
func (e *Engine) place(s *Sequence) {
	hits := e.hits(s)
	e.kv.share(s, hits)
	e.kv.take(e.kv.need(s.length()+1) - hits)
	s.Cached = hits * e.kv.size
	s.fill, s.filled = s.length()-s.Cached, 0
	s.State = Filling
	e.placed = append(e.placed, s)
	e.filling = append(e.filling, s)
	if e.p.PrefixCache {
		e.counts.Queried += s.length()
		e.counts.Hit += s.Cached
	}
	if s.Admitted < 0 {
		s.Admitted = e.now
		if e.watch.Admitted != nil {
			e.watch.Admitted(s, e.now)
		}
	}
}

// filled ends a prefill.
func (e *Engine) filled() {
	if e.act.mixed {
		e.step(1)
	}
	e.since = e.steps
	for _, p := range e.act.parts {
		p.s.filled += p.tokens
		if p.s.filled == p.s.fill {
			e.decode(p.s)
		}
	}
}

// decode puts a sequence whose prompt has been computed into the batch, its next
// token out.
func (e *Engine) decode(s *Sequence) {
	i := 0
	for e.filling[i] != s { // as a rule it is the first
		i++
	}
	e.filling = append(e.filling[:i], e.filling[i+1:]...)
	e.kv.keep(s)
	s.State = Holding // until it is in the batch, or for good
	s.tokens++
	e.counts.Generated++
	e.out(s, e.now)
	if s.tokens == s.Job.Output {
		e.finish(s)
		return
	}
	s.State, s.begun, s.ends = Decoding, e.steps, e.steps+s.Job.Output-s.tokens
	e.tokens += s.length()
	e.kv.places[e.kv.place(s.length(), e.steps)]++
	heap.Push(&e.decoding, s)
}

// out tells of a token.
func (e *Engine) out(s *Sequence, at time.Duration) {
	if s.First < 0 {
		s.First = at
	}
	if e.watch.Token != nil {
		e.watch.Token(s, at)
	}
}

// finish ends a sequence whose tokens are all out, unless it holds its place.
func (e *Engine) finish(s *Sequence) {
	if !s.Job.Hold {
		e.leave(s, Finished)
	} else if s.gone {
		e.leave(s, Gone)
	}
}
