package wire

// An objectEncoder is the encoder of a dialect that uses the same kind of object for events
// and for whole answers.
type objectEncoder struct {
	Answer
	// object renders the object for the tokens with indices from to to-1. last is true at
	// the end of a stream and for a whole answer.
	object func(a *Answer, from, to int, last bool)
}

func (e *objectEncoder) Opening() {}

func (e *objectEncoder) Tokens(from, to int) {
	if from < to {
		e.BeginTokens("")
		e.object(&e.Answer, from, to, false)
		e.EndTokens()
	}
}

// Last renders an event even if there are no tokens left for the event.
func (e *objectEncoder) Last(from, to int) {
	if from == to {
		e.Begin("")
		e.object(&e.Answer, from, to, true)
		e.End()
		return
	}
	e.BeginTokens("")
	e.object(&e.Answer, from, to, true)
	e.EndTokens()
}

func (e *objectEncoder) Whole() {
	e.Begin("")
	e.object(&e.Answer, 0, e.Request.Output, true)
	e.End()
}
