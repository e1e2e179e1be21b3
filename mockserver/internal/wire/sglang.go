package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// sglang is SGLang's /generate and lmdeploy is LMDeploy's. Their objects are similar, but each
// event of SGLang has the whole text so far, and each event of LMDeploy only the new text.
// https://docs.sglang.ai/basic_usage/native_api.html
var (
	sglang = &Dialect{
		ContentType: "text/event-stream; charset=utf-8", HasDone: true,
		Decode: decodeSGLang,
		Encode: func(a Answer) Encoder { return &objectEncoder{a, sglangObject} }, ErrorBody: topError,
		StreamErrorBody: func(e *Error) string {
			return fmt.Sprintf(`{"error":{"message":%s,"type":"internal_error","code":%d,"retryable":false}}`, jsontext.Quote(e.message), e.Status)
		},
	}
	lmdeploy = &Dialect{
		ContentType: "text/event-stream; charset=utf-8", HasDone: true,
		Decode: decodeLMDeploy,
		Encode: func(a Answer) Encoder { return &objectEncoder{a, lmdeployObject} }, ErrorBody: topError,
		StreamErrorBody: func(e *Error) string { return `{"error":` + topError(e) + `}` },
	}
)

func decodeSGLang(in Input) (Request, *Error) {
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
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	l := limits{name: "max_new_tokens", minName: "min_new_tokens", zeroAllowed: true}
	if p := w.Params; p != nil {
		l.max, l.min, l.ignoreEOS, l.stops = p.MaxNewTokens, p.MinNewTokens, p.IgnoreEOS, p.Stop
	}
	return decodeTextOrIDs("text", w.Text, w.InputIDs, w.Stream, l, in)
}

func decodeLMDeploy(in Input) (Request, *Error) {
	var w struct {
		Prompt       json.RawMessage `json:"prompt"`
		InputIDs     json.RawMessage `json:"input_ids"`
		MaxTokens    *int            `json:"max_tokens"`
		MinNewTokens int             `json:"min_new_tokens"`
		IgnoreEOS    bool            `json:"ignore_eos"`
		Stop         json.RawMessage `json:"stop"`
		Stream       bool            `json:"stream"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	l := limits{name: "max_tokens", max: w.MaxTokens, minName: "min_new_tokens", min: w.MinNewTokens, ignoreEOS: w.IgnoreEOS, stops: w.Stop}
	return decodeTextOrIDs("prompt", w.Prompt, w.InputIDs, w.Stream, l, in)
}

// decodeTextOrIDs returns a request whose prompt is a text, in the given field, or token ids, in
// the field input_ids. If both are set, the text is used.
func decodeTextOrIDs(field string, text, ids json.RawMessage, stream bool, l limits, in Input) (Request, *Error) {
	if absent(text) && !absent(ids) {
		field, text = "input_ids", ids
	}
	r := Request{Stream: stream}
	var fail *Error
	r.Prompt, r.text, fail = in.CountPrompt(field, text)
	return r.planned(l, in, nil, fail)
}

// sglangObject renders an object with the tokens with indices 0 to to-1. If the shape is
// incremental, the tokens have the indices from to to-1.
func sglangObject(a *Answer, from, to int, last bool) {
	if !a.Shape.Incremental {
		from = 0
	}
	a.textBetween(`{"text":"`, from, to, `","output_ids":`)
	a.ids(from, to)
	a.Add(`,"meta_info":{"id":"`)
	a.Buf = strconv.AppendUint(a.Buf, a.Ordinal, 16)
	a.Add(`","finish_reason":`)
	a.finishObject(last)
	a.AddInt(`,"prompt_tokens":`, a.Request.Prompt)
	a.AddInt(`,"weight_version":"default","num_retractions":0,"completion_tokens":`, to)
	a.AddInt(`,"cached_tokens":`, a.Cached())
	if last {
		a.AddFloat(`,"e2e_latency":`, (*a.Queued + a.prefillTime() + a.decodeTime(to)).Round(time.Microsecond).Seconds())
		if d := a.Drafts(); d.Steps > 0 {
			a.AddInt(`,"spec_verify_ct":`, d.Steps)
		}
	}
	a.Add(`}}`)
}

// finishObject renders the finish reason of SGLang and LMDeploy, which is an object.
func (a *Answer) finishObject(last bool) {
	switch {
	case !last:
		a.Add(`null`)
	case a.Request.stop != "":
		a.Add(`{"type":"stop","matched":`, jsontext.Quote(a.Request.stop), `}`)
	case a.Request.Finish == "stop":
		a.Add(`{"type":"stop","matched":2}`) // the id of the end-of-text token
	default:
		a.AddInt(`{"type":"length","length":`, a.Request.Output)
		a.Add(`}`)
	}
}

// lmdeployObject renders an object with the tokens with indices from to to-1.
func lmdeployObject(a *Answer, from, to int, last bool) {
	a.textBetween(`{"text":"`, from, to, `","output_ids":`)
	a.ids(from, to)
	a.AddInt(`,"meta_info":{"prompt_tokens":`, a.Request.Prompt)
	a.AddInt(`,"completion_tokens":`, to)
	a.Add(`,"finish_reason":`)
	a.finishObject(last)
	a.Add(`,"output_token_logprobs":null,"routed_experts":null}}`)
}
