package dialect

import (
	"bytes"
	"encoding/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// OpenAIResponses is the responses API (/v1/responses,
// https://platform.openai.com/docs/api-reference/responses-streaming). Its events
// have types. The last event is response.completed, response.incomplete or
// response.failed, and repeats the whole answer with its usage. There is no
// [DONE].
type OpenAIResponses struct{}

// Name returns "openai-responses".
func (OpenAIResponses) Name() string { return "openai-responses" }

// Path returns "/v1/responses".
func (OpenAIResponses) Path(Query) string { return "/v1/responses" }

// Body returns the JSON body for q. To ask for a fixed output, it uses the same members as [OpenAIChat]. A
// server that does not know these members ignores them.
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

// responsesInput returns messages as input items. The items of the assistant have the long form, because
// llama.cpp requires it.
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

// NewParser returns a parser for the answers of this dialect.
func (d OpenAIResponses) NewParser() Parser {
	p := new(responsesParser)
	p.init(d.Name(), "response.completed", responsesReasons, steps{p.begin, p.member, p.end})
	return p
}

// responsesParser parses typed events. The type can be the last member of a
// document, so the other members are kept until the document ends.
type responsesParser struct {
	baseParser
	eventType eventKind // type according to the event field of the stream
	kind      eventKind // type according to the document's member "type"; eventType if there is none
	delta     []byte
	status    string // status of the response; if it is incomplete, the reason for that
	typeName  []byte // type of the event

	// The current item of a whole answer.
	isReasoning bool
	itemStart   mark // where the text of the item begins
}

type eventKind int

const (
	otherEvent eventKind = iota // not known
	quietEvent                  // says what the server does, or repeats text of earlier events
	textDelta
	reasoningDelta
	callDelta
	itemOpened
	lastEvent
	failedEvent
	errorMessage
)

func kindOf(name []byte) eventKind {
	switch string(name) {
	case "response.output_text.delta", "response.refusal.delta", "response.audio.transcript.delta":
		return textDelta
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta", "response.reasoning_summary.delta":
		return reasoningDelta
	case "response.function_call_arguments.delta", "response.mcp_call_arguments.delta", "response.mcp_call.arguments.delta",
		"response.custom_tool_call_input.delta", "response.code_interpreter_call_code.delta", "response.code_interpreter_call.code.delta":
		return callDelta
	case "response.output_item.added":
		return itemOpened
	case "response.completed", "response.incomplete":
		return lastEvent
	case "response.failed", "response.cancelled":
		return failedEvent
	case "error":
		return errorMessage
	case "keepalive":
		return quietEvent
	}
	if bytes.HasPrefix(name, responsePrefix) && !bytes.HasSuffix(name, deltaSuffix) {
		return quietEvent
	}
	return otherEvent
}

// Only events with the suffix .delta have new text
// (https://platform.openai.com/docs/api-reference/responses-streaming).
var responsePrefix, deltaSuffix = []byte("response."), []byte(".delta")

func (p *responsesParser) Reset() {
	p.baseParser.Reset()
	p.finishPending = true // some gateways add [DONE]; it must not end the answer
}

func (p *responsesParser) Event(e sse.Event, d *Delta) error {
	p.eventType = kindOf(e.Type)
	p.typeName = append(p.typeName[:0], e.Type...)
	return p.baseParser.Event(e, d)
}

func (p *responsesParser) Body(body []byte, d *Delta) error {
	p.eventType, p.typeName = otherEvent, p.typeName[:0]
	return p.baseParser.Body(body, d)
}

func (p *responsesParser) begin() {
	p.kind, p.delta, p.name, p.status = p.eventType, p.delta[:0], p.name[:0], ""
}

func (p *responsesParser) member(name []byte) {
	if p.wholeBody {
		p.responseMember(name)
		return
	}
	switch string(name) {
	case "type":
		p.others++
		if v := p.w.Raw(); len(v) > 2 {
			p.typeName = append(p.typeName[:0], v[1:len(v)-1]...)
			p.kind = kindOf(p.typeName)
		}
	case "delta":
		p.delta = p.w.TextOrRaw(p.delta[:0])
	case "item":
		p.object(p.openedMember)
	case "response":
		p.w.Object(p.responseMember)
	case "timings": // llama.cpp
		p.timings()
	case "item_id", "sequence_number", "output_index", "content_index", "summary_index", "obfuscation", "logprobs":
		p.others++
	default:
		p.otherMember(name)
	}
}

func (p *responsesParser) responseMember(name []byte) {
	switch string(name) {
	case "status":
		v := p.w.Raw()
		if p.wholeBody { // other documents have a status, too
			p.others++
			p.code(v, false)
		}
		if isWord(v) && (p.status == "" || p.status == incomplete) {
			p.status = word(v)
		}
	case "incomplete_details":
		p.w.Object(p.incompleteMember)
	case "usage":
		p.w.Object(p.usageMember)
	case "output":
		if p.wholeBody { // in a stream, the output repeats earlier events
			p.w.Array(p.item)
		}
	default:
		if p.wholeBody {
			p.otherMember(name)
		} else if string(name) == "error" {
			p.errorMember()
		}
	}
}

// incomplete is the status of a response that is not complete. The reason replaces the status.
const incomplete = "incomplete"

// openedMember reads a member of an item in a stream. It reads only the name of a tool call, because
// everything else also comes in other events.
func (p *responsesParser) openedMember(name []byte) {
	if string(name) == "name" {
		p.name = p.w.Text(p.name[:0])
	}
}

func (p *responsesParser) incompleteMember(name []byte) {
	if v := p.w.Raw(); string(name) == "reason" && isWord(v) {
		p.status = word(v)
	}
}

func (p *responsesParser) usageMember(name []byte) {
	switch string(name) {
	case "input_tokens":
		p.d.Usage.PromptTokens = p.w.Count()
	case "output_tokens":
		p.d.Usage.OutputTokens = p.w.Count()
	case "input_tokens_details":
		p.w.Object(p.cachedTokensMember)
	case "output_tokens_details":
		p.w.Object(p.reasoningTokensMember)
	}
}

// item reads an item in the output of a whole answer.
func (p *responsesParser) item() {
	p.isReasoning, p.itemStart = false, p.d.mark()
	p.w.Object(p.itemMember)
	if p.isReasoning {
		p.d.Reasoning = append(p.d.Reasoning, p.d.Text[p.itemStart.text:]...)
		p.d.Text = p.d.Text[:p.itemStart.text]
	}
}

func (p *responsesParser) itemMember(name []byte) {
	switch string(name) {
	case "type":
		p.isReasoning = p.w.Is(`"reasoning"`)
	case "content", "summary":
		p.w.Array(p.part)
	case "name":
		p.toolName()
	case "arguments":
		p.d.ToolCall = p.w.TextOrRaw(p.d.ToolCall)
	}
}

func (p *responsesParser) part() { p.w.Object(p.partMember) }

func (p *responsesParser) partMember(name []byte) {
	if string(name) == "text" || string(name) == "refusal" {
		p.d.Text = p.w.Text(p.d.Text)
	}
}

// end adds the document's members to the delta, depending on the type of the document.
func (p *responsesParser) end() {
	if p.wholeBody {
		switch p.status {
		case "failed", "cancelled":
			p.kind = failedEvent
		case "in_progress", "queued", "":
		default:
			if p.others < p.members {
				p.kind = lastEvent
			}
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
		p.d.addToolName(p.name)
	case quietEvent:
		p.unknown, p.errorLike = p.unknown[:0], false
	case lastEvent:
		p.endWith(p.status)
	case failedEvent:
		if p.d.Done = true; p.d.Fault == "" {
			p.d.Fault = "response " + p.status
		}
	case errorMessage:
		p.isError = true
	case otherEvent:
		if len(p.delta) > 0 && len(p.unknown) == 0 {
			p.unknown, p.unknownInTop = append(append(p.unknown, "delta of the event "...), p.typeName...), false
		}
	}
}
