package engine

// step ends decode steps that are over, so many of a span or the one beside a
// prefill.
func (e *Engine) step(m int) {
	if e.watch.Token == nil {
		e.decoded(m)
		return
	}
	for range m {
		e.decoded(1)
	}
}

// decoded gives each sequence in the batch m tokens, or what a step with drafts
// yields.
func (e *Engine) decoded(m int) {
	b := len(e.decoding)
	e.kv.take(e.kv.growth(b, e.steps, m))
	e.steps += m
	e.tokens += b * m
	e.counts.Steps += m
	e.counts.Generated += b * m
	if e.act.kind == decoding {
		e.act.done += m
		e.now = e.act.at(e.act.done)
	}
	if e.watch.Token != nil || e.p.Draft > 0 {
		for _, s := range e.placed {
			if s.State != Decoding {
				continue
			}
			n := 1
			if e.p.Draft > 0 {
				n += e.accept(s)
			}
			for range n {
				e.out(s, e.now)
			}
		}
	}
	for len(e.decoding) > 0 && e.decoding[0].ends == e.steps {
		s := e.decoding[0]
		e.undecode(s)
		e.finish(s)
	}
}

// accept gives a sequence the drafted tokens of a step, as many as are accepted,
// and returns their number.
func (e *Engine) accept(s *Sequence) int {
	n := 0
	for most := min(e.p.Draft, s.ends-e.steps); n < most && s.drafts.Float64() < e.p.AcceptRate; {
		n++
	}
	if n == 0 {
		return 0
	}
	length := s.length()
	e.kv.places[e.kv.place(length, e.steps)]--
	e.kv.places[e.kv.place(length+n, e.steps)]++
	e.kv.take(e.kv.need(length+n) - e.kv.need(length))
	s.tokens += n
	s.ends -= n
	e.decoding.fix(s)
	e.tokens += n
	e.counts.Generated += n
	return n
}
