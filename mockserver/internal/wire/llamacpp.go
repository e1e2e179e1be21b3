package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// llamacpp is llama.cpp's own /completion. The last event has no text. It has the settings,
// the prompt and the server's timings. There is no [DONE].
// https://github.com/ggml-org/llama.cpp/tree/master/tools/server
var llamacpp = &Dialect{
	ContentType: "text/event-stream",
	Decode:      decodeLlamacpp,
	Encode:      func(a Answer) Encoder { return &llamacppEncoder{a} }, ErrorBody: llamacppError,
}

func decodeLlamacpp(in Input) (Request, *Error) {
	var w struct {
		Prompt    json.RawMessage `json:"prompt"`
		NPredict  *int            `json:"n_predict"`
		MaxTokens *int            `json:"max_tokens"`
		IgnoreEOS bool            `json:"ignore_eos"`
		Stop      json.RawMessage `json:"stop"`
		Stream    bool            `json:"stream"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	l := limits{name: "n_predict", max: w.NPredict, zeroAllowed: true, ignoreEOS: w.IgnoreEOS, stops: w.Stop}
	if w.NPredict == nil {
		l.max = w.MaxTokens
	}
	if l.max != nil && *l.max < 0 { // no limit
		l.max = nil
	}
	r := Request{Stream: w.Stream}
	var fail *Error
	r.Prompt, r.text, fail = in.CountPrompt("prompt", w.Prompt)
	return r.planned(l, in, in.script, fail)
}

func llamacppError(e *Error) string {
	if e.maxContext > 0 {
		return fmt.Sprintf(`{"error":{"code":400,"message":"request (%[1]d tokens) exceeds the available context size (%[2]d tokens), try increasing it",`+
			`"type":"exceed_context_size_error","n_prompt_tokens":%[1]d,"n_ctx":%[2]d}}`, e.prompt, e.maxContext)
	}
	kinds := map[int]string{401: "authentication_error", 404: "not_found_error", 500: "server_error", 503: "unavailable_error"}
	kind := cmp.Or(kinds[e.Status], "invalid_request_error")
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"type":"%s"}}`, e.Status, jsontext.Quote(e.message), kind)
}

type llamacppEncoder struct{ Answer }

func (e *llamacppEncoder) Opening() {}

func (e *llamacppEncoder) Tokens(from, to int) {
	if from == to {
		return
	}
	e.BeginTokens("")
	e.textBetween(`{"index":0,"content":"`, from, to, `","tokens":`)
	e.ids(from, to)
	e.AddInt(`,"stop":false,"id_slot":-1,"tokens_predicted":`, to)
	e.AddInt(`,"tokens_evaluated":`, e.Request.Prompt)
	e.Add(`}`)
	e.End()
}

func (e *llamacppEncoder) Last(from, to int) {
	e.Tokens(from, to)
	e.final(0, 0)
}

func (e *llamacppEncoder) Whole() { e.final(0, e.Request.Output) }

// final renders the object that ends a stream or that is a whole answer. The object's text has
// the tokens with indices from to to-1.
func (e *llamacppEncoder) final(from, to int) {
	n, prompt := e.Request.Output, e.Request.Prompt
	e.Begin("")
	e.textBetween(`{"index":0,"content":"`, from, to, `"`)
	e.Add(`,"tokens":[],"id_slot":0,"stop":true,"model":`, e.Model)
	e.AddInt(`,"tokens_predicted":`, n)
	e.AddInt(`,"tokens_evaluated":`, prompt)
	e.AddInt(`,"generation_settings":{"seed":42,"temperature":0.0,"n_predict":`, n)
	e.Add(`},"prompt":`, jsontext.Quote(e.Request.text), `,"has_new_line":false,"truncated":false,"stop_type":"`, e.finish("word", "eos", "limit"),
		`","stopping_word":`, jsontext.Quote(e.Request.stop))
	e.AddInt(`,"tokens_cached":`, prompt+n)
	cached := e.Cached()
	e.AddInt(`,"timings":{"cache_n":`, cached)
	e.timing("prompt", prompt-cached, e.prefillTime())
	e.timing("predicted", n, e.decodeTime(n))
	if d := e.Drafts(); d.Steps > 0 {
		e.AddInt(`,"draft_n":`, d.Drafted)
		e.AddInt(`,"draft_n_accepted":`, d.Accepted)
	}
	e.Add(`}}`)
	e.End()
}

// timing renders the timings of a phase of n tokens as llama.cpp computes them: llama.cpp
// divides by n, although the first output token needs no decode step.
func (e *llamacppEncoder) timing(phase string, n int, took time.Duration) {
	ms := float64(took) / float64(time.Millisecond)
	each, rate := 0.0, 0.0
	if n > 0 {
		each = ms / float64(n)
	}
	if ms > 0 {
		rate = float64(n) / ms * 1000
	}
	e.Add(`,"`, phase)
	e.AddInt(`_n":`, n)
	e.Add(`,"`, phase)
	e.AddFloat(`_ms":`, ms)
	e.Add(`,"`, phase)
	e.AddFloat(`_per_token_ms":`, each)
	e.Add(`,"`, phase)
	e.AddFloat(`_per_second":`, rate)
}
