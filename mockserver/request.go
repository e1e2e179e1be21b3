package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	defaultMaxTokens = 128     // output tokens when the request sets no limit
	mostTokens       = 1 << 20 // the largest limit a request may set
	mostStops        = 16      // stop strings in a request
)

// A request is what the server has to know of a request's body.
type request struct {
	chat   bool
	stream bool
	usage  bool // stream_options.include_usage
	prompt int  // tokens
	output int  // tokens to generate
	finish string
	stop   string // the stop string that cut the output, if one did
}

// wireRequest is the body of both endpoints. What is not here is ignored.
type wireRequest struct {
	Messages []struct {
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stop                json.RawMessage `json:"stop"`
	N                   *int            `json:"n"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// decodeRequest reads the body of a request to one of the two endpoints and
// decides how long the output is; natural is where it ends by itself, 0 for
// never.
func decodeRequest(chat bool, body []byte, natural int) (request, *apiError) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		param := ""
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			param = t.Field
		}
		return request{}, badRequest(param, "body: %v", err)
	}
	r := request{chat: chat, stream: w.Stream}
	if w.StreamOptions != nil {
		if !w.Stream {
			return request{}, badRequest("stream_options", "stream_options: only allowed with stream true")
		}
		r.usage = w.StreamOptions.IncludeUsage
	}
	if w.N != nil && *w.N != 1 {
		return request{}, badRequest("n", "n: %d, want 1", *w.N)
	}
	var fail *apiError
	if chat {
		r.prompt, fail = countMessages(w)
	} else {
		r.prompt, fail = countPrompt(w.Prompt)
	}
	if fail == nil {
		fail = r.plan(w, natural)
	}
	if fail != nil {
		return request{}, fail
	}
	return r, nil
}

// plan sets the output's length and why it ends.
func (r *request) plan(w wireRequest, natural int) *apiError {
	limit, name := defaultMaxTokens, "max_tokens"
	if w.MaxTokens != nil {
		limit = *w.MaxTokens
	}
	if w.MaxCompletionTokens != nil {
		limit, name = *w.MaxCompletionTokens, "max_completion_tokens"
	}
	if limit < 1 || limit > mostTokens {
		return badRequest(name, "%s: %d, want 1 to %d", name, limit, mostTokens)
	}
	if w.MinTokens < 0 || w.MinTokens > limit {
		return badRequest("min_tokens", "min_tokens: %d, want 0 to %s, which is %d", w.MinTokens, name, limit)
	}
	stops, fail := decodeStop(w.Stop)
	if fail != nil {
		return fail
	}
	r.output, r.finish = limit, "length"
	if natural > 0 && !w.IgnoreEOS && max(natural, w.MinTokens) < limit {
		r.output, r.finish = max(natural, w.MinTokens), "stop"
	}
	if left, stop := cutAtStop(stops, w.MinTokens, r.output); stop != "" {
		r.output, r.finish, r.stop = left, "stop", stop
	}
	return nil
}

func decodeStop(raw json.RawMessage) ([]string, *apiError) {
	if absent(raw) {
		return nil, nil
	}
	var one string
	var stops []string
	if json.Unmarshal(raw, &one) == nil {
		stops = []string{one}
	} else if json.Unmarshal(raw, &stops) != nil {
		return nil, badRequest("stop", "stop: want a string or an array of strings")
	}
	if len(stops) > mostStops {
		return nil, badRequest("stop", "stop: %d strings, want at most %d", len(stops), mostStops)
	}
	for _, s := range stops {
		if s == "" {
			return nil, badRequest("stop", "stop: empty string, want at least one character")
		}
	}
	return stops, nil
}

// countMessages returns the tokens in the messages of a chat: the words of all
// their text, and none for the template.
func countMessages(w wireRequest) (int, *apiError) {
	if len(w.Messages) == 0 {
		return 0, badRequest("messages", "messages: missing or empty, want at least one")
	}
	n := 0
	for i, m := range w.Messages {
		if absent(m.Content) {
			continue // an assistant's message may hold tool calls only
		}
		var text string
		var parts []struct {
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(m.Content, &text) == nil:
			n += countWords(text)
		case json.Unmarshal(m.Content, &parts) == nil:
			for _, p := range parts {
				n += countWords(p.Text)
			}
		default:
			name := fmt.Sprintf("messages[%d].content", i)
			return 0, badRequest(name, "%s: want a string or an array of parts", name)
		}
	}
	return n, nil
}

// countPrompt returns the tokens in a prompt: the words of a text, or the length
// of an array of token ids.
func countPrompt(raw json.RawMessage) (int, *apiError) {
	if absent(raw) {
		return 0, badRequest("prompt", "prompt: missing, want a string or an array of token ids")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return countWords(text), nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) == nil && len(texts) == 1 {
		return countWords(texts[0]), nil
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return len(ids), nil
	}
	return 0, badRequest("prompt", "prompt: want a string, an array of one string or an array of token ids")
}

// absent reports whether a field was left out or null.
func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
