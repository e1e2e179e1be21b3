package mockserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// sglang is SGLang's own /generate, and lmdeploy LMDeploy's, which looks the
// same: but SGLang sends all the text again with each event.
var (
	sglang = &dialect{
		stream: "text/event-stream; charset=utf-8", done: true,
		decode: decodeSGLang,
		encode: func(a answer) encoder { return &sglangEncoder{a} }, errorBody: topError,
		streamError: func(e *apiError) string {
			return fmt.Sprintf(`{"error":{"message":%s,"type":"internal_error","code":%d,"retryable":false}}`, quoted(e.message), e.status)
		},
	}
	lmdeploy = &dialect{
		stream: "text/event-stream; charset=utf-8", done: true,
		decode: decodeLMDeploy,
		encode: func(a answer) encoder { return &lmdeployEncoder{a} }, errorBody: topError,
		streamError: func(e *apiError) string { return `{"error":` + topError(e) + `}` },
	}
)

func decodeSGLang(in input) (request, *apiError) {
	var w struct {
		Text     json.RawMessage `json:"text"`
		InputIDs json.RawMessage `json:"input_ids"`
		Params   *struct {
			MaxNewTokens *int            `json:"max_new_tokens"`
			MinNewTokens int             `json:"min_new_tokens"`
			IgnoreEOS    bool            `json:"ignore_eos"`
			Stop         json.RawMessage `json:"stop"`
		} `json:"sampling_params"`
		Stream bool `json:"stream"`
	}
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	l := limits{name: "max_new_tokens", minName: "min_new_tokens", orNone: true}
	if p := w.Params; p != nil {
		l.max, l.min, l.ignoreEOS, l.stops = p.MaxNewTokens, p.MinNewTokens, p.IgnoreEOS, p.Stop
	}
	return decodeTextOrIDs("text", w.Text, w.InputIDs, w.Stream, l, in)
}

func decodeLMDeploy(in input) (request, *apiError) {
	var w struct {
		Prompt       json.RawMessage `json:"prompt"`
		InputIDs     json.RawMessage `json:"input_ids"`
		MaxTokens    *int            `json:"max_tokens"`
		MinNewTokens int             `json:"min_new_tokens"`
		IgnoreEOS    bool            `json:"ignore_eos"`
		Stop         json.RawMessage `json:"stop"`
		Stream       bool            `json:"stream"`
	}
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	l := limits{name: "max_tokens", max: w.MaxTokens, minName: "min_new_tokens", min: w.MinNewTokens, ignoreEOS: w.IgnoreEOS, stops: w.Stop}
	return decodeTextOrIDs("prompt", w.Prompt, w.InputIDs, w.Stream, l, in)
}

// decodeTextOrIDs makes a request whose prompt is in one of two fields.
func decodeTextOrIDs(field string, text, ids json.RawMessage, stream bool, l limits, in input) (request, *apiError) {
	if absent(text) && !absent(ids) {
		field, text = "input_ids", ids
	}
	r := request{stream: stream}
	var fail *apiError
	r.prompt, r.text, fail = countPrompt(field, text)
	return r.planned(l, in, fail)
}

type sglangEncoder struct{ answer }

func (e *sglangEncoder) opening() {}

func (e *sglangEncoder) tokens(from, to int) {
	if from < to {
		e.beginTokens("")
		e.object(from, to, false)
		e.endTokens()
	}
}

func (e *sglangEncoder) last(from, to int) {
	if from == to {
		e.begin("")
		e.object(from, to, true)
		e.end()
		return
	}
	e.beginTokens("")
	e.object(from, to, true)
	e.endTokens()
}

func (e *sglangEncoder) whole() {
	e.begin("")
	e.object(0, e.req.output, true)
	e.end()
}

// object adds an event, or the answer: all tokens up to to, or with the shape
// those since from.
func (e *sglangEncoder) object(from, to int, last bool) {
	if !e.shape.Incremental {
		from = 0
	}
	e.add(`{"text":"`)
	e.text(from, to)
	e.add(`","output_ids":`)
	e.ids(from, to)
	e.add(`,"meta_info":{"id":"`)
	e.buf = strconv.AppendUint(e.buf, e.ordinal, 16)
	e.add(`","finish_reason":`)
	e.reason(last)
	e.add(`,"prompt_tokens":`)
	e.addInt(e.req.prompt)
	e.add(`,"weight_version":"default","num_retractions":0,"completion_tokens":`)
	e.addInt(to)
	e.add(`,"cached_tokens":0`)
	if last {
		e.add(`,"e2e_latency":`)
		e.buf = appendFloat(e.buf, (*e.queued + e.prefill() + e.decode(to)).Round(time.Microsecond).Seconds())
	}
	e.add(`}}`)
}

// reason adds the finish reason, which is an object in both.
func (a *answer) reason(last bool) {
	switch {
	case !last:
		a.add(`null`)
	case a.req.stop != "":
		a.add(`{"type":"stop","matched":`, quoted(a.req.stop), `}`)
	case a.req.finish == "stop":
		a.add(`{"type":"stop","matched":2}`) // the id of the end of the text
	default:
		a.add(`{"type":"length","length":`)
		a.addInt(a.req.output)
		a.add(`}`)
	}
}

type lmdeployEncoder struct{ answer }

func (e *lmdeployEncoder) opening() {}

func (e *lmdeployEncoder) tokens(from, to int) {
	if from < to {
		e.beginTokens("")
		e.object(from, to, false)
		e.endTokens()
	}
}

func (e *lmdeployEncoder) last(from, to int) {
	if from == to {
		e.begin("")
		e.object(from, to, true)
		e.end()
		return
	}
	e.beginTokens("")
	e.object(from, to, true)
	e.endTokens()
}

func (e *lmdeployEncoder) whole() {
	e.begin("")
	e.object(0, e.req.output, true)
	e.end()
}

func (e *lmdeployEncoder) object(from, to int, last bool) {
	e.add(`{"text":"`)
	e.text(from, to)
	e.add(`","output_ids":`)
	e.ids(from, to)
	e.add(`,"meta_info":{"prompt_tokens":`)
	e.addInt(e.req.prompt)
	e.add(`,"completion_tokens":`)
	e.addInt(to)
	e.add(`,"finish_reason":`)
	e.reason(last)
	e.add(`,"output_token_logprobs":null,"routed_experts":null}}`)
}
