package wire

import "encoding/json"

// An openaiRequest is the body of a request to OpenAI's chat completions or
// completions. Fields that it does not list are ignored.
type openaiRequest struct {
	Messages            []Message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stop                json.RawMessage `json:"stop"`
	N                   *int            `json:"n"`
	Priority            int             `json:"priority"`
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// decodeOpenAI reads a request to OpenAI's chat completions or completions.
func decodeOpenAI(chat bool, in Input) (Request, *Error) {
	var w openaiRequest
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	r := Request{chat: chat, Stream: w.Stream, Priority: w.Priority}
	if w.StreamOptions != nil {
		if !w.Stream {
			return Request{}, BadRequest("stream_options", "stream_options: only allowed with stream true")
		}
		r.usage = w.StreamOptions.IncludeUsage
		r.usageEach = r.usage && w.StreamOptions.ContinuousUsageStats
	}
	if w.N != nil && *w.N != 1 {
		return Request{}, BadRequest("n", "n: %d: want 1", *w.N)
	}
	l := limits{name: "max_tokens", max: w.MaxTokens, minName: "min_tokens", min: w.MinTokens, ignoreEOS: w.IgnoreEOS, stops: w.Stop}
	if w.MaxCompletionTokens != nil {
		l.name, l.max = "max_completion_tokens", w.MaxCompletionTokens
	}
	var fail *Error
	if chat {
		r.Prompt, fail = in.CountMessages("messages", w.Messages)
		return r.planned(l, in, in.script, fail)
	}
	r.Prompt, r.text, fail = in.CountPrompt("prompt", w.Prompt)
	return r.planned(l, in, nil, fail)
}
