package wire

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A message is the encoder of one answer in Anthropic's Messages API.
type message struct {
	Answer
	reason  int  // number of thinking tokens; if above 0, the first block has the thinking
	bedrock bool // the events are as Amazon Bedrock sends them: no ping, and metrics at the end
}

func newMessage(a Answer) *message {
	return &message{Answer: a, reason: a.Shape.ReasoningOf(a.Request.Output)}
}

// A block is a kind of content block.
type block int

const (
	thinkingBlock block = iota
	textBlock
	toolBlock
)

// blockAt returns the block that contains token i.
func (m *message) blockAt(i int) block {
	switch {
	case i < m.reason:
		return thinkingBlock
	case m.calls():
		return toolBlock
	}
	return textBlock
}

func (m *message) calls() bool { return m.calledFunction(m.reason) != "" }

// index returns the index of a block in the content.
func (m *message) index(b block) int {
	if b != thinkingBlock && m.reason > 0 {
		return 1
	}
	return 0
}

// event begins an event about a block and renders its type and the index of the block.
func (m *message) event(name string, b block, tokens bool) {
	if tokens {
		m.BeginTokens(name)
	} else {
		m.Begin(name)
	}
	m.Add(`{"type":"`, name, `","index":`)
	m.AddInt(m.index(b))
}

// Opening renders the beginning of the message and of the first block, and a ping, as Anthropic
// sends it.
func (m *message) Opening() {
	m.Begin("message_start")
	m.Add(`{"type":"message_start","message":`)
	m.head()
	m.Add(`"content":[],"stop_reason":null,"stop_sequence":null`)
	m.usage(min(1, m.Request.Output))
	m.Add(`}}`)
	m.End()
	m.open(m.blockAt(0))
	if m.bedrock {
		return
	}
	m.Begin("ping")
	m.Add(`{"type":"ping"}`)
	m.End()
}

// head renders the beginning of the message object.
func (m *message) head() {
	m.Add(`{"id":"msg_`)
	m.Buf = strconv.AppendUint(m.Buf, m.Ordinal, 10)
	m.Add(`","type":"message","role":"assistant","model":`, m.Model, `,`)
}

// open renders the event that begins a block. For a tool, a delta without text follows.
func (m *message) open(b block) {
	m.event("content_block_start", b, false)
	m.Add(`,"content_block":`)
	switch b {
	case thinkingBlock:
		m.Add(`{"type":"thinking","thinking":"","signature":""}`)
	case textBlock:
		m.Add(`{"type":"text","text":""}`)
	case toolBlock:
		m.tool()
		m.Add(`{}}`)
	}
	m.Add(`}`)
	m.End()
	if b == toolBlock {
		m.event("content_block_delta", b, false)
		m.Add(`,"delta":{"type":"input_json_delta","partial_json":""}}`)
		m.End()
	}
}

// tool renders the beginning of a tool's block, up to the value of input.
func (m *message) tool() {
	m.Add(`{"type":"tool_use","id":"toolu_`)
	m.Buf = strconv.AppendUint(m.Buf, m.Ordinal, 10)
	m.Add(`","name":`, jsontext.Quote(m.calledFunction(m.reason)), `,"input":`)
}

func (m *message) Tokens(from, to int) {
	for from < to {
		b, end := m.blockAt(from), to
		if b == thinkingBlock {
			end = min(to, m.reason)
		} else if from == m.reason && from > 0 {
			m.open(b)
		}
		m.event("content_block_delta", b, true)
		m.Add(`,"delta":{"type":`, [...]string{`"thinking_delta","thinking":"`, `"text_delta","text":"`, `"input_json_delta","partial_json":"`}[b])
		if b == toolBlock {
			m.callText(m.reason, from, end)
		} else {
			m.text(from, end)
		}
		m.Add(`"}}`)
		m.EndTokens()
		if b == thinkingBlock && end == m.reason || b != thinkingBlock && end == m.tokenCount() {
			m.close(b)
		}
		from = end
	}
}

// close renders the events after a block's last token.
func (m *message) close(b block) {
	if b == thinkingBlock {
		m.event("content_block_delta", b, false)
		m.Add(`,"delta":{"type":"signature_delta","signature":"bW9jaw=="}}`)
		m.End()
	}
	m.event("content_block_stop", b, false)
	m.Add(`}`)
	m.End()
}

func (m *message) Last(from, to int) {
	m.Tokens(from, to)
	if to == 0 {
		m.close(textBlock)
	}
	m.Begin("message_delta")
	m.Add(`{"type":"message_delta","delta":{"stop_reason":"`, m.stopReason(), `","stop_sequence":`, m.stopSequence(), `}`)
	m.usage(m.Request.Output)
	m.Add(`}`)
	m.End()
	m.Begin("message_stop")
	m.Add(`{"type":"message_stop"`)
	if m.bedrock {
		m.metrics()
	}
	m.Add(`}`)
	m.End()
}

func (m *message) Whole() {
	n := m.Request.Output
	m.Begin("")
	m.head()
	m.Add(`"content":[`)
	if m.reason > 0 {
		m.Add(`{"type":"thinking","thinking":"`)
		m.text(0, m.reason)
		m.Add(`","signature":"bW9jaw=="}`)
	}
	if n > m.reason || m.reason == 0 {
		if m.reason > 0 {
			m.Add(`,`)
		}
		m.wholeBlock(m.blockAt(m.reason))
	}
	m.Add(`],"stop_reason":"`, m.stopReason(), `","stop_sequence":`, m.stopSequence())
	m.usage(n)
	m.Add(`}`)
	m.End()
}

// wholeBlock renders the block after the thinking. A call that the token limit cuts off has no
// input, because the input is an object.
func (m *message) wholeBlock(b block) {
	s, n := m.Request.script, m.Request.Output
	switch {
	case b == textBlock:
		m.Add(`{"type":"text","text":"`)
		m.text(m.reason, n)
		m.Add(`"}`)
		return
	case m.Request.cut(m.reason):
		m.tool()
		m.Add(`{}}`)
		return
	}
	m.tool()
	if s != nil {
		m.Add(s.text)
	} else {
		m.Add(`{"text":"`)
		m.text(m.reason, n)
		m.Add(`"}`)
	}
	m.Add(`}`)
}

// usage renders the field with the token counts. The input tokens do not include the tokens from
// the cache. n is the number of output tokens so far.
func (m *message) usage(n int) {
	if m.Shape.Usage == shape.UsageNever && m.Request.Stream {
		return
	}
	cached := m.Cached()
	m.Add(`,"usage":{"input_tokens":`)
	m.AddInt(m.Request.Prompt - cached)
	m.Add(`,"cache_creation_input_tokens":0,"cache_read_input_tokens":`)
	m.AddInt(cached)
	m.Add(`,"output_tokens":`)
	m.AddInt(n)
	if m.reason > 0 {
		m.Add(`,"output_tokens_details":{"thinking_tokens":`)
		m.AddInt(min(n, m.reason))
		m.Add(`}`)
	}
	m.Add(`}`)
}

func (m *message) stopReason() string {
	switch {
	case m.calls() && (m.Request.script == nil || m.Request.Finish == "stop"):
		return "tool_use"
	case m.Request.stop != "":
		return "stop_sequence"
	case m.Request.Finish == "stop":
		return "end_turn"
	}
	return "max_tokens"
}

// stopSequence returns, as JSON, the stop string that ended the output, or null.
func (m *message) stopSequence() string {
	if m.Request.stop == "" {
		return "null"
	}
	return jsontext.Quote(m.Request.stop)
}
