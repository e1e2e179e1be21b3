package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const (
	defaultMaxTokens = 128     // output tokens when the request sets no limit
	mostTokens       = 1 << 20 // the largest limit a request may set
	mostStops        = 16      // stop strings in a request
)

// A request is what the server has to know of a request's body.
type request struct {
	chat      bool
	stream    bool
	usage     bool   // stream_options.include_usage
	usageEach bool   // stream_options.continuous_usage_stats
	details   bool   // TGI's parameters.details
	load      bool   // Ollama's empty prompt, which only loads the model
	text      string // the prompt, if it was a text
	prompt    int    // tokens
	output    int    // tokens to generate
	finish    string // "length" or "stop"
	stop      string // the stop string that cut the output, if one did
	script    *script
}

// wireRequest is the body of OpenAI's two endpoints. What is not here is ignored.
type wireRequest struct {
	Messages            []message       `json:"messages"`
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
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// A message is one of a chat, in OpenAI's and in Ollama's form.
type message struct {
	Content json.RawMessage `json:"content"`
}

// decodeOpenAI reads the body of a request to one of OpenAI's two endpoints and
// decides how long the output is.
func decodeOpenAI(chat bool, in input) (request, *apiError) {
	var w wireRequest
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	r := request{chat: chat, stream: w.Stream}
	if w.StreamOptions != nil {
		if !w.Stream {
			return request{}, badRequest("stream_options", "stream_options: only allowed with stream true")
		}
		r.usage = w.StreamOptions.IncludeUsage
		r.usageEach = r.usage && w.StreamOptions.ContinuousUsageStats
	}
	if w.N != nil && *w.N != 1 {
		return request{}, badRequest("n", "n: %d, want 1", *w.N)
	}
	l := limits{name: "max_tokens", max: w.MaxTokens, minName: "min_tokens", min: w.MinTokens, ignoreEOS: w.IgnoreEOS, stops: w.Stop}
	if w.MaxCompletionTokens != nil {
		l.name, l.max = "max_completion_tokens", w.MaxCompletionTokens
	}
	var fail *apiError
	if chat {
		if r.prompt, fail = in.countMessages("messages", w.Messages); fail == nil {
			r.script, fail = in.written(false)
		}
	} else {
		r.prompt, r.text, fail = in.countPrompt("prompt", w.Prompt)
	}
	return r.planned(l, in, fail)
}

// limits are what a request says of the output's length, with the names it uses.
type limits struct {
	name      string
	max       *int // nil for the default
	orNone    bool // 0 is allowed
	minName   string
	min       int
	ignoreEOS bool
	stops     json.RawMessage
}

// planned returns the request with its output planned, or what is wrong with it;
// fail is what was already.
func (r request) planned(l limits, in input, fail *apiError) (request, *apiError) {
	if fail == nil {
		fail = r.plan(l, in)
	}
	if fail != nil {
		return request{}, fail
	}
	return r, nil
}

// plan sets the output's length and why it ends.
func (r *request) plan(l limits, in input) *apiError {
	limit, least := defaultMaxTokens, 1
	if l.max != nil {
		limit = *l.max
	}
	if l.orNone {
		least = 0
	}
	if limit < least || limit > mostTokens {
		return badRequest(l.name, "%s: %d, want %d to %d", l.name, limit, least, mostTokens)
	}
	if l.min < 0 || l.min > limit {
		return badRequest(l.minName, "%s: %d, want 0 to %s, which is %d", l.minName, l.min, l.name, limit)
	}
	stops, fail := decodeStop(l.stops)
	if fail != nil {
		return fail
	}
	if r.script != nil { // which ends where it is complete, whatever else is wished
		n := len(r.script.json)
		if r.chat {
			n = r.script.words(in.shape)
		}
		r.output, r.finish = n, "stop"
		if n > limit {
			r.output, r.finish = limit, "length"
		}
		return nil
	}
	r.output, r.finish = limit, "length"
	if in.natural > 0 && !l.ignoreEOS && max(in.natural, l.min) < limit {
		r.output, r.finish = max(in.natural, l.min), "stop"
	}
	if left, stop := in.words.cutAtStop(stops, l.min, r.output); stop != "" {
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
func (in input) countMessages(field string, messages []message) (int, *apiError) {
	if len(messages) == 0 {
		return 0, badRequest(field, "%s: missing or empty, want at least one", field)
	}
	n := 0
	for i, m := range messages {
		if absent(m.Content) {
			continue // an assistant's message may hold tool calls only
		}
		var text string
		var parts []struct {
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(m.Content, &text) == nil:
			n += in.prompt.count(text)
		case json.Unmarshal(m.Content, &parts) == nil:
			for _, p := range parts {
				n += in.prompt.count(p.Text)
			}
		default:
			name := fmt.Sprintf("%s[%d].content", field, i)
			return 0, badRequest(name, "%s: want a string or an array of parts", name)
		}
	}
	return n, nil
}

// countPrompt returns the tokens in a prompt: the words of a text, which it also
// returns, or the length of an array of token ids.
func (in input) countPrompt(field string, raw json.RawMessage) (int, string, *apiError) {
	if absent(raw) {
		return 0, "", badRequest(field, "%s: missing, want a string or an array of token ids", field)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return in.prompt.count(text), text, nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) == nil && len(texts) == 1 {
		return in.prompt.count(texts[0]), texts[0], nil
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return in.prompt.ids(ids), "", nil
	}
	return 0, "", badRequest(field, "%s: want a string, an array of one string or an array of token ids", field)
}

// absent reports whether a field was left out or null.
func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
