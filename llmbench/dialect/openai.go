package dialect

import (
	"bytes"
	"time"

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

	// Of the chat endpoint alone.
	Tools          []chatTool      `json:"tools,omitempty"`
	ToolChoice     string          `json:"tool_choice,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
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

// openAIParser reads answers of both endpoints: they differ in where a choice
// keeps its text.
//
// What the servers of this family make of the format, in streams:
//   - the first event may name only the role, with content "" or null or none;
//   - the finish reason comes with the last text, or in an event of its own;
//     null and "" mean that it has not come yet;
//   - usage comes in a last event whose choices are empty, or on the finish
//     event, or on every event (the last one that is not zero counts);
//   - an error comes as an object or a string, after status 200, and [DONE]
//     may follow it;
//   - [DONE] may be missing after a finish reason.
//
// Only the choice of index 0 is read: no other was asked for.
type openAIParser struct {
	answers
	memo   memo
	texts  bool // a document with generated text was seen
	counts bool // and it stated a count, as those that follow will

	// The choice under way.
	index, ids int
	reason     string
	left       bool   // its reason is left open
	from       mark   // where its text begins
	called     []byte // room for the name of a call
	has        bool   // the document under way has one

	// The walk's steps, bound once so that a walk allocates no closures.
	onChoice, onMessage, onCall, onFunction, onUsage, onDetails func(name []byte)
	eachChoice, eachCall                                        func()
}

func newOpenAIParser(dialect string) *openAIParser {
	p := new(openAIParser)
	p.init(dialect, "[DONE]", p.clearIDs, p.root, p.count)
	p.onChoice, p.onMessage, p.onCall = p.choice, p.chatMessage, p.call
	p.onFunction, p.onUsage, p.onDetails = p.function, p.usage, p.details
	p.eachChoice = p.oneChoice
	p.eachCall = func() { p.w.object(p.onCall) }
	return p
}

func (p *openAIParser) Reset() {
	p.answers.Reset()
	p.memo.forget()
	p.texts, p.counts = false, false
}

// Event takes what the memo knows by the memo: reading the first such document
// of the answer left the parser as reading another would.
func (p *openAIParser) Event(e sse.Event, d *Delta) error {
	if text, ok := p.memo.text(e.Data); ok && bytes.Equal(e.Type, messageEvent) {
		d.reset()
		d.Text = append(d.Text, text...)
		d.Chunks, d.Choices = 1, 1
		return nil
	}
	err := p.answers.Event(e, d)
	if p.w.texts == 1 && d.onlyText() && err == nil && bytes.Equal(e.Type, messageEvent) {
		if n := len(e.Data); e.Data[n-1] == '}' && bytes.Equal(d.Text, e.Data[p.w.from:p.w.to]) {
			p.memo.learn(e.Data, p.w.from, p.w.to)
		}
	}
	return err
}

func (p *openAIParser) clearIDs() { p.ids, p.has = 0, false }

func (p *openAIParser) root(name []byte) {
	switch string(name) {
	case "choices":
		p.d.rewind(p.start) // of a name that comes twice, the last counts
		p.w.array(p.eachChoice)
	case "usage":
		p.w.object(p.onUsage)
	case "timings": // llama.cpp
		p.state()
	default:
		p.other(name)
	}
}

// oneChoice takes a choice; what index it has may come last in it.
func (p *openAIParser) oneChoice() {
	p.from = p.d.mark()
	p.has = true
	p.index, p.reason, p.left = 0, "", false
	before := p.ids
	p.w.object(p.onChoice)
	switch {
	case p.index != 0:
		p.d.rewind(p.from)
		p.ids = before
	case p.reason != "":
		p.finishFor(p.reason)
	case p.left:
		p.open = true
	}
}

func (p *openAIParser) choice(name []byte) {
	switch string(name) {
	case "index":
		p.index = p.w.count()
	case "delta", "message":
		p.w.object(p.onMessage)
	case "text":
		p.d.Text = p.w.text(p.d.Text[:p.from.text])
	case "finish_reason":
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' { // not null, not ""
			p.reason = reason(v)
		} else {
			p.left = true
		}
	case "token_ids":
		p.ids += p.w.length()
	default:
		p.w.raw()
	}
}

func (p *openAIParser) chatMessage(name []byte) {
	switch string(name) {
	case "content":
		p.d.Text = p.w.text(p.d.Text[:p.from.text])
	case "reasoning", "reasoning_content": // vLLM 0.12 to 0.20 sends the same under both
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' {
			p.d.Reasoning = unquote(p.d.Reasoning[:p.from.reasoning], v)
		}
	case "tool_calls":
		p.d.ToolCall, p.d.ToolName = p.d.ToolCall[:p.from.toolCall], p.d.ToolName[:p.from.toolName]
		p.w.array(p.eachCall)
	case "function_call": // the form before tool_calls
		p.w.object(p.onFunction)
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
	switch string(name) {
	case "name":
		p.called = p.w.text(p.called[:0])
		p.d.called(p.called)
	case "arguments":
		p.d.ToolCall = p.w.anything(p.d.ToolCall)
	default:
		p.w.raw()
	}
}

func (p *openAIParser) usage(name []byte) {
	u, t := &p.d.Usage, &p.d.Timings
	switch string(name) {
	case "prompt_tokens":
		u.PromptTokens = p.w.count()
	case "completion_tokens":
		u.OutputTokens = p.w.count()
	case "prompt_tokens_details":
		p.w.object(p.onDetails)
	case "queue_time": // this and the next three: hosted servers and TabbyAPI
		t.Queue = p.w.duration(time.Second)
	case "prompt_time":
		t.Prompt = p.w.duration(time.Second)
	case "completion_time":
		t.Predict = p.w.duration(time.Second)
	case "total_time":
		t.Total = p.w.duration(time.Second)
	default:
		p.w.raw()
	}
}

func (p *openAIParser) details(name []byte) {
	if string(name) == "cached_tokens" {
		p.d.Usage.CachedTokens = p.w.count()
		return
	}
	p.w.raw()
}

// count settles whether a document had a choice, and how many tokens came with it: as many as it has ids or,
// if a count has stood on every document since the first with text, the
// difference to the one before. A count that comes only at the end says nothing
// about its own event.
func (p *openAIParser) count() {
	if p.has {
		p.d.Choices++
	}
	if p.ids > 0 {
		p.d.Tokens += p.ids
		p.counted += p.ids
		return
	}
	if p.whole || !p.d.since(p.start) {
		return
	}
	so := p.d.Usage.OutputTokens
	if !p.texts {
		p.texts, p.counts = true, so > 0
	}
	if p.counts {
		p.running(so)
	}
}
