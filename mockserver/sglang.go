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
		encode: func(a answer) encoder { return &objectEncoder{a, sglangObject} }, errorBody: topError,
		streamError: func(e *apiError) string {
			return fmt.Sprintf(`{"error":{"message":%s,"type":"internal_error","code":%d,"retryable":false}}`, quoted(e.message), e.status)
		},
	}
	lmdeploy = &dialect{
		stream: "text/event-stream; charset=utf-8", done: true,
		decode: decodeLMDeploy,
		encode: func(a answer) encoder { return &objectEncoder{a, lmdeployObject} }, errorBody: topError,
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
	r.prompt, r.text, fail = in.countPrompt(field, text)
	return r.planned(l, in, fail)
}

// sglangObject has all tokens up to to, or with the shape those since from.
func sglangObject(a *answer, from, to int, last bool) {
	if !a.shape.Incremental {
		from = 0
	}
	a.add(`{"text":"`)
	a.text(from, to)
	a.add(`","output_ids":`)
	a.ids(from, to)
	a.add(`,"meta_info":{"id":"`)
	a.buf = strconv.AppendUint(a.buf, a.ordinal, 16)
	a.add(`","finish_reason":`)
	a.reason(last)
	a.add(`,"prompt_tokens":`)
	a.addInt(a.req.prompt)
	a.add(`,"weight_version":"default","num_retractions":0,"completion_tokens":`)
	a.addInt(to)
	a.add(`,"cached_tokens":`)
	a.addInt(a.cached())
	if last {
		a.add(`,"e2e_latency":`)
		a.buf = appendFloat(a.buf, (*a.queued + a.prefill() + a.decode(to)).Round(time.Microsecond).Seconds())
	}
	a.add(`}}`)
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

// lmdeployObject has the tokens since from.
func lmdeployObject(a *answer, from, to int, last bool) {
	a.add(`{"text":"`)
	a.text(from, to)
	a.add(`","output_ids":`)
	a.ids(from, to)
	a.add(`,"meta_info":{"prompt_tokens":`)
	a.addInt(a.req.prompt)
	a.add(`,"completion_tokens":`)
	a.addInt(to)
	a.add(`,"finish_reason":`)
	a.reason(last)
	a.add(`,"output_token_logprobs":null,"routed_experts":null}}`)
}
