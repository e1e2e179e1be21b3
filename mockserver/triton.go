package mockserver

import "encoding/json"

// triton is Triton's generate extension over TensorRT-LLM: no finish reason, no
// usage, no end marker.
var triton = &dialect{
	stream: "text/event-stream", unmarked: true,
	decode: decodeTriton,
	encode: func(a answer) encoder { return &objectEncoder{a, tritonObject} }, errorBody: plainError,
}

func decodeTriton(in input) (request, *apiError) {
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
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	p := w.params
	if q := w.Parameters; q != nil { // the other backends' place for them
		if p.MaxTokens == nil {
			p.MaxTokens = q.MaxTokens
		}
		if p.StopWords == nil {
			p.StopWords = q.StopWords
		}
		p.MinLength = max(p.MinLength, q.MinLength)
	}
	var r request
	var fail *apiError
	if w.TextInput == nil {
		fail = badRequest("text_input", "text_input: missing, want a string")
	} else {
		r.prompt, r.text = in.prompt.count(*w.TextInput), *w.TextInput
	}
	return r.planned(limits{
		name: "max_tokens", max: p.MaxTokens, minName: "min_length", min: p.MinLength,
		ignoreEOS: p.EndID != nil && *p.EndID == -1, stops: p.StopWords,
	}, in, fail)
}

func tritonObject(a *answer, from, to int, _ bool) {
	a.add(`{"model_name":`, a.model, `,"model_version":"1","sequence_end":false,"sequence_id":0,"sequence_index":0,"text_output":"`)
	a.text(from, to)
	a.add(`"}`)
}
