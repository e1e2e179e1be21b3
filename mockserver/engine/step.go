package engine

import "container/heap"

// endSteps ends m decode steps of a span, or the one step that ran during a prefill. If the
// watcher wants tokens, the steps end one by one, so that each token gets its own time.
func (e *Engine) endSteps(m int) {
	if e.watcher.Token == nil {
		e.advanceSteps(m)
		return
	}
	for range m {
		e.advanceSteps(1)
	}
}

// advanceSteps gives each sequence in the batch m tokens. With drafts, m is 1 and each sequence
// gets the tokens of one step.
func (e *Engine) advanceSteps(m int) {
	b := len(e.decoding)
	e.kv.take(e.kv.growth(b, e.steps, m))
	e.steps += m
	e.batchTokens += b * m
	e.counts.Steps += m
	e.counts.Generated += b * m
	if e.current.kind == decoding {
		e.current.done += m
		e.now = e.current.stepEnd(e.current.done)
	}
	if e.watcher.Token != nil || e.p.Draft > 0 {
		for _, s := range e.running {
			if s.State != Decoding {
				continue
			}
			n := 1
			if e.p.Draft > 0 {
				n += e.accept(s)
			}
			for range n {
				e.emit(s, e.now)
			}
		}
	}
	for len(e.decoding) > 0 && e.decoding[0].lastStep == e.steps {
		s := e.decoding[0]
		e.leaveBatch(s)
		e.finish(s)
	}
}

// accept draws how many drafted tokens of a step are accepted. It adds them to the sequence,
// up to the end of the output, and returns the number added.
func (e *Engine) accept(s *Sequence) int {
	n := 0
	for n < e.p.Draft && s.drafts.Float64() < e.p.AcceptRate {
		e.counts.AcceptedAt[n]++
		n++
	}
	e.counts.Drafts++
	e.counts.Drafted += e.p.Draft
	e.counts.Accepted += n
	most := min(e.p.Draft, s.lastStep-e.steps) // the output may end within the draft
	n = min(n, most)
	s.Drafts.Steps++
	s.Drafts.Drafted += most
	s.Drafts.Accepted += n
	if n == 0 {
		return 0
	}
	length := s.length()
	e.kv.residues[e.kv.residue(length, e.steps)]--
	e.kv.residues[e.kv.residue(length+n, e.steps)]++
	e.kv.take(e.kv.blocksFor(length+n) - e.kv.blocksFor(length))
	s.tokens += n
	s.lastStep -= n
	heap.Fix(&e.decoding, s.index)
	e.batchTokens += n
	e.counts.Generated += n
	return n
}
