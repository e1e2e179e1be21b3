package wire

import (
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
	Encode:      func(a Answer) Encoder { return newMessage(a) }, ErrorBody: anthropicError,
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
	system, fail := 0, (*Error)(nil)
	if !absent(w.System) { // first, because a prompt begins with the system's text
		system, fail = in.CountMessages("system", []Message{{Content: w.System}})
	}
	if fail == nil {
		r.Prompt, fail = in.CountMessages("messages", w.Messages)
	}
	r.Prompt += system
	if fail == nil && w.MaxTokens == nil {
		fail = BadRequest("max_tokens", "max_tokens: missing, want 1 to %d", MaxTokens)
	}
	if fail == nil {
		r.script, fail = in.anthropicScript()
	}
	return r.planned(limits{name: "max_tokens", max: w.MaxTokens, stops: w.StopSequences}, in, fail)
}

// anthropicScript returns the output in the format that the body asks for, or nil if it asks for
// no format. If the body has tools, the output is a call if tool_choice requires a call.
func (in Input) anthropicScript() (*script, *Error) {
	if in.Shape.NoFormat {
		return nil, nil
	}
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
		return nil, BadRequest("output_config.format", "output_config.format.type: %q, want json_schema", f.Type)
	}
	return newScript("output_config.format", "", f.Schema)
}

// anthropicError returns the error object. https://platform.claude.com/docs/en/api/errors
func anthropicError(e *Error) string {
	kind := "api_error"
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case http.StatusServiceUnavailable, StatusOverloaded:
		kind = "overloaded_error"
	}
	message := e.message
	if e.maxContext > 0 {
		message = fmt.Sprintf("prompt is too long: %d tokens > %d maximum", e.prompt, e.maxContext)
	}
	return `{"type":"error","error":{"type":"` + kind + `","message":` + jsontext.Quote(message) + `},"request_id":null}`
}
