package wire

import (
	"encoding/json"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// cohere is version 2 of Cohere's chat API. Each event has a name. The events open a part of
// the message, add text to the part and close it. Then message-end has the finish reason and
// the token counts. Cohere's server sends [DONE] after it, which the documentation does not
// say. https://docs.cohere.com/v2/docs/streaming
var cohere = &Dialect{
	ContentType: "text/event-stream", HasDone: true,
	Decode: decodeCohere,
	Encode: func(a Answer) Encoder { return &cohereMessage{newChat(a)} }, ErrorBody: cohereError,
}

// decodeCohere reads a request. https://docs.cohere.com/reference/chat
func decodeCohere(in Input) (Request, *Error) {
	var w struct {
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
	r.Prompt, fail = in.CountMessages("messages", w.Messages)
	return r.planned(limits{name: "max_tokens", max: w.MaxTokens, stops: w.StopSequences}, in, in.cohereScript, fail)
}

// cohereScript returns the output in the format that the body asks for, or nil if it asks for no
// format. If tool_choice requires a call, the output is a call of the first function.
func (in Input) cohereScript() (*script, *Error) {
	var w struct {
		Tools []struct {
			Function toolFunction `json:"function"`
		} `json:"tools"`
		ToolChoice     string `json:"tool_choice"`
		ResponseFormat struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return nil, BadBody(err)
	}
	switch w.ToolChoice {
	case "REQUIRED":
		if len(w.Tools) == 0 || w.Tools[0].Function.Name == "" {
			return nil, BadRequest("tools", "tools: want functions with names, because tool_choice is REQUIRED")
		}
		f := w.Tools[0].Function
		return newScript("tools", f.Name, f.Parameters)
	case "", "NONE":
	default:
		return nil, BadRequest("tool_choice", "tool_choice: %q: want REQUIRED or NONE", w.ToolChoice)
	}
	switch w.ResponseFormat.Type {
	case "", "text":
		return nil, nil
	case "json_object":
		return newScript("response_format", "", w.ResponseFormat.Schema)
	}
	return nil, BadRequest("response_format", "response_format.type: %q: want text or json_object", w.ResponseFormat.Type)
}

// cohereError returns the body of an error. https://docs.cohere.com/v2/reference/errors
func cohereError(e *Error) string { return `{"message":` + jsontext.Quote(e.message) + `}` }
