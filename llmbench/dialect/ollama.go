package dialect

import (
	"encoding/json"
	"time"
)

// Ollama is the chat API of Ollama (/api/chat,
// https://github.com/ollama/ollama/blob/main/docs/api.md): a JSON document a
// line, the last of which, "done": true, has the counts and the server's
// durations.
type Ollama struct{}

// Name returns "ollama".
func (Ollama) Name() string { return "ollama" }

// Path returns "/api/chat".
func (Ollama) Path(Query) string { return "/api/chat" }

// Body returns the JSON to post for q. Ollama has no way to keep a model from
// ending its text, so FixedOutput asks for nothing more than a limit.
func (d Ollama) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := newOllamaBody(q)
	b.Messages, b.Tools = q.conversation(), chatTools(q.Tools)
	return json.Marshal(b)
}

// NewParser returns a parser of answers.
func (d Ollama) NewParser() Parser { return newOllamaParser(d.Name()) }

// OllamaGenerate is the completion API of Ollama (/api/generate). The prompt is
// sent raw: no template is put around it.
type OllamaGenerate struct{}

// Name returns "ollama-generate".
func (OllamaGenerate) Name() string { return "ollama-generate" }

// Path returns "/api/generate".
func (OllamaGenerate) Path(Query) string { return "/api/generate" }

// Body returns the JSON to post for q, which must not be a conversation. As to
// FixedOutput, see [Ollama].
func (d OllamaGenerate) Body(q Query) ([]byte, error) {
	if err := promptOrSchema(d.Name(), q); err != nil {
		return nil, err
	}
	b := newOllamaBody(q)
	b.Prompt, b.Raw = q.Prompt, true
	return json.Marshal(b)
}

// NewParser returns a parser of answers.
func (d OllamaGenerate) NewParser() Parser { return newOllamaParser(d.Name()) }

type ollamaBody struct {
	Model    string        `json:"model,omitempty"`
	Messages []Message     `json:"messages,omitempty"`
	Prompt   string        `json:"prompt,omitempty"`
	Raw      bool          `json:"raw,omitempty"`
	Stream   bool          `json:"stream"` // true if left out
	Options  ollamaOptions `json:"options"`

	Tools  []chatTool      `json:"tools,omitempty"`
	Format json.RawMessage `json:"format,omitempty"`
}

type ollamaOptions struct {
	NumPredict  int     `json:"num_predict"`
	Temperature float64 `json:"temperature"`
	Seed        int     `json:"seed"`
}

func newOllamaBody(q Query) ollamaBody {
	return ollamaBody{Model: q.Model, Stream: q.Stream, Format: q.Schema, Options: ollamaOptions{NumPredict: q.MaxTokens}}
}

// ollamaParser reads answers of both endpoints: they differ in where a document
// keeps its text.
type ollamaParser struct {
	answers
	last   bool   // the document under way says "done": true
	called []byte // room for the name of a call

	onMessage, onCall, onFunction func(name []byte)
	eachCall                      func()
}

func newOllamaParser(dialect string) *ollamaParser {
	p := new(ollamaParser)
	p.init(dialect, `"done": true`, p.next, p.root, p.settled)
	p.onMessage, p.onCall, p.onFunction = p.chatMessage, p.call, p.function
	p.eachCall = func() { p.w.object(p.onCall) }
	return p
}

// next forgets the document before.
func (p *ollamaParser) next() { p.last = false }

func (p *ollamaParser) root(name []byte) {
	u, t := &p.d.Usage, &p.d.Timings
	switch string(name) {
	case "message":
		if p.w.kind() == '{' {
			p.w.object(p.onMessage)
			return
		}
		p.other(name)
	case "response":
		p.d.Text = p.w.text(p.d.Text[:p.start.text])
	case "thinking":
		p.d.Reasoning = p.w.text(p.d.Reasoning[:p.start.reasoning])
	case "done":
		p.last = p.w.is("true")
	case "done_reason":
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' {
			p.d.Finish = reason(v)
		}
	case "prompt_eval_count":
		u.PromptTokens = p.w.count()
		t.PromptTokens = u.PromptTokens
	case "eval_count":
		u.OutputTokens = p.w.count()
		t.OutputTokens = u.OutputTokens
	case "load_duration":
		t.Load = p.w.duration(time.Nanosecond)
	case "prompt_eval_duration":
		t.Prompt = p.w.duration(time.Nanosecond)
	case "eval_duration":
		t.Predict = p.w.duration(time.Nanosecond)
	case "total_duration":
		t.Total = p.w.duration(time.Nanosecond)
	default:
		p.other(name)
	}
}

func (p *ollamaParser) chatMessage(name []byte) {
	switch string(name) {
	case "content":
		p.d.Text = p.w.text(p.d.Text[:p.start.text])
	case "thinking":
		p.d.Reasoning = p.w.text(p.d.Reasoning[:p.start.reasoning])
	case "tool_calls":
		p.w.array(p.eachCall)
	default:
		p.w.raw()
	}
}

func (p *ollamaParser) call(name []byte) {
	if string(name) == "function" {
		p.w.object(p.onFunction)
		return
	}
	p.w.raw()
}

func (p *ollamaParser) function(name []byte) {
	switch string(name) {
	case "name":
		p.called = p.w.text(p.called[:0])
		p.d.called(p.called)
	case "arguments": // an object, not a string
		p.d.ToolCall = p.w.anything(p.d.ToolCall)
	default:
		p.w.raw()
	}
}

func (p *ollamaParser) settled() {
	if p.last {
		p.markDone()
	}
}
