package wire

import (
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A cohereMessage is the encoder of one answer in Cohere's chat API.
type cohereMessage struct{ chat }

// planPart is the reasoning before a call.
const planPart = callPart + 1

// partAt returns the part that contains token i.
func (m *cohereMessage) partAt(i int) part {
	if i < m.reason && m.calls() {
		return planPart
	}
	return m.chat.partAt(i)
}

// event begins an event about a part. It renders the type and the index of the part, which is
// an index in the content or in the calls. A plan has no index.
func (m *cohereMessage) event(name string, p part, tokens bool) {
	m.BeginEvent(name, tokens)
	m.Add(`{"type":"`, name, `"`)
	switch {
	case p == textPart && m.reason > 0:
		m.Add(`,"index":1`)
	case p != planPart:
		m.Add(`,"index":0`)
	}
}

// Opening renders the beginning of the message and of its first part.
func (m *cohereMessage) Opening() {
	m.Begin("message-start")
	m.AddInt(`{"id":"`, int(m.Ordinal))
	m.Add(`","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}`)
	m.End()
	m.open(m.partAt(0))
}

// open renders the event that begins a part.
func (m *cohereMessage) open(p part) {
	switch p {
	case reasoningPart:
		m.event("content-start", p, false)
		m.Add(`,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}`)
	case textPart:
		m.event("content-start", p, false)
		m.Add(`,"delta":{"message":{"content":{"type":"text","text":""}}}}`)
	case planPart:
		return
	case callPart:
		m.event("tool-call-start", p, false)
		m.Add(`,"delta":{"message":{"tool_calls":`)
		m.call()
		m.Add(`"}}}}}`)
	}
	m.End()
}

// call renders the beginning of a call, up to the quote before its arguments.
func (m *cohereMessage) call() {
	name := jsontext.Inner(m.called())
	m.Add(`{"id":"`, name)
	m.AddInt(`_`, int(m.Ordinal))
	m.Add(`","type":"function","function":{"name":"`, name, `","arguments":"`)
}

func (m *cohereMessage) Tokens(from, to int) {
	for from < to {
		p, end := m.partAt(from), to
		if from < m.reason {
			end = min(to, m.reason)
		} else if from == m.reason && from > 0 {
			m.open(p)
		}
		m.delta(p, from, end)
		if end == m.reason && from < m.reason || end == m.tokenCount() {
			m.close(p)
		}
		from = end
	}
}

// delta renders the event that adds the tokens with indices from to to-1 to a part.
func (m *cohereMessage) delta(p part, from, to int) {
	name := [...]string{"content-delta", "content-delta", "tool-call-delta", "tool-plan-delta"}[p]
	m.event(name, p, true)
	m.Add(`,"delta":{"message":{`)
	switch p {
	case reasoningPart:
		m.textBetween(`"content":{"thinking":"`, from, to, `"}`)
	case textPart:
		m.textBetween(`"content":{"text":"`, from, to, `"}`)
	case planPart:
		m.textBetween(`"tool_plan":"`, from, to, `"`)
	case callPart:
		m.Add(`"tool_calls":{"function":{"arguments":"`)
		m.partText(from, to)
		m.Add(`"}}`)
	}
	m.Add(`}}}`)
	m.End()
}

// close renders the event that ends a part.
func (m *cohereMessage) close(p part) {
	switch p {
	case planPart:
		return
	case callPart:
		m.event("tool-call-end", p, false)
	default:
		m.event("content-end", p, false)
	}
	m.Add(`}`)
	m.End()
}

func (m *cohereMessage) Last(from, to int) {
	m.Tokens(from, to)
	if to == 0 {
		m.close(textPart)
	}
	m.Begin("message-end")
	m.Add(`{"type":"message-end","delta":{"finish_reason":"`, m.finishReason(), `"`)
	m.usage()
	m.Add(`}}`)
	m.End()
}

// Failed renders the end of a message whose generation failed. An error with a name has the form
// of an answer to a bad request.
func (m *cohereMessage) Failed(e *Error, named bool) {
	if named {
		m.Document("error", cohereError(e))
		return
	}
	m.Document("message-end", `{"type":"message-end","delta":{"error":`, jsontext.Quote(e.message), `,"finish_reason":"ERROR"}}`)
	m.Done()
}

func (m *cohereMessage) Whole() {
	m.Begin("")
	m.AddInt(`{"id":"`, int(m.Ordinal))
	m.Add(`","message":{"role":"assistant"`)
	if m.calls() {
		if m.reason > 0 {
			m.textBetween(`,"tool_plan":"`, 0, m.reason, `"`)
		}
		m.Add(`,"tool_calls":[`)
		m.call()
		m.partText(m.reason, m.Request.Output)
		m.Add(`"}}]`)
	} else {
		m.Add(`,"content":`)
		addList(&m.Answer, m.parts(), m.content)
	}
	m.Add(`},"finish_reason":"`, m.finishReason(), `"`)
	m.usage()
	m.Add(`}`)
	m.End()
}

// content renders a part of the content of a whole answer.
func (m *cohereMessage) content(_ int, p part) {
	if p == reasoningPart {
		m.textBetween(`{"type":"thinking","thinking":"`, 0, m.reason, `"}`)
		return
	}
	m.textBetween(`{"type":"text","text":"`, m.reason, m.Request.Output, `"}`)
}

// usage renders the member with the token counts. The input tokens include the tokens from the
// cache. Every token is billed.
func (m *cohereMessage) usage() {
	if m.Shape.Usage == shape.UsageNever && m.Request.Stream {
		return
	}
	m.Add(`,"usage":{"billed_units":`)
	m.tokens()
	m.Add(`,"tokens":`)
	m.tokens()
	m.AddInt(`,"cached_tokens":`, m.Cached())
	m.Add(`}`)
}

// tokens renders an object with the numbers of tokens.
func (m *cohereMessage) tokens() {
	m.AddInt(`{"input_tokens":`, m.Request.Prompt)
	m.AddInt(`,"output_tokens":`, m.Request.Output)
	m.Add(`}`)
}

func (m *cohereMessage) finishReason() string {
	return m.finish("TOOL_CALL", "STOP_SEQUENCE", "COMPLETE", "MAX_TOKENS")
}
