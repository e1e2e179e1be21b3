package dialect

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// NewParser returns a parser for the answers of this dialect.
func (d AnthropicMessages) NewParser() Parser { return newAnthropicParser(d.Name()) }

// anthropicParser parses the events and the messages of Anthropic's API. The member that holds a text says
// what kind of text it is, so that the type of a content block does not matter.
type anthropicParser struct {
	memoParser
	stopSeen bool // message_stop came
	input    inputTokens
	stated   inputTokens // of the current usage object
	// members says which counts the current usage object has.
	members struct{ fresh, cache bool }
	cached  bool // a usage object of the answer has a count of the cache
}

// inputTokens counts the tokens of a prompt. Fresh does not include the tokens that were read from the cache or
// written to it.
type inputTokens struct{ fresh, read, written int }

func (in inputTokens) all() int { return in.fresh + in.read + in.written }

var (
	contentBlockDelta = []byte("content_block_delta")
	messageStop       = []byte("message_stop")
)

func newAnthropicParser(dialect string) *anthropicParser {
	p := new(anthropicParser)
	p.init(dialect, "message_stop", anthropicReasons, steps{func() {}, p.member, func() {}})
	p.needsReason = true
	p.textEvent = contentBlockDelta
	return p
}

func (p *anthropicParser) Reset() {
	p.memoParser.Reset()
	p.stopSeen, p.cached, p.input = false, false, inputTokens{}
	p.finishPending = true // some gateways add [DONE]; it must not end the answer
}

func (p *anthropicParser) End() error {
	if p.stopSeen && !p.finished {
		return fmt.Errorf("%s: %w: message_stop came before the stop reason", p.dialect, ErrTruncated)
	}
	return p.memoParser.End()
}

func (p *anthropicParser) member(name []byte) {
	switch string(name) {
	case "type":
		p.others++
		switch string(p.w.Raw()) {
		case `"message_stop"`:
			p.stop()
		case `"error"`:
			p.isError = true
		}
	case "message":
		if p.w.Kind() == '{' { // in message_start
			p.w.Object(p.messageMember)
			return
		}
		p.ownMessage() // the body of an exception of Amazon Bedrock
	case "content_block": // events that the API adds may have other values here
		p.object(p.blockMember)
	case "delta":
		p.object(p.deltaMember)
	case "amazon-bedrock-invocationMetrics": // only in streams of Amazon Bedrock
		p.w.Object(p.metricsMember)
	case "usage", "content", "stop_reason":
		p.messageMember(name)
	case "role", "stop_sequence", "stop_details", "container", "context_management", "p": // of a whole answer; p is padding
		p.others++
	default:
		p.otherMember(name)
	}
}

// messageMember reads a member of a message. The message of a stream has no content yet.
func (p *anthropicParser) messageMember(name []byte) {
	switch string(name) {
	case "content":
		if p.wholeBody {
			p.w.Array(p.block)
		}
	case "stop_reason":
		p.finishReason()
	case "usage":
		p.usage()
	}
}

func (p *anthropicParser) block() { p.w.Object(p.blockMember) }

// blockMember reads a member of a content block. In a stream, the block is only the beginning of its text,
// and the input of a tool is empty.
func (p *anthropicParser) blockMember(name []byte) {
	switch string(name) {
	case "name":
		p.toolName()
	case "input":
		if p.wholeBody {
			p.d.ToolCall = p.w.TextOrRaw(p.d.ToolCall)
		}
	case "text", "thinking":
		p.deltaMember(name)
	case "type", "id", "citations", "signature", "data", "cache_control", "caller", // data: redacted thinking
		"tool_use_id", "server_name", "content", "is_error": // results of tools of the server
	default:
		p.unknownMember("content_block.", name)
	}
}

func (p *anthropicParser) deltaMember(name []byte) {
	switch string(name) {
	case "text":
		p.d.Text = p.w.Text(p.d.Text)
	case "thinking":
		p.d.Reasoning = p.w.Text(p.d.Reasoning)
	case "partial_json":
		p.d.ToolCall = p.w.Text(p.d.ToolCall)
	case "stop_reason":
		p.finishReason()
	case "type", "signature", "citation", "stop_sequence", "stop_details", "container", "data":
	default:
		p.unknownMember("delta.", name)
	}
}

// usage reads a usage object. The input tokens do not include the tokens that were read from the cache or written
// to it (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). The event message_delta may repeat
// only some of the counts.
//
// An object with a count of the cache states the whole prompt: its counts, also zeros, replace the earlier ones.
// vLLM needs this: its message_start has the whole prompt as input_tokens, and its message_delta divides the
// prompt into fresh and cached tokens. If such an object has no input_tokens, it divides the prompt that was
// stated before. In an object without counts of the cache, a 0 states nothing.
func (p *anthropicParser) usage() {
	p.stated, p.members.fresh, p.members.cache = inputTokens{}, false, false
	p.w.Object(p.usageMember)
	switch in := p.stated; {
	case p.members.cache:
		if !p.members.fresh {
			in.fresh = max(0, p.input.all()-in.read-in.written)
		}
		p.input, p.cached = in, true
	case in.fresh != 0:
		p.input.fresh = in.fresh
	}
	u := &p.d.Usage
	u.PromptTokens, u.CachedTokens, u.CachedStated = p.input.all(), p.input.read, p.cached
}

func (p *anthropicParser) usageMember(name []byte) {
	isNumber := p.w.Kind() == '0'
	switch string(name) {
	case "input_tokens":
		p.members.fresh = isNumber
		p.stated.fresh = p.w.Count()
	case "cache_read_input_tokens":
		p.members.cache = p.members.cache || isNumber
		p.stated.read = p.w.Count()
	case "cache_creation_input_tokens":
		p.members.cache = p.members.cache || isNumber
		p.stated.written = p.w.Count()
	case "output_tokens":
		p.d.Usage.OutputTokens = p.w.Count()
	case "output_tokens_details":
		p.w.Object(p.outputDetailsMember)
	}
}

func (p *anthropicParser) outputDetailsMember(name []byte) {
	if string(name) == "thinking_tokens" {
		p.setReasoningTokens()
	}
}

func (p *anthropicParser) metricsMember(name []byte) {
	if string(name) == "invocationLatency" {
		p.d.Timings.Total = p.w.Duration(time.Millisecond)
	}
}

func (p *anthropicParser) Event(e sse.Event, d *Delta) error {
	err := p.memoParser.Event(e, d)
	if string(e.Type) == string(messageStop) { // the name of the event is enough
		p.d = d
		p.stop()
	}
	return err
}

// stop records that the end marker came.
func (p *anthropicParser) stop() { p.d.Done, p.doneSeen, p.stopSeen = true, true, true }
