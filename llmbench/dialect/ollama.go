package dialect

import (
	"encoding/json"
	"time"
)

// Ollama is the chat API of Ollama (/api/chat, https://github.com/ollama/ollama/blob/main/docs/api.md). An
// answer is one JSON document per line. The last document has "done": true, the token counts and the
// server's timings.
type Ollama struct{}

// Name returns "ollama".
func (Ollama) Name() string { return "ollama" }

// Path returns "/api/chat".
func (Ollama) Path(Query) string { return "/api/chat" }

// Body returns the JSON body for q. Ollama has no option that prevents a model from ending its text early,
// so FixedOutput only sets the limit.
func (d Ollama) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := newOllamaBody(q)
	b.Messages, b.Tools = q.conversation(), chatTools(q.Tools)
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d Ollama) NewParser() Parser { return newOllamaParser(d.Name()) }

// OllamaGenerate is the completion API of Ollama (/api/generate). It asks the server not to apply a
// template to the prompt.
type OllamaGenerate struct{}

// Name returns "ollama-generate".
func (OllamaGenerate) Name() string { return "ollama-generate" }

// Path returns "/api/generate".
func (OllamaGenerate) Path(Query) string { return "/api/generate" }

// Body returns the JSON body for q, which must not be a conversation. FixedOutput
// only sets the limit, see [Ollama.Body].
func (d OllamaGenerate) Body(q Query) ([]byte, error) {
	if err := checkPromptOrSchema(d.Name(), q); err != nil {
		return nil, err
	}
	b := newOllamaBody(q)
	b.Prompt, b.Raw = q.Prompt, true
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d OllamaGenerate) NewParser() Parser { return newOllamaParser(d.Name()) }

type ollamaBody struct {
	Model    string        `json:"model,omitempty"`
	Messages []Message     `json:"messages,omitempty"`
	Prompt   string        `json:"prompt,omitempty"`
	Raw      bool          `json:"raw,omitempty"`
	Stream   bool          `json:"stream"` // Ollama's default is true
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

// ollamaParser parses the answers of both endpoints. The endpoints differ only in
// the member that holds the text of a document.
type ollamaParser struct {
	baseParser
	last   bool   // the current document has "done": true
	reason string // the finish reason in the current document, or ""
}

func newOllamaParser(dialect string) *ollamaParser {
	p := new(ollamaParser)
	p.init(dialect, `"done": true`, ollamaReasons, steps{p.begin, p.member, p.end})
	p.flat, p.needsReason = true, true
	return p
}

func (p *ollamaParser) begin() { p.last, p.reason = false, "" }

func (p *ollamaParser) member(name []byte) {
	u, t := &p.d.Usage, &p.d.Timings
	switch string(name) {
	case "message":
		if p.w.Kind() == '{' {
			p.w.Object(p.messageMember)
			return
		}
		p.otherMember(name)
	case "response":
		p.d.Text = p.w.Text(p.d.Text[:p.start.text])
	case "thinking":
		p.d.Reasoning = p.w.Text(p.d.Reasoning[:p.start.reasoning])
	case "done":
		p.last = p.w.Is("true")
	case "done_reason":
		p.reason = p.reasonWord()
	case "prompt_eval_count":
		u.PromptTokens = p.w.Count()
		t.PromptTokens = u.PromptTokens
	case "eval_count":
		u.OutputTokens = p.w.Count()
		t.OutputTokens = u.OutputTokens
	case "load_duration":
		t.Load = p.w.Duration(time.Nanosecond)
	case "prompt_eval_duration":
		t.Prompt = p.w.Duration(time.Nanosecond)
	case "eval_duration":
		t.Predict = p.w.Duration(time.Nanosecond)
	case "total_duration":
		t.Total = p.w.Duration(time.Nanosecond)
	case "context", "remote_model", "remote_host", "logprobs":
		p.others++
	default:
		p.otherMember(name)
	}
}

func (p *ollamaParser) messageMember(name []byte) {
	switch string(name) {
	case "content":
		p.d.Text = p.w.Text(p.d.Text[:p.start.text])
	case "thinking":
		p.d.Reasoning = p.w.Text(p.d.Reasoning[:p.start.reasoning])
	case "tool_calls":
		p.toolCalls()
	case "role", "tool_name", "tool_call_id", "images":
	default:
		p.unknownMember("message.", name)
	}
}

func (p *ollamaParser) end() {
	if p.last {
		p.endWith(p.reason)
	}
}
