package mockserver

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// mindieInfer is MindIE's own /infer: TGI's fields, the time of each step in
// whole milliseconds, and a last event whose text is in that of all tokens only.
var mindieInfer = &dialect{
	stream: "text/event-stream",
	decode: decodeTGI,
	encode: func(a answer) encoder { return &objectEncoder{a, inferObject} }, errorBody: mindieError,
}

func inferObject(a *answer, from, to int, last bool) {
	a.add(`{`)
	if a.req.stream {
		a.stepTime(from, to)
	}
	if !last {
		a.add(`"token":{"id":`)
		a.ids(from, to)
		a.add(`,"text":"`)
		a.text(from, to)
		a.add(`"}}`)
		return
	}
	a.add(`"generated_text":"`)
	a.text(0, to)
	a.add(`"`)
	a.inferDetails(to)
	if a.req.stream {
		a.add(`,"token":{"id":`)
		a.ids(from, to)
		a.add(`,"text":null}`)
	}
	a.add(`}`)
}

// stepTime adds the time to the first token, or from there to the last of to.
func (a *answer) stepTime(from, to int) {
	field, other, step := `"prefill_time":`, `,"decode_time":null,`, a.prefill()
	if from > 0 {
		field, other, step = `"prefill_time":null,"decode_time":`, `,`, a.decode(to)-a.decode(from)
	}
	a.add(field)
	a.addInt(int(step / time.Millisecond))
	a.add(other)
}

// inferDetails adds the details, if they were asked for.
func (a *answer) inferDetails(n int) {
	switch {
	case a.req.stream && (!a.req.details || a.shape.Usage == shape.UsageNever):
		a.add(`,"details":null`)
		return
	case !a.req.details:
		return
	}
	a.add(`,"details":{"finish_reason":"`, a.tgiFinish(), `","generated_tokens":`)
	a.addInt(n)
	if !a.req.stream {
		a.add(`,"generated_token_ids":`)
		a.ids(0, n)
	}
	a.add(`,"seed":null}`)
}
