package mockserver

import (
	"encoding/json"
	"fmt"
	"time"
)

// llamacpp is llama-server's own /completion: the last event has no text but the
// settings, the prompt and the server's own timings. There is no [DONE].
var llamacpp = &dialect{
	stream: "text/event-stream",
	decode: decodeLlamacpp,
	encode: func(a answer) encoder { return &llamacppEncoder{a} }, errorBody: llamacppError,
}

func decodeLlamacpp(in input) (request, *apiError) {
	var w struct {
		Prompt    json.RawMessage `json:"prompt"`
		NPredict  *int            `json:"n_predict"`
		MaxTokens *int            `json:"max_tokens"`
		IgnoreEOS bool            `json:"ignore_eos"`
		Stop      json.RawMessage `json:"stop"`
		Stream    bool            `json:"stream"`
	}
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	l := limits{name: "n_predict", max: w.NPredict, orNone: true, ignoreEOS: w.IgnoreEOS, stops: w.Stop}
	if w.NPredict == nil {
		l.max = w.MaxTokens
	}
	if l.max != nil && *l.max < 0 { // no limit but the context
		l.max = nil
	}
	r := request{stream: w.Stream}
	var fail *apiError
	if r.prompt, r.text, fail = in.countPrompt("prompt", w.Prompt); fail == nil {
		r.script, fail = in.written(false)
	}
	return r.planned(l, in, fail)
}

func llamacppError(e *apiError) string {
	if e.most > 0 {
		return fmt.Sprintf(`{"error":{"code":400,"message":"request (%[1]d tokens) exceeds the available context size (%[2]d tokens), try increasing it",`+
			`"type":"exceed_context_size_error","n_prompt_tokens":%[1]d,"n_ctx":%[2]d}}`, e.prompt, e.most)
	}
	kind := "invalid_request_error"
	switch e.status {
	case 401:
		kind = "authentication_error"
	case 404:
		kind = "not_found_error"
	case 500:
		kind = "server_error"
	case 503:
		kind = "unavailable_error"
	}
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"type":"%s"}}`, e.status, quoted(e.message), kind)
}

type llamacppEncoder struct{ answer }

func (e *llamacppEncoder) opening() {}

func (e *llamacppEncoder) tokens(from, to int) {
	if from == to {
		return
	}
	e.beginTokens("")
	e.add(`{"index":0,"content":"`)
	e.text(from, to)
	e.add(`","tokens":`)
	e.ids(from, to)
	e.add(`,"stop":false,"id_slot":-1,"tokens_predicted":`)
	e.addInt(to)
	e.add(`,"tokens_evaluated":`)
	e.addInt(e.req.prompt)
	e.add(`}`)
	e.endTokens()
}

func (e *llamacppEncoder) last(from, to int) {
	e.tokens(from, to)
	e.final(0, 0)
}

func (e *llamacppEncoder) whole() { e.final(0, e.req.output) }

// final adds the object that ends a stream, with no text, or is the answer.
func (e *llamacppEncoder) final(from, to int) {
	n, prompt := e.req.output, e.req.prompt
	e.begin("")
	e.add(`{"index":0,"content":"`)
	e.text(from, to)
	e.add(`","tokens":[],"id_slot":0,"stop":true,"model":`, e.model, `,"tokens_predicted":`)
	e.addInt(n)
	e.add(`,"tokens_evaluated":`)
	e.addInt(prompt)
	e.add(`,"generation_settings":{"seed":42,"temperature":0.0,"n_predict":`)
	e.addInt(n)
	e.add(`},"prompt":`, quoted(e.req.text), `,"has_new_line":false,"truncated":false,"stop_type":"`, e.stopType(),
		`","stopping_word":`, quoted(e.req.stop), `,"tokens_cached":`)
	e.addInt(prompt + n)
	cached := e.cached()
	e.add(`,"timings":{"cache_n":`)
	e.addInt(cached)
	e.timing("prompt", prompt-cached, e.prefill())
	e.timing("predicted", n, e.decode(n))
	e.add(`}}`)
	e.end()
}

// timing adds the five figures of a phase, as the server computes them: per token
// and per second by all n, though the first of the predicted took no time.
func (e *llamacppEncoder) timing(phase string, n int, took time.Duration) {
	ms := float64(took) / float64(time.Millisecond)
	each, rate := 0.0, 0.0
	if n > 0 {
		each = ms / float64(n)
	}
	if ms > 0 {
		rate = float64(n) / ms * 1000
	}
	e.add(`,"`, phase, `_n":`)
	e.addInt(n)
	e.add(`,"`, phase, `_ms":`)
	e.buf = appendFloat(e.buf, ms)
	e.add(`,"`, phase, `_per_token_ms":`)
	e.buf = appendFloat(e.buf, each)
	e.add(`,"`, phase, `_per_second":`)
	e.buf = appendFloat(e.buf, rate)
}

func (e *llamacppEncoder) stopType() string {
	switch {
	case e.req.stop != "":
		return "word"
	case e.req.finish == "stop":
		return "eos"
	}
	return "limit"
}
