package mockserver

import (
	"encoding/json"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// tgi is Hugging Face's text-generation-inference on /generate_stream and
// /generate: an event for each token, the whole text again in the last.
var tgi = &dialect{
	stream: "text/event-stream",
	decode: decodeTGI,
	encode: func(a answer) encoder { return &tgiEncoder{a} }, errorBody: tgiError,
}

func decodeTGI(in input) (request, *apiError) {
	var w struct {
		Inputs     json.RawMessage `json:"inputs"`
		Parameters *struct {
			MaxNewTokens *int            `json:"max_new_tokens"`
			Details      bool            `json:"details"`
			Stop         json.RawMessage `json:"stop"`
		} `json:"parameters"`
		Stream bool `json:"stream"` // in MindIE; TGI's path says it
	}
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, unprocessable(badBody(err))
	}
	r := request{stream: w.Stream}
	l := limits{name: "max_new_tokens"}
	if p := w.Parameters; p != nil {
		r.details, l.max, l.stops = p.Details, p.MaxNewTokens, p.Stop
	}
	var fail *apiError
	var text string
	if absent(w.Inputs) || json.Unmarshal(w.Inputs, &text) != nil {
		fail = badRequest("inputs", "inputs: missing or no string, want a string")
	}
	r.prompt, r.text = in.prompt.count(text), text
	r, fail = r.planned(l, in, fail)
	return r, unprocessable(fail)
}

// unprocessable gives an error the status that TGI's validation has, and MindIE's.
func unprocessable(e *apiError) *apiError {
	if e != nil {
		e.status = http.StatusUnprocessableEntity
	}
	return e
}

func tgiError(e *apiError) string {
	kind := "generation"
	switch e.status {
	case http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		kind = "validation"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		kind = "overloaded"
	}
	return typedError(e, kind)
}

// typedError is the error of a kind, in TGI and in MindIE.
func typedError(e *apiError, kind string) string {
	return `{"error":` + quoted(e.message) + `,"error_type":"` + kind + `"}`
}

type tgiEncoder struct{ answer }

func (e *tgiEncoder) opening() {}

func (e *tgiEncoder) tokens(from, to int) {
	for i := from; i < to; i++ {
		e.event(i)
		e.add(`"generated_text":null,"details":null}`)
		e.endTokens()
	}
}

// event adds the event of a token up to its last two fields.
func (e *tgiEncoder) event(i int) {
	e.beginTokens("")
	e.add(`{"index":`)
	e.addInt(i + 1)
	e.add(`,"token":`)
	e.token(i)
	e.add(`,`)
}

func (e *tgiEncoder) token(i int) {
	e.add(`{"id":`)
	e.addInt(firstID + i%len(vocabulary))
	e.add(`,"text":"`)
	e.text(i, i+1)
	e.add(`","logprob":-0.25,"special":false}`)
}

func (e *tgiEncoder) last(from, to int) {
	if to == 0 { // there is no event without a token: this is the end of the text
		e.begin("")
		e.add(`{"index":1,"token":{"id":2,"text":"","logprob":-0.25,"special":true},`)
	} else {
		e.tokens(from, to-1)
		e.event(to - 1)
	}
	e.add(`"generated_text":"`)
	e.text(0, to)
	e.add(`","details":`)
	if e.req.details && e.shape.Usage != shape.UsageNever {
		e.add(`{"finish_reason":"`, e.tgiFinish(), `","generated_tokens":`)
		e.addInt(to)
		e.add(`,"seed":null,"input_length":`)
		e.addInt(e.req.prompt)
		e.add(`}}`)
	} else {
		e.add(`null}`)
	}
	if to == 0 {
		e.end()
	} else {
		e.endTokens()
	}
}

func (e *tgiEncoder) whole() {
	e.begin("")
	e.add(`{"generated_text":"`)
	e.text(0, e.req.output)
	e.add(`"`)
	if e.req.details {
		e.add(`,"details":{"finish_reason":"`, e.tgiFinish(), `","generated_tokens":`)
		e.addInt(e.req.output)
		e.add(`,"seed":null,"prefill":[],"tokens":[`)
		for i := range e.req.output {
			if i > 0 {
				e.add(`,`)
			}
			e.token(i)
		}
		e.add(`]}`)
	}
	e.add(`}`)
	e.end()
}

// tgiFinish is why the output ended, in TGI and in MindIE.
func (a *answer) tgiFinish() string {
	switch {
	case a.req.stop != "":
		return "stop_sequence"
	case a.req.finish == "stop":
		return "eos_token"
	}
	return "length"
}
