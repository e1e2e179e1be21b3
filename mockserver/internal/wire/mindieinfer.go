package wire

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// mindieInfer is MindIE's /infer. It has TGI's fields, and the time of each step in whole
// milliseconds. The last event has the text of the whole output, but no separate text for
// the tokens that come with this event.
var mindieInfer = &Dialect{
	ContentType: "text/event-stream",
	Decode:      decodeTGI,
	Encode:      func(a Answer) Encoder { return &objectEncoder{a, inferObject} }, ErrorBody: mindieError,
}

func inferObject(a *Answer, from, to int, last bool) {
	a.Add(`{`)
	if a.Request.Stream {
		a.stepTime(from, to)
	}
	if !last {
		a.Add(`"token":{"id":`)
		a.ids(from, to)
		a.textBetween(`,"text":"`, from, to, `"}}`)
		return
	}
	a.textBetween(`"generated_text":"`, 0, to, `"`)
	a.inferDetails(to)
	if a.Request.Stream {
		a.Add(`,"token":{"id":`)
		a.ids(from, to)
		a.Add(`,"text":null}`)
	}
	a.Add(`}`)
}

// stepTime renders how long the tokens with indices first to end-1 took: the time of the prefill if
// first is 0, otherwise the time of the decode steps.
func (a *Answer) stepTime(first, end int) {
	field, other, step := `"prefill_time":`, `,"decode_time":null,`, a.prefillTime()
	if first > 0 {
		field, other, step = `"prefill_time":null,"decode_time":`, `,`, a.decodeTime(end)-a.decodeTime(first)
	}
	a.AddInt(field, int(step/time.Millisecond))
	a.Add(other)
}

// inferDetails renders the details of an output of n tokens, if the request asks for details.
func (a *Answer) inferDetails(n int) {
	switch {
	case a.Request.Stream && (!a.Request.details || a.Shape.Usage == shape.UsageNever):
		a.Add(`,"details":null`)
		return
	case !a.Request.details:
		return
	}
	a.Add(`,"details":{"finish_reason":"`, a.tgiFinish())
	a.AddInt(`","generated_tokens":`, n)
	if !a.Request.Stream {
		a.Add(`,"generated_token_ids":`)
		a.ids(0, n)
	}
	a.Add(`,"seed":null}`)
}
