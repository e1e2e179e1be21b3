package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// anthropic is Anthropic's Messages API. Each event has a name. The events open a content
// block, add text to the block and close it; then message_delta has the stop reason and the
// token counts, and message_stop ends the stream.
// https://platform.claude.com/docs/en/build-with-claude/streaming
var anthropic = &Dialect{
	ContentType: "text/event-stream; charset=utf-8",
	Decode:      decodeAnthropic,
	Encode:      func(a Answer) Encoder { return &message{chat: newChat(a)} }, ErrorBody: anthropicError,
}

func decodeAnthropic(in Input) (Request, *Error) {
	var w struct {
		System        json.RawMessage `json:"system"`
		Messages      []Message       `json:"messages"`
		MaxTokens     *int            `json:"max_tokens"`
		StopSequences json.RawMessage `json:"stop_sequences"`
		Stream        bool            `json:"stream"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	r := Request{chat: true, Stream: w.Stream}
	var fail *Error
	r.Prompt, fail = in.countChat(w.System, w.Messages)
	if fail == nil && w.MaxTokens == nil {
		fail = BadRequest("max_tokens", "max_tokens: missing: want 1 to %d", MaxTokens)
	}
	return r.planned(limits{name: "max_tokens", max: w.MaxTokens, stops: w.StopSequences}, in, in.anthropicScript, fail)
}

// anthropicScript returns the output in the format that the body asks for, or nil if it asks for
// no format. If the body has tools, the output is a call if tool_choice requires a call.
func (in Input) anthropicScript() (*script, *Error) {
	var w struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
		OutputConfig struct {
			Format *struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return nil, BadBody(err)
	}
	if choice := w.ToolChoice; choice.Type == "any" || choice.Type == "tool" {
		for _, t := range w.Tools {
			if t.Name != "" && (choice.Type == "any" || t.Name == choice.Name) {
				return newScript("tools", t.Name, t.InputSchema)
			}
		}
		return nil, BadRequest("tools", "tools: want tools with names, and a tool_choice that names one of them")
	}
	f := w.OutputConfig.Format
	switch {
	case f == nil:
		return nil, nil
	case f.Type != "json_schema":
		return nil, BadRequest("output_config.format", "output_config.format.type: %q: want json_schema", f.Type)
	}
	return newScript("output_config.format", "", f.Schema)
}

// anthropicKinds has the kind of error of each status. The kind for any other status is api_error.
// https://platform.claude.com/docs/en/api/errors
var anthropicKinds = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnprocessableEntity:   "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusServiceUnavailable:    "overloaded_error",
	StatusOverloaded:                 "overloaded_error",
}

// anthropicError returns the error object.
func anthropicError(e *Error) string {
	message := e.message
	if e.maxContext > 0 {
		message = fmt.Sprintf("prompt is too long: %d tokens > %d maximum", e.prompt, e.maxContext)
	}
	kind := cmp.Or(anthropicKinds[e.Status], "api_error")
	return `{"type":"error","error":{"type":"` + kind + `","message":` + jsontext.Quote(message) + `},"request_id":null}`
}
