package mockserver

// An objectEncoder is that of servers whose events and whole answers are one
// kind of object. They differ in what object adds: one with the tokens up to to,
// of which those since from are new, and which may be the last of its answer.
type objectEncoder struct {
	answer
	object func(a *answer, from, to int, last bool)
}

func (e *objectEncoder) opening() {}

func (e *objectEncoder) tokens(from, to int) {
	if from < to {
		e.beginTokens("")
		e.object(&e.answer, from, to, false)
		e.endTokens()
	}
}

// last adds an event even if there is no token left for it.
func (e *objectEncoder) last(from, to int) {
	if from == to {
		e.begin("")
		e.object(&e.answer, from, to, true)
		e.end()
		return
	}
	e.beginTokens("")
	e.object(&e.answer, from, to, true)
	e.endTokens()
}

func (e *objectEncoder) whole() {
	e.begin("")
	e.object(&e.answer, 0, e.req.output, true)
	e.end()
}
