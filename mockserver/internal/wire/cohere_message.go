package wire

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A cohereMessage is the encoder of one answer in Cohere's chat API.
type cohereMessage struct {
	Answer
	// reason is the number of tokens before the answer proper: the plan of a call, or thinking
	// before a text.
	reason int
}

func newCohereMessage(a Answer) *cohereMessage {
	return &cohereMessage{a, a.Shape.ReasoningOf(a.Request.Output)}
}

// A coherePart is a part of a message.
type coherePart int

const (
	thinkingPart coherePart = iota
	textPart
	planPart
	callPart
)

// partAt returns the part that contains token i.
func (m *cohereMessage) partAt(i int) coherePart {
	switch calls := m.calls(); {
	case i < m.reason && calls:
		return planPart
	case i < m.reason:
		return thinkingPart
	case calls:
		return callPart
	}
	return textPart
}

func (m *cohereMessage) calls() bool { return m.calledFunction(m.reason) != "" }

// event begins an event about a part. It renders the type and the index of the part, which is
// an index in the content or in the calls. A plan has no index.
func (m *cohereMessage) event(name string, p coherePart, tokens bool) {
	if tokens {
		m.BeginTokens(name)
	} else {
		m.Begin(name)
	}
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
	m.Add(`{"id":"`)
	m.id()
	m.Add(`","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}`)
	m.End()
	m.open(m.partAt(0))
}

// id renders the id of the message.
func (m *cohereMessage) id() { m.Buf = strconv.AppendUint(m.Buf, m.Ordinal, 10) }

// open renders the event that begins a part.
func (m *cohereMessage) open(p coherePart) {
	switch p {
	case thinkingPart:
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
	name := jsontext.Inner(m.calledFunction(m.reason))
	m.Add(`{"id":"`, name, `_`)
	m.id()
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
func (m *cohereMessage) delta(p coherePart, from, to int) {
	name := [...]string{"content-delta", "content-delta", "tool-plan-delta", "tool-call-delta"}[p]
	m.event(name, p, true)
	m.Add(`,"delta":{"message":{`)
	switch p {
	case thinkingPart:
		m.Add(`"content":{"thinking":"`)
		m.text(from, to)
		m.Add(`"}`)
	case textPart:
		m.Add(`"content":{"text":"`)
		m.text(from, to)
		m.Add(`"}`)
	case planPart:
		m.Add(`"tool_plan":"`)
		m.text(from, to)
		m.Add(`"`)
	case callPart:
		m.Add(`"tool_calls":{"function":{"arguments":"`)
		m.callText(m.reason, from, to)
		m.Add(`"}}`)
	}
	m.Add(`}}}`)
	m.EndTokens()
}

// close renders the event that ends a part.
func (m *cohereMessage) close(p coherePart) {
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
		m.Begin("error")
		m.Add(cohereError(e))
		m.End()
		return
	}
	m.Begin("message-end")
	m.Add(`{"type":"message-end","delta":{"error":`, jsontext.Quote(e.message), `,"finish_reason":"ERROR"}}`)
	m.End()
	m.Done()
}

func (m *cohereMessage) Whole() {
	n := m.Request.Output
	m.Begin("")
	m.Add(`{"id":"`)
	m.id()
	m.Add(`","message":{"role":"assistant"`)
	if m.calls() {
		if m.reason > 0 {
			m.Add(`,"tool_plan":"`)
			m.text(0, m.reason)
			m.Add(`"`)
		}
		m.Add(`,"tool_calls":[`)
		m.call()
		m.callText(m.reason, m.reason, n)
		m.Add(`"}}]`)
	} else {
		m.content(n)
	}
	m.Add(`},"finish_reason":"`, m.finishReason(), `"`)
	m.usage()
	m.Add(`}`)
	m.End()
}

// content renders the content of a message of n tokens.
func (m *cohereMessage) content(n int) {
	m.Add(`,"content":[`)
	if m.reason > 0 {
		m.Add(`{"type":"thinking","thinking":"`)
		m.text(0, m.reason)
		m.Add(`"}`)
	}
	if n > m.reason && m.reason > 0 {
		m.Add(`,`)
	}
	if n > m.reason || m.reason == 0 {
		m.Add(`{"type":"text","text":"`)
		m.text(m.reason, n)
		m.Add(`"}`)
	}
	m.Add(`]`)
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
	m.Add(`,"cached_tokens":`)
	m.AddInt(m.Cached())
	m.Add(`}`)
}

// tokens renders an object with the numbers of tokens.
func (m *cohereMessage) tokens() {
	m.Add(`{"input_tokens":`)
	m.AddInt(m.Request.Prompt)
	m.Add(`,"output_tokens":`)
	m.AddInt(m.Request.Output)
	m.Add(`}`)
}

func (m *cohereMessage) finishReason() string {
	switch {
	case m.calls() && (m.Request.script == nil || m.Request.Finish == "stop"):
		return "TOOL_CALL"
	case m.Request.stop != "":
		return "STOP_SEQUENCE"
	case m.Request.Finish == "stop":
		return "COMPLETE"
	}
	return "MAX_TOKENS"
}
