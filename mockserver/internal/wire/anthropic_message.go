package wire

import "github.com/seed-2b9cec6d/llmbench/mockserver/shape"

// A message is the encoder of one answer in Anthropic's Messages API. Its parts are the content blocks.
type message struct {
	chat
	bedrock bool // the events are as Amazon Bedrock sends them: no ping, and metrics at the end
}

// event begins an event about a block and renders its type and the index of the block.
func (m *message) event(name string, b part, tokens bool) {
	m.BeginEvent(name, tokens)
	m.Add(`{"type":"`, name)
	m.AddInt(`","index":`, m.index(b))
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
	m.open(m.partAt(0))
	if !m.bedrock {
		m.Document("ping", `{"type":"ping"}`)
	}
}

// head renders the beginning of the message object.
func (m *message) head() {
	m.AddInt(`{"id":"msg_`, int(m.Ordinal))
	m.Add(`","type":"message","role":"assistant","model":`, m.Model, `,`)
}

// open renders the event that begins a block. For a tool, a delta without text follows.
func (m *message) open(b part) {
	m.event("content_block_start", b, false)
	m.Add(`,"content_block":`)
	switch b {
	case reasoningPart:
		m.Add(`{"type":"thinking","thinking":"","signature":""}`)
	case textPart:
		m.Add(`{"type":"text","text":""}`)
	case callPart:
		m.tool()
		m.Add(`{}}`)
	}
	m.Add(`}`)
	m.End()
	if b == callPart {
		m.event("content_block_delta", b, false)
		m.Add(`,"delta":{"type":"input_json_delta","partial_json":""}}`)
		m.End()
	}
}

// tool renders the beginning of a tool's block, up to the value of input.
func (m *message) tool() {
	m.AddInt(`{"type":"tool_use","id":"toolu_`, int(m.Ordinal))
	m.Add(`","name":`, m.quotedCall(), `,"input":`)
}

func (m *message) Tokens(from, to int) {
	for from < to {
		b, end := m.partAt(from), to
		if b == reasoningPart {
			end = min(to, m.reason)
		} else if from == m.reason && from > 0 {
			m.open(b)
		}
		m.event("content_block_delta", b, true)
		m.Add(`,"delta":{"type":`, [...]string{`"thinking_delta","thinking":"`, `"text_delta","text":"`, `"input_json_delta","partial_json":"`}[b])
		m.partText(from, end)
		m.Add(`"}}`)
		m.End()
		if b == reasoningPart && end == m.reason || b != reasoningPart && end == m.tokenCount() {
			m.close(b)
		}
		from = end
	}
}

// close renders the events after a block's last token.
func (m *message) close(b part) {
	if b == reasoningPart {
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
		m.close(textPart)
	}
	m.Begin("message_delta")
	m.Add(`{"type":"message_delta","delta":{"stop_reason":"`, m.stopReason(), `","stop_sequence":`, m.stopString(), `}`)
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
	m.Begin("")
	m.head()
	m.Add(`"content":`)
	addList(&m.Answer, m.parts(), m.wholeBlock)
	m.Add(`,"stop_reason":"`, m.stopReason(), `","stop_sequence":`, m.stopString())
	m.usage(m.Request.Output)
	m.Add(`}`)
	m.End()
}

// wholeBlock renders a block of a whole answer.
func (m *message) wholeBlock(_ int, b part) {
	switch b {
	case reasoningPart:
		m.textBetween(`{"type":"thinking","thinking":"`, 0, m.reason, `","signature":"bW9jaw=="}`)
	case textPart:
		m.textBetween(`{"type":"text","text":"`, m.reason, m.Request.Output, `"}`)
	case callPart:
		m.tool()
		m.callObject()
		m.Add(`}`)
	}
}

// usage renders the field with the token counts. The input tokens do not include the tokens from
// the cache. n is the number of output tokens so far.
func (m *message) usage(n int) {
	if m.Shape.Usage == shape.UsageNever && m.Request.Stream {
		return
	}
	cached := m.Cached()
	m.AddInt(`,"usage":{"input_tokens":`, m.Request.Prompt-cached)
	m.AddInt(`,"cache_creation_input_tokens":0,"cache_read_input_tokens":`, cached)
	m.AddInt(`,"output_tokens":`, n)
	if m.reason > 0 {
		m.AddInt(`,"output_tokens_details":{"thinking_tokens":`, min(n, m.reason))
		m.Add(`}`)
	}
	m.Add(`}`)
}

func (m *message) stopReason() string {
	return m.finish("tool_use", "stop_sequence", "end_turn", "max_tokens")
}

// metrics renders the member that Bedrock adds to the last event.
func (m *message) metrics() {
	m.AddInt(`,"amazon-bedrock-invocationMetrics":{"inputTokenCount":`, m.Request.Prompt)
	m.AddInt(`,"outputTokenCount":`, m.Request.Output)
	m.AddInt(`,"invocationLatency":`, int(m.latency().Milliseconds()))
	m.AddInt(`,"firstByteLatency":`, int((*m.Queued + m.prefillTime()).Milliseconds()))
	m.Add(`}`)
}
