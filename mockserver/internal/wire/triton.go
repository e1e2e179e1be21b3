package wire

import "encoding/json"

// triton is the generate extension of Triton with TensorRT-LLM. It has no finish
// reason, usage or end marker.
// https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/extension_generate.html
var triton = &Dialect{
	ContentType: "text/event-stream", Unmarked: true,
	Decode: decodeTriton,
	Encode: func(a Answer) Encoder { return &objectEncoder{a, tritonObject} }, ErrorBody: PlainError,
}

func decodeTriton(in Input) (Request, *Error) {
	type params struct {
		MaxTokens *int            `json:"max_tokens"`
		MinLength int             `json:"min_length"`
		EndID     *int            `json:"end_id"`
		StopWords json.RawMessage `json:"stop_words"`
	}
	var w struct {
		TextInput *string `json:"text_input"`
		params
		Parameters *params `json:"parameters"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	p := w.params
	if q := w.Parameters; q != nil { // other backends of Triton have the parameters here
		if p.MaxTokens == nil {
			p.MaxTokens = q.MaxTokens
		}
		if p.StopWords == nil {
			p.StopWords = q.StopWords
		}
		p.MinLength = max(p.MinLength, q.MinLength)
	}
	var r Request
	var fail *Error
	if w.TextInput == nil {
		fail = BadRequest("text_input", "text_input: missing: want a string")
	} else {
		r.Prompt, r.text = in.PromptTokens.Words(*w.TextInput), *w.TextInput
	}
	return r.planned(limits{
		name: "max_tokens", max: p.MaxTokens, minName: "min_length", min: p.MinLength,
		ignoreEOS: p.EndID != nil && *p.EndID == -1, stops: p.StopWords,
	}, in, nil, fail)
}

func tritonObject(a *Answer, from, to int, _ bool) {
	a.Add(`{"model_name":`, a.Model)
	a.textBetween(`,"model_version":"1","sequence_end":false,"sequence_id":0,"sequence_index":0,"text_output":"`, from, to, `"}`)
}
