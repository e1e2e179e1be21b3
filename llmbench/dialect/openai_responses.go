package dialect

import (
	"encoding/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// OpenAIResponses is the responses API (/v1/responses,
// https://platform.openai.com/docs/api-reference/responses-streaming): events
// have types, and the last one repeats the whole answer with its usage. There is
// no [DONE]; response.completed, response.incomplete or response.failed is the
// end.
type OpenAIResponses struct{}

// Name returns "openai-responses".
func (OpenAIResponses) Name() string { return "openai-responses" }

// Path returns "/v1/responses".
func (OpenAIResponses) Path(Query) string { return "/v1/responses" }

// Body returns the JSON to post for q. A fixed length is asked for as in the
// chat API; a server that does not know how ignores it.
func (d OpenAIResponses) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := struct {
		Model       string  `json:"model,omitempty"`
		Input       []any   `json:"input"`
		MaxTokens   int     `json:"max_output_tokens"`
		MinTokens   int     `json:"min_tokens,omitempty"`
		IgnoreEOS   bool    `json:"ignore_eos,omitempty"`
		Temperature float64 `json:"temperature"`
		Store       bool    `json:"store"`
		Stream      bool    `json:"stream"`

		Tools      []responsesTool `json:"tools,omitempty"`
		ToolChoice string          `json:"tool_choice,omitempty"`
		Text       *responsesText  `json:"text,omitempty"`
	}{Model: q.Model, Input: responsesInput(q.conversation()), MaxTokens: q.MaxTokens, Stream: q.Stream}
	if q.FixedOutput {
		b.MinTokens, b.IgnoreEOS = q.MaxTokens, true
	}
	for _, t := range q.Tools {
		b.Tools = append(b.Tools, responsesTool{"function", toolFunction(t)})
		b.ToolChoice = "required"
	}
	if len(q.Schema) > 0 {
		b.Text = &responsesText{jsonSchema{Type: "json_schema", Name: schemaName, Strict: true, Schema: q.Schema}}
	}
	return json.Marshal(b)
}

// responsesInput returns messages as items. Those of the assistant are spelled out,
// as llama.cpp wants them.
func responsesInput(messages []Message) []any {
	var items []any
	for _, m := range messages {
		if m.Role != "assistant" {
			items = append(items, m)
			continue
		}
		items = append(items, responsesReply{"message", m.Role, []responsesPart{{"output_text", m.Content}}})
	}
	return items
}

type responsesReply struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content []responsesPart `json:"content"`
}

type responsesPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type responsesTool struct {
	Type string `json:"type"`
	toolFunction
}

type responsesText struct {
	Format jsonSchema `json:"format"`
}

// NewParser returns a parser of answers.
func (d OpenAIResponses) NewParser() Parser {
	p := new(responsesParser)
	p.init(d.Name(), "response.completed", p.next, p.root, p.settled)
	p.onResponse, p.onIncomplete, p.onUsage, p.onDetails = p.response, p.incomplete, p.usage, p.details
	p.onItem, p.onPart, p.onOpened = p.item, p.part, p.opened
	p.eachItem = p.oneItem
	p.eachPart = func() { p.w.object(p.onPart) }
	return p
}

// responsesParser reads typed events. A document's type may come after what it
// is about, so that is kept until the document has ended.
type responsesParser struct {
	answers
	event, kind eventKind // by the event's name, and by the document's type
	delta       []byte
	name        []byte // of the call that the item is
	status      string // of the response, or why it is incomplete
	thinks      bool   // the item under way is reasoning
	from        mark   // where it begins

	onResponse, onIncomplete, onUsage, onDetails, onItem, onPart, onOpened func(name []byte)
	eachItem, eachPart                                                     func()
}

type eventKind int

const (
	otherEvent eventKind = iota
	textDelta
	reasoningDelta
	callDelta
	itemOpened
	lastEvent
	failedEvent
	errorKind
)

func kindOf(name []byte) eventKind {
	switch string(name) {
	case "response.output_text.delta", "response.refusal.delta":
		return textDelta
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta":
		return reasoningDelta
	case "response.function_call_arguments.delta", "response.mcp_call_arguments.delta", "response.custom_tool_call_input.delta":
		return callDelta
	case "response.output_item.added":
		return itemOpened
	case "response.completed", "response.incomplete":
		return lastEvent
	case "response.failed", "response.cancelled":
		return failedEvent
	case "error":
		return errorKind
	}
	return otherEvent
}

func (p *responsesParser) Reset() {
	p.answers.Reset()
	p.open = true // [DONE], which some gateways add, is no end here
}

func (p *responsesParser) Event(e sse.Event, d *Delta) error {
	p.event = kindOf(e.Type)
	return p.answers.Event(e, d)
}

