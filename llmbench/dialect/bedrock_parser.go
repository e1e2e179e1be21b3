package dialect

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// NewParser returns a parser for the answers of this dialect.
func (d BedrockConverse) NewParser() Parser {
	p := new(converseParser)
	p.init(d.Name(), "", converseReasons, steps{func() {}, p.member, func() {}})
	p.needsReason = true
	return p
}

// converseParser parses the messages and the answers of the Converse API. The members of a message say what
// the message is.
type converseParser struct {
	baseParser
	fresh, read, written int // tokens of the prompt that were new, that came from the cache, and that went there
}

// Event parses a message. The message metadata ends the answer.
func (p *converseParser) Event(e sse.Event, d *Delta) error {
	if isException(e, d) {
		return nil
	}
	err := p.baseParser.Event(e, d)
	d.Done = string(e.Type) == "metadata"
	p.doneSeen = p.doneSeen || d.Done
	return err
}

// End requires a stop reason.
func (p *converseParser) End() error { return p.reasonSeen("stop reason") }

// isException reports whether e is an exception or an error. If it is, isException sets the fault of d.
func isException(e sse.Event, d *Delta) bool {
	if kind := string(e.ID); kind != "exception" && kind != "error" {
		return false
	}
	d.reset()
	d.Fault = excerpt(e.Type)
	if len(e.Data) > 0 {
		d.Fault += ": " + faultMessage(e.Data)
	}
	if d.Fault == "" {
		d.Fault = "a message of the type " + string(e.ID) + " without a name and a text"
	}
	return true
}

func (p *converseParser) member(name []byte) {
	switch string(name) {
	case "delta":
		p.w.Object(p.deltaMember)
	case "start":
		p.w.Object(p.blockMember)
	case "output":
		p.w.Object(p.outputMember)
	case "stopReason":
		p.finishReason()
	case "usage":
		p.fresh, p.read, p.written = 0, 0, 0
		p.w.Object(p.usageMember)
	case "metrics":
		p.w.Object(p.metricsMember)
	case "message": // the body of an exception
		p.ownMessage()
	case "contentBlockIndex", "role", "p", "trace", "additionalModelResponseFields", "performanceConfig", "serviceTier": // p is padding
		p.others++
	default:
		p.otherMember(name)
	}
}

func (p *converseParser) outputMember(name []byte) {
	if string(name) == "message" {
		p.w.Object(p.messageMember)
	}
}

func (p *converseParser) messageMember(name []byte) {
	if string(name) == "content" {
		p.w.Array(p.block)
	}
}

func (p *converseParser) block() { p.w.Object(p.blockMember) }

// blockMember reads a member of a content block, or of the start of a block.
func (p *converseParser) blockMember(name []byte) {
	switch string(name) {
	case "reasoningText": // of a whole answer, in its reasoningContent
		p.w.Object(p.reasoningMember)
	case "reasoningContent":
		if p.wholeBody {
			p.w.Object(p.blockMember)
		} else {
			p.w.Object(p.reasoningMember)
		}
	default:
		p.deltaMember(name)
	}
}

func (p *converseParser) deltaMember(name []byte) {
	switch string(name) {
	case "text":
		p.d.Text = p.w.Text(p.d.Text)
	case "toolUse":
		p.w.Object(p.toolMember)
	case "reasoningContent":
		p.w.Object(p.reasoningMember)
	case "citation", "citationsContent", "toolResult", "cachePoint", "guardContent", "redactedContent":
	default:
		p.unknownMember("delta.", name)
	}
}

func (p *converseParser) toolMember(name []byte) {
	switch string(name) {
	case "name":
		p.toolName()
	case "input": // in a stream, a part of the JSON text as a string
		p.d.ToolCall = p.w.TextOrRaw(p.d.ToolCall)
	case "toolUseId", "type":
	default:
		p.unknownMember("toolUse.", name)
	}
}

func (p *converseParser) reasoningMember(name []byte) {
	switch string(name) {
	case "text":
		p.d.Reasoning = p.w.Text(p.d.Reasoning)
	case "signature", "redactedContent":
	default:
		p.unknownMember("reasoningContent.", name)
	}
}

// usageMember reads a member of the token counts
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html). The input tokens do
// not include the tokens that were read from the cache or written to it.
func (p *converseParser) usageMember(name []byte) {
	u := &p.d.Usage
	switch string(name) {
	case "inputTokens":
		p.fresh = p.w.Count()
	case "cacheReadInputTokens":
		u.CachedStated = p.w.Kind() == '0' // a number
		p.read = p.w.Count()
	case "cacheWriteInputTokens":
		p.written = p.w.Count()
	case "outputTokens":
		u.OutputTokens = p.w.Count()
	}
	u.PromptTokens, u.CachedTokens = p.fresh+p.read+p.written, p.read
}

func (p *converseParser) metricsMember(name []byte) {
	if string(name) == "latencyMs" {
		p.d.Timings.Total = p.w.Duration(time.Millisecond)
	}
}

// NewParser returns a parser for the answers of this dialect.
func (d BedrockInvoke) NewParser() Parser {
	p := &invokeParser{anthropicParser: newAnthropicParser(d.Name())}
	p.textEvent = messageEvent
	p.outer.init(d.Name(), "", nil, steps{func() {}, p.chunkMember, func() {}})
	return p
}

// invokeParser parses messages that each carry one of Anthropic's events, as base64 in the member bytes.
type invokeParser struct {
	*anthropicParser
	outer baseParser // reads the message around an event
	d     Delta      // of the outer parser, which only has a fault
	event []byte
	err   error // the first error in the base64 of the current message
}

// Known returns false, because only Event can find the event in its message.
func (p *invokeParser) Known(sse.Event, *Delta) bool { return false }

func (p *invokeParser) Event(e sse.Event, d *Delta) error {
	if isException(e, d) {
		return nil
	}
	p.event, p.err = p.event[:0], nil
	p.d.reset()
	err := p.outer.documents(e.Data, &p.d)
	if err == nil {
		err = p.err
	}
	if err != nil {
		d.reset()
		return fmt.Errorf("%s: malformed message: %w: %q", p.dialect, err, excerpt(e.Data))
	}
	err = p.anthropicParser.Event(sse.Event{Type: messageEvent, Data: p.event}, d)
	if d.Fault == "" { // a gateway may report an error beside an event
		d.Fault = p.d.Fault
	}
	if p.d.Strange != "" { // a message without an event
		d.Strange, d.Unread = p.d.Strange, p.d.Unread
	}
	return err
}

func (p *invokeParser) chunkMember(name []byte) {
	switch string(name) {
	case "bytes":
	case "p": // padding
		p.outer.others++
		return
	default:
		p.outer.otherMember(name)
		return
	}
	if v := p.outer.w.Raw(); len(v) > 1 && v[0] == '"' {
		p.event, p.err = base64.StdEncoding.AppendDecode(p.event[:0], v[1:len(v)-1])
	}
}
