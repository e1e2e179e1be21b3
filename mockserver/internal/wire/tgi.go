package wire

import (
	"encoding/json"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// tgi is Hugging Face's text-generation-inference on /generate_stream and /generate. Each
// token is sent in its own event. The last event also has the whole text.
// https://huggingface.github.io/text-generation-inference
var tgi = &Dialect{
	ContentType: "text/event-stream",
	Decode:      decodeTGI,
	Encode:      func(a Answer) Encoder { return &tgiEncoder{a} }, ErrorBody: tgiError,
}

func decodeTGI(in Input) (Request, *Error) {
	var w struct {
		Inputs     json.RawMessage `json:"inputs"`
		Parameters *struct {
			MaxNewTokens *int            `json:"max_new_tokens"`
			Details      bool            `json:"details"`
			Stop         json.RawMessage `json:"stop"`
		} `json:"parameters"`
		Stream bool `json:"stream"` // used by MindIE; in TGI the path decides
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, unprocessable(BadBody(err))
	}
	r := Request{Stream: w.Stream}
	l := limits{name: "max_new_tokens"}
	if p := w.Parameters; p != nil {
		r.details, l.max, l.stops = p.Details, p.MaxNewTokens, p.Stop
	}
	var fail *Error
	var text string
	if absent(w.Inputs) || json.Unmarshal(w.Inputs, &text) != nil {
		fail = BadRequest("inputs", "inputs: missing or not a string: want a string")
	}
	r.Prompt, r.text = in.PromptTokens.Words(text), text
	r, fail = r.planned(l, in, nil, fail)
	return r, unprocessable(fail)
}

// unprocessable sets an error's status to 422, which TGI and MindIE send whenever they refuse a
// request. e may be nil.
func unprocessable(e *Error) *Error {
	if e != nil {
		e.Status = http.StatusUnprocessableEntity
	}
	return e
}

func tgiError(e *Error) string {
	kind := "generation"
	switch e.Status {
	case http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		kind = "validation"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		kind = "overloaded"
	}
	return typedError(e, kind)
}

// typedError returns the error object of TGI and MindIE.
func typedError(e *Error, kind string) string {
	return `{"error":` + jsontext.Quote(e.message) + `,"error_type":"` + kind + `"}`
}

type tgiEncoder struct{ Answer }

func (e *tgiEncoder) Opening() {}

func (e *tgiEncoder) Tokens(from, to int) {
	for i := from; i < to; i++ {
		e.event(i)
		e.Add(`"generated_text":null,"details":null}`)
		e.End()
	}
}

// event renders the event of a token up to its last two fields.
func (e *tgiEncoder) event(i int) {
	e.BeginTokens("")
	e.AddInt(`{"index":`, i+1)
	e.Add(`,"token":`)
	e.token(i)
	e.Add(`,`)
}

func (e *tgiEncoder) token(i int) {
	e.AddInt(`{"id":`, vocab.ID(i))
	e.textBetween(`,"text":"`, i, i+1, `","logprob":-0.25,"special":false}`)
}

func (e *tgiEncoder) Last(from, to int) {
	if to == 0 { // each event needs a token; this one has the special token that ends the text
		e.Begin("")
		e.Add(`{"index":1,"token":{"id":2,"text":"","logprob":-0.25,"special":true},`)
	} else {
		e.Tokens(from, to-1)
		e.event(to - 1)
	}
	e.textBetween(`"generated_text":"`, 0, to, `","details":`)
	if e.Request.details && e.Shape.Usage != shape.UsageNever {
		e.Add(`{"finish_reason":"`, e.tgiFinish())
		e.AddInt(`","generated_tokens":`, to)
		e.AddInt(`,"seed":null,"input_length":`, e.Request.Prompt)
		e.Add(`}}`)
	} else {
		e.Add(`null}`)
	}
	e.End()
}

func (e *tgiEncoder) Whole() {
	e.Begin("")
	e.textBetween(`{"generated_text":"`, 0, e.Request.Output, `"`)
	if e.Request.details {
		e.Add(`,"details":{"finish_reason":"`, e.tgiFinish())
		e.AddInt(`","generated_tokens":`, e.Request.Output)
		e.Add(`,"seed":null,"prefill":[],"tokens":[`)
		for i := range e.Request.Output {
			if i > 0 {
				e.Add(`,`)
			}
			e.token(i)
		}
		e.Add(`]}`)
	}
	e.Add(`}`)
	e.End()
}

// tgiFinish returns the finish reason as TGI and MindIE name it.
func (a *Answer) tgiFinish() string { return a.finish("stop_sequence", "eos_token", "length") }