func (p *responsesParser) Body(body []byte, d *Delta) error {
	p.event = otherEvent
	return p.answers.Body(body, d)
}

// next forgets the document before.
func (p *responsesParser) next() {
	p.kind, p.delta, p.name, p.status = p.event, p.delta[:0], p.name[:0], ""
}

func (p *responsesParser) root(name []byte) {
	if p.whole {
		p.response(name)
		return
	}
	switch string(name) {
	case "type":
		if v := p.w.raw(); len(v) > 2 {
			p.kind = kindOf(v[1 : len(v)-1])
		}
	case "delta":
		p.delta = p.w.anything(p.delta[:0])
	case "item":
		if p.w.kind() == '{' {
			p.w.object(p.onOpened)
			return
		}
		p.w.raw()
	case "response":
		p.w.object(p.onResponse)
	case "timings": // llama.cpp
		p.state()
	default:
		p.other(name)
	}
}

func (p *responsesParser) response(name []byte) {
	switch string(name) {
	case "status":
		if v := p.w.raw(); len(v) > 2 && p.status == "" && string(v) != `"incomplete"` {
			p.status = responseStatus(v)
		}
	case "incomplete_details":
		p.w.object(p.onIncomplete)
	case "usage":
		p.w.object(p.onUsage)
	case "output":
		if p.whole { // in a stream it only repeats what came before
			p.w.array(p.eachItem)
			return
		}
		p.w.raw()
	case "object":
		p.w.raw()
	default:
		p.other(name)
	}
}

// responseStatus returns the quoted status, without allocating for those of
// the events before the end.
func responseStatus(quoted []byte) string {
	for _, known := range []string{`"in_progress"`, `"completed"`, `"queued"`} {
		if string(quoted) == known {
			return known[1 : len(known)-1]
		}
	}
	return string(unquote(nil, quoted))
}

// opened takes a member of an item of a stream, of which only the name of a call
// is told nowhere else.
func (p *responsesParser) opened(name []byte) {
	if string(name) == "name" {
		p.name = p.w.text(p.name[:0])
		return
	}
	p.w.raw()
}

func (p *responsesParser) incomplete(name []byte) {
	if string(name) == "reason" {
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' {
			p.status = string(unquote(nil, v))
		}
		return
	}
	p.w.raw()
}

func (p *responsesParser) usage(name []byte) {
	switch string(name) {
	case "input_tokens":
		p.d.Usage.PromptTokens = p.w.count()
	case "output_tokens":
		p.d.Usage.OutputTokens = p.w.count()
	case "input_tokens_details":
		p.w.object(p.onDetails)
	default:
		p.w.raw()
	}
}

func (p *responsesParser) details(name []byte) {
	if string(name) == "cached_tokens" {
		p.d.Usage.CachedTokens = p.w.count()
		return
	}
	p.w.raw()
}

// oneItem takes an item of the output of a whole answer.
func (p *responsesParser) oneItem() {
	p.thinks, p.from = false, p.d.mark()
	p.w.object(p.onItem)
	if p.thinks {
		p.d.Reasoning = append(p.d.Reasoning, p.d.Text[p.from.text:]...)
		p.d.Text = p.d.Text[:p.from.text]
	}
}

func (p *responsesParser) item(name []byte) {
	switch string(name) {
	case "type":
		p.thinks = p.w.is(`"reasoning"`)
	case "content", "summary":
		p.w.array(p.eachPart)
	case "name":
		p.name = p.w.text(p.name[:0])
		p.d.called(p.name)
	case "arguments":
		p.d.ToolCall = p.w.anything(p.d.ToolCall)
	default:
		p.w.raw()
	}
}

func (p *responsesParser) part(name []byte) {
	if string(name) == "text" || string(name) == "refusal" {
		p.d.Text = p.w.text(p.d.Text)
		return
	}
	p.w.raw()
}

// settled takes the document for what its type says that it is.
func (p *responsesParser) settled() {
	if p.whole {
		switch p.status {
		case "failed", "cancelled":
			p.kind = failedEvent
		case "in_progress", "queued", "":
		default:
			p.kind = lastEvent
		}
	}
	switch p.kind {
	case textDelta:
		p.d.Text = append(p.d.Text, p.delta...)
	case reasoningDelta:
		p.d.Reasoning = append(p.d.Reasoning, p.delta...)
	case callDelta:
		p.d.ToolCall = append(p.d.ToolCall, p.delta...)
	case itemOpened:
		p.d.called(p.name)
	case lastEvent:
		p.finishFor(p.status)
		p.d.Done = true
	case failedEvent:
		if p.d.Done = true; p.d.Fault == "" {
			p.d.Fault = "response " + p.status
		}
	case errorKind:
		p.complains = true
	}
}
