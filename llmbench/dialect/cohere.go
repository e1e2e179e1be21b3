package dialect

import "encoding/json"

// Cohere is version 2 of Cohere's chat API (/v2/chat, https://docs.cohere.com/reference/chat). The events of a
// stream have names (https://docs.cohere.com/v2/docs/streaming). The last event is message-end. Cohere's own
// server also sends [DONE].
type Cohere struct{}

// Name returns "cohere".
func (Cohere) Name() string { return "cohere" }

// Path returns "/v2/chat".
func (Cohere) Path(Query) string { return "/v2/chat" }

// Body returns the JSON body for q. The API has no option that prevents a model from ending its text early,
// so FixedOutput only sets the limit. The body asks for temperature 0.
func (d Cohere) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := cohereBody{Model: q.Model, Messages: q.conversation(), MaxTokens: q.MaxTokens, Stream: q.Stream}
	if len(q.Tools) > 0 {
		b.Tools, b.ToolChoice = chatTools(q.Tools), "REQUIRED"
	}
	if len(q.Schema) > 0 {
		b.ResponseFormat = &cohereFormat{"json_object", q.Schema}
	}
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d Cohere) NewParser() Parser { return newCohereParser(d.Name()) }

type cohereBody struct {
	Model       string    `json:"model,omitempty"`
	Messages    []Message `json:"messages"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature float64   `json:"temperature"`
	Stream      bool      `json:"stream"`

	Tools          []chatTool    `json:"tools,omitempty"`
	ToolChoice     string        `json:"tool_choice,omitempty"`
	ResponseFormat *cohereFormat `json:"response_format,omitempty"`
}

type cohereFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"json_schema"`
}

// cohereParser parses the events and the whole answers of Cohere's API. The delta of an event and a whole
// answer have the same members. Where a whole answer has an array, an event has one element of the array.
type cohereParser struct {
	memoParser
}

var contentDelta = []byte("content-delta")

func newCohereParser(dialect string) *cohereParser {
	p := new(cohereParser)
	p.init(dialect, "", cohereReasons, steps{func() {}, p.member, func() {}})
	p.needsReason = true
	p.textEvent = contentDelta
	return p
}

// End requires a finish reason. Neither message-end nor [DONE] replaces it.
func (p *cohereParser) End() error { return p.reasonSeen("finish reason") }

func (p *cohereParser) member(name []byte) {
	switch string(name) {
	case "type":
		p.others++
		switch string(p.w.Raw()) {
		case `"message-end"`:
			p.d.Done, p.doneSeen = true, true
		case `"error"`:
			p.isError = true
		}
	case "logprobs", "prompt": // prompt: of debug events
		p.others++
	case "delta":
		p.object(p.deltaMember)
	default:
		p.deltaMember(name)
	}
}

// deltaMember reads a member of a delta or of a whole answer.
func (p *cohereParser) deltaMember(name []byte) {
	switch string(name) {
	case "message":
		if p.w.Kind() == '{' {
			p.w.Object(p.messageMember)
			return
		}
		p.ownMessage() // the body of an error
	case "finish_reason":
		p.finishReason()
	case "usage":
		p.w.Object(p.usageMember)
	default:
		p.otherMember(name)
	}
}

// messageMember reads a member of a message. The tool plan is what a model writes before it calls tools
// (https://docs.cohere.com/v2/docs/tool-use-streaming).
func (p *cohereParser) messageMember(name []byte) {
	kind := p.w.Kind()
	switch {
	case string(name) == "tool_plan":
		p.d.Reasoning = p.w.Text(p.d.Reasoning)
	case string(name) == "content" && kind == '{':
		p.w.Object(p.contentMember)
	case string(name) == "content" && kind == '[':
		p.w.Array(p.content)
	case string(name) == "tool_calls" && kind == '{':
		p.toolCall()
	case string(name) == "tool_calls" && kind == '[':
		p.toolCalls()
	case string(name) == "content" || string(name) == "tool_calls" || string(name) == "role" || string(name) == "citations":
	default:
		p.unknownMember("message.", name)
	}
}

func (p *cohereParser) content() { p.object(p.contentMember) }

func (p *cohereParser) contentMember(name []byte) {
	switch string(name) {
	case "text":
		p.d.Text = p.w.Text(p.d.Text)
	case "thinking":
		p.d.Reasoning = p.w.Text(p.d.Reasoning)
	case "type":
	default:
		p.unknownMember("content.", name)
	}
}

// usageMember reads a member of the usage object. The input tokens include the cached ones. The billed units
// leave out tokens that Cohere does not bill.
func (p *cohereParser) usageMember(name []byte) {
	switch string(name) {
	case "tokens":
		p.object(p.tokensMember)
	case "cached_tokens":
		p.cachedTokens()
	}
}

func (p *cohereParser) tokensMember(name []byte) {
	switch string(name) {
	case "input_tokens":
		p.d.Usage.PromptTokens = p.w.Count()
	case "output_tokens":
		p.d.Usage.OutputTokens = p.w.Count()
	}
}
