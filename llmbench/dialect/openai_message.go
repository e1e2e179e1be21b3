package dialect

import (
	"bytes"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
)

// openAIMessage parses the message of a choice, which is the part of an answer that has its text.
type openAIMessage struct {
	memoParser
	choiceStart mark   // where the text of the choice begins
	in          string // where the members of the message are: "delta." or "message."
	contentSeen bool   // the message has the member content, or the choice has the member text
	lastDetails []byte // the text of the last reasoning_details of the stream
	grown       int    // number of deltas in a row whose reasoning_details are the last ones with more text
}

func (p *openAIMessage) Reset() {
	p.memoParser.Reset()
	if p.lastDetails, p.grown = p.lastDetails[:0], 0; cap(p.lastDetails) > maxMemo {
		p.lastDetails = nil
	}
}

// messageMember reads a member of a message or of a delta.
func (p *openAIMessage) messageMember(name []byte) {
	switch string(name) {
	case "content":
		if p.contentSeen { // of two members with the text, the second is used
			p.d.Text = p.d.Text[:p.choiceStart.text]
		}
		p.contentSeen = true
		p.content()
	case "refusal":
		p.d.Text = p.w.Text(p.d.Text)
	case "audio":
		p.object(p.audioMember)
	case "reasoning", "reasoning_content", "reasoning_text", "thinking": // vLLM 0.12 to 0.20 sends the same text under two names
		p.reasoning(true)
	case "reasoning_details": // OpenRouter also sends the text under another name
		p.details()
	case "thinking_blocks": // LiteLLM also sends the text under another name
		p.reasoning(false)
	case "tool_calls":
		p.d.ToolCall, p.d.ToolName = p.d.ToolCall[:p.choiceStart.toolCall], p.d.ToolName[:p.choiceStart.toolName]
		p.toolCalls()
	case "function_call": // older form of tool_calls
		p.function()
	case "role", "name", "index", "logprobs", "token_ids", "annotations", "tool_call_id", "metadata", "prefix", // OpenAI, vLLM, Mistral
		"context", "end_turn", "content_filter_results", // Azure
		"provider_specific_fields", "extra_content", "signature", "thought_signature", "reasoning_signature", "encrypted_content", "reasoning_opaque", // LiteLLM, Gemini, OpenRouter
		"citations", "executed_tools", "channel", "audio_content", "phase": // Perplexity, Groq (two), MiniMax
	default:
		p.unknownMember(p.in, name)
	}
}

// content reads the next value as the content of a message: a text, or a list of parts, as Mistral's reasoning
// models send it (https://docs.mistral.ai/capabilities/reasoning/).
func (p *openAIMessage) content() {
	switch p.w.Kind() {
	case '[':
		p.w.Array(p.content)
	case '{':
		p.w.Object(p.partMember)
	default:
		p.d.Text = p.w.Text(p.d.Text)
	}
}

// partMember reads a member of a part of the content. The part is a text, a thought or a refusal.
func (p *openAIMessage) partMember(name []byte) {
	switch string(name) {
	case "text", "refusal", "content":
		p.content()
	case "thinking", "reasoning", "summary":
		p.thought()
	case "type", "id", "index", "annotations", "logprobs", "signature", "closed", "cache_control", "reference_ids":
	default:
		p.unknownMember("content[].", name)
	}
}

// audioMember reads a member of generated speech. Only its transcript is text.
func (p *openAIMessage) audioMember(name []byte) {
	if string(name) == "transcript" {
		p.d.Text = p.w.Text(p.d.Text)
	}
}

// reasoning reads the next value as the reasoning. A message may have the same reasoning under several names.
// Then it counts once, as a plain text if one of the values is plain.
func (p *openAIMessage) reasoning(plain bool) {
	from, middle := p.choiceStart.reasoning, len(p.d.Reasoning)
	p.thought()
	switch added := p.d.Reasoning[middle:]; {
	case len(added) == 0 || middle == from:
	case plain:
		p.d.Reasoning = append(p.d.Reasoning[:from], added...)
	default:
		p.d.Reasoning = p.d.Reasoning[:middle]
	}
}

// leastGrown is the number of deltas in a row that repeat the reasoning before, after which all of them count as such.
// Tokens seldom begin with the token before.
const leastGrown = 3

// details reads the next value as reasoning_details. MiniMax sends all of the reasoning so far with each delta
// (https://platform.minimax.io/docs/guides/text-m2-function-call). Only what is new counts, from the delta on that shows
// that the server does so.
func (p *openAIMessage) details() {
	middle := len(p.d.Reasoning)
	p.reasoning(false)
	added, old := p.d.Reasoning[middle:], len(p.lastDetails)
	switch {
	case p.wholeBody || len(added) == 0:
		return
	case old == 0 || !bytes.HasPrefix(added, p.lastDetails):
		p.grown, old = 0, 0
	case len(added) > old:
		p.grown++
	}
	p.lastDetails = append(p.lastDetails[:0], added...)
	if p.grown >= leastGrown {
		p.d.Reasoning = append(p.d.Reasoning[:middle], added[old:]...)
	}
}

// thought reads the next value and adds its text to the reasoning. The value is a text, an object with a text, or
// a list of these. Sources: https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details),
// https://platform.minimax.io/docs/api-reference/text-openai-api (reasoning_details),
// https://docs.litellm.ai/docs/reasoning_content (thinking_blocks).
func (p *openAIMessage) thought() {
	switch p.w.Kind() {
	case '[':
		p.w.Array(p.thought)
	case '{':
		p.w.Object(p.thoughtMember)
	default:
		if v := p.w.Raw(); isWord(v) {
			p.d.Reasoning = jsonwalk.Unquote(p.d.Reasoning, v)
		}
	}
}

func (p *openAIMessage) thoughtMember(name []byte) {
	switch string(name) {
	case "text", "content", "thinking", "summary", "reasoning", "reasoning_content":
		p.thought()
	case "type", "id", "index", "format", "signature", "data", "encrypted_content", "status", "effort":
	default:
		p.unknownMember("reasoning.", name)
	}
}
