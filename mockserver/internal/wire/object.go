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
		e.event(from, to, false)
	}
}

// Last renders an event even if there are no tokens left for the event.
func (e *objectEncoder) Last(from, to int) { e.event(from, to, true) }

func (e *objectEncoder) event(from, to int, last bool) {
	e.BeginEvent("", from < to)
	e.object(&e.Answer, from, to, last)
	e.End()
}

func (e *objectEncoder) Whole() {
	e.Begin("")
	e.object(&e.Answer, 0, e.Request.Output, true)
	e.End()
}
