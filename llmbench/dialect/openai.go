package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// openAIBody is what both OpenAI endpoints share. min_tokens and ignore_eos are
// the extension that vLLM, SGLang, LMDeploy and llama.cpp understand; a server
// that does not know them ignores them or says so with a 400.
type openAIBody struct {
	Model         string         `json:"model,omitempty"`
	Messages      []Message      `json:"messages,omitempty"`
	Prompt        string         `json:"prompt,omitempty"`
	MaxTokens     int            `json:"max_tokens"`
	MinTokens     int            `json:"min_tokens,omitempty"`
	IgnoreEOS     bool           `json:"ignore_eos,omitempty"`
	Temperature   float64        `json:"temperature"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// newOpenAIBody returns the body for q without its prompt: greedy sampling, and
// usage asked for in streams too.
func newOpenAIBody(q Query) openAIBody {
	b := openAIBody{Model: q.Model, MaxTokens: q.MaxTokens, Stream: q.Stream}
	if q.FixedOutput {
		b.MinTokens, b.IgnoreEOS = q.MaxTokens, true
	}
	if q.Stream {
		b.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	return b
}

func (b openAIBody) marshal(dialect string) ([]byte, error) {
	if b.MaxTokens < 1 {
		return nil, fmt.Errorf("%s: max tokens %d; must be at least 1", dialect, b.MaxTokens)
	}
	return json.Marshal(b)
}

// openAIParser reads answers of both endpoints: they differ in where a choice
// keeps its text.
//
// What the servers of this family make of the format, in streams:
//   - the first event may name only the role, with content "" or null or none;
//   - the finish reason comes with the last text, or in an event of its own;
//     "" means that it has not come yet;
//   - usage comes in a last event whose choices are empty, or on the finish
//     event, or on every event (the last one that is not zero counts);
//   - an error comes as an object or a string, after status 200, and [DONE]
//     may follow it;
//   - [DONE] may be missing after a finish reason.
type openAIParser struct {
	dialect string
	w       *walker
	d       *Delta // where the event under way goes

	finished bool // a finish reason was seen
	done     bool // [DONE] was seen
	reasoned bool // the message under way had reasoning in it

	// The walk's steps, bound once so that a walk allocates no closures.
	onRoot, onChoice, onMessage, onCall, onFunction, onUsage func(name []byte)
	eachChoice, eachCall                                     func()
}

func newOpenAIParser(dialect string) *openAIParser {
	p := &openAIParser{dialect: dialect, w: newWalker()}
	p.onRoot, p.onChoice, p.onMessage = p.root, p.choice, p.message
	p.onCall, p.onFunction, p.onUsage = p.call, p.function, p.usage
	p.eachChoice = func() { p.w.object(p.onChoice) }
	p.eachCall = func() { p.w.object(p.onCall) }
	return p
}

func (p *openAIParser) Reset() { p.finished, p.done = false, false }

var (
	doneMarker = []byte("[DONE]")
	pingEvent  = []byte("ping")
	errorEvent = []byte("error")
)

func (p *openAIParser) Event(e sse.Event, d *Delta) error {
	d.reset()
	payload := e.Data
	if n := len(payload); n == 0 || payload[n-1] != '}' { // not just a document
		payload = bytes.TrimSpace(payload)
		if bytes.HasSuffix(payload, doneMarker) { // alone, or glued to the last document
			d.Done, p.done = true, true
			payload = bytes.TrimSpace(payload[:len(payload)-len(doneMarker)])
		}
	}
	isError := bytes.Equal(e.Type, errorEvent)
	if len(payload) == 0 && !isError || bytes.Equal(e.Type, pingEvent) {
		return nil
	}
	err := p.read(payload, d)
	if isError && d.Fault == "" { // the event's name says it, whatever its data is
		d.Fault = cmp.Or(excerpt(payload), "an error event without data")
		return nil
	}
	if err != nil && e.Unterminated {
		return fmt.Errorf("%s: %w within an event: %q", p.dialect, ErrTruncated, excerpt(payload))
	}
	if err != nil {
		return fmt.Errorf("%s: event is not the JSON it should be: %w: %q", p.dialect, err, excerpt(payload))
	}
	return nil
}

func (p *openAIParser) End() error {
	if !p.finished && !p.done {
		return fmt.Errorf("%s: %w: neither a finish reason nor [DONE]", p.dialect, ErrTruncated)
	}
	return nil
}

func (p *openAIParser) Body(body []byte, d *Delta) error {
	d.reset()
	if err := p.read(body, d); err != nil {
		return fmt.Errorf("%s: body is not the JSON it should be: %w: %q", p.dialect, err, excerpt(body))
	}
	return nil
}

// read walks text, which is one JSON document or, from some gateways, several.
func (p *openAIParser) read(text []byte, d *Delta) error {
	p.d = d
	return p.w.objects(text, p.onRoot)
}

func (p *openAIParser) root(name []byte) {
	switch string(name) {
	case "choices":
		p.w.array(p.eachChoice)
	case "usage":
		p.w.object(p.onUsage)
	case "error":
		if f := fault(p.w.raw()); f != "" {
			p.d.Fault = f
		}
	case "object": // vLLM and LMDeploy wrote errors as {"object":"error","message":…}
		if string(p.w.raw()) == `"error"` && p.d.Fault == "" {
			p.d.Fault = "an object of the kind error"
		}
	case "message":
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' && p.d.Fault != "" {
			p.d.Fault = excerpt(v)
		}
	default:
		p.w.raw()
	}
}

func (p *openAIParser) choice(name []byte) {
	switch string(name) {
	case "delta", "message":
		p.reasoned = false
		p.w.object(p.onMessage)
	case "text":
		p.d.Text = p.w.text(p.d.Text)
	case "finish_reason":
		v := p.w.raw()
		if len(v) > 2 && v[0] == '"' { // not null, not ""
			p.d.Finish = finishReason(v)
			p.finished = true
			if p.d.Finish == "error" || p.d.Finish == "abort" { // vLLM, SGLang, OpenRouter
				p.d.Fault = "finish reason " + p.d.Finish
			}
		}
	default:
		p.w.raw()
	}
}

// finishReason returns the quoted reason as a string, without allocating for
// those that servers send.
func finishReason(quoted []byte) string {
	for _, known := range []string{`"stop"`, `"length"`, `"tool_calls"`, `"eos_token"`, `"stop_sequence"`} {
		if string(quoted) == known {
			return known[1 : len(known)-1]
		}
	}
	return string(unquote(nil, quoted))
}

func (p *openAIParser) message(name []byte) {
	switch string(name) {
	case "content":
		p.d.Text = p.w.text(p.d.Text)
	case "reasoning", "reasoning_content": // vLLM 0.12 to 0.20 sends the same under both
		if p.reasoned {
			p.w.raw()
			return
		}
		before := len(p.d.Text)
		p.d.Text = p.w.text(p.d.Text)
		p.reasoned = len(p.d.Text) > before
	case "tool_calls":
		p.w.array(p.eachCall)
	default:
		p.w.raw()
	}
}

func (p *openAIParser) call(name []byte) {
	if string(name) == "function" {
		p.w.object(p.onFunction)
		return
	}
	p.w.raw()
}

func (p *openAIParser) function(name []byte) {
	if string(name) == "arguments" {
		p.d.Text = p.w.text(p.d.Text)
		return
	}
	p.w.raw()
}

func (p *openAIParser) usage(name []byte) {
	switch string(name) {
	case "prompt_tokens":
		p.d.Usage.PromptTokens = p.w.count()
	case "completion_tokens":
		p.d.Usage.OutputTokens = p.w.count()
	default:
		p.w.raw()
	}
}

// fault returns what an error member says: nothing for null, the message of an
// object that has one, else the value itself.
func fault(v []byte) string {
	if string(v) == "null" {
		return ""
	}
	var object struct{ Message string }
	if json.Unmarshal(v, &object) == nil && object.Message != "" {
		return excerpt([]byte(object.Message))
	}
	return excerpt(v)
}

// Cut marks where an excerpt of a server's words was cut off.
const Cut = "…"

// excerpt returns the start of what a server said, short enough for an error.
func excerpt(text []byte) string {
	const most = 200
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = unquote(nil, text)
	}
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + Cut
	}
	return string(text)
}
