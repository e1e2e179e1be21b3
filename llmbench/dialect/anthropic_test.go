package dialect

import "testing"

// The events around the text in the tests of Anthropic's API.
const (
	anthropicBegin = "event: message_start\n" + `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}` + "\n\n"
	anthropicEnd   = "event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4,"output_tokens_details":{"thinking_tokens":1}}}` + "\n\n" +
		"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
)

// anthropicEvent returns an event of Anthropic's API, whose members follow its type.
func anthropicEvent(name, members string) string {
	return "event: " + name + "\n" + `data: {"type":"` + name + `",` + members + "}\n\n"
}

func TestAnthropicMessages(t *testing.T) {
	const neither = "anthropic-messages: stream is truncated: neither a finish reason nor message_stop"
	begun := Usage{PromptTokens: 10, OutputTokens: 1, CachedTokens: 3}
	done := read{Finish: "end_turn", Usage: Usage{PromptTokens: 10, OutputTokens: 4, CachedTokens: 3, ReasoningTokens: 1}, Done: true}
	with := func(change func(*read)) read {
		r := done
		change(&r)
		return r
	}
	start := anthropicEvent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`)
	stop := anthropicEvent("content_block_stop", `"index":0`)
	delta := func(d string) string { return anthropicEvent("content_block_delta", `"index":0,"delta":{`+d+`}`) }
	text := func(s string) string { return delta(`"type":"text_delta","text":"` + s + `"`) }
	ping := "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	failed := "event: error\n" + `data: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}` + "\n\n"
	testStreams(t, AnthropicMessages{}, []streamTest{
		{"text", anthropicBegin + start + ping + text("a") + text("b") + text(`\n`) + text("c") + stop + anthropicEnd, with(func(r *read) { r.Text, r.Chunks = "ab\nc", 4 })},
		{"text at the start of a block", anthropicBegin + anthropicEvent("content_block_start", `"index":0,"content_block":{"text":"a","type":"text"}`) + text("b") + stop + anthropicEnd, with(func(r *read) { r.Text, r.Chunks = "ab", 2 })},
		{"thinking", anthropicBegin + anthropicEvent("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`) +
			delta(`"type":"thinking_delta","thinking":"hm"`) + delta(`"type":"signature_delta","signature":"c2ln"`) + stop +
			anthropicEvent("content_block_start", `"index":1,"content_block":{"type":"redacted_thinking","data":"c2ln"}`) + text("a") + anthropicEnd,
			with(func(r *read) { r.Reasoning, r.Text, r.Chunks = "hm", "a", 2 })},
		{"a call", anthropicBegin + anthropicEvent("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`) +
			delta(`"type":"input_json_delta","partial_json":""`) + delta(`"type":"input_json_delta","partial_json":"{\"a\": "`) + delta(`"type":"input_json_delta","partial_json":"1}"`) + stop + anthropicEnd,
			with(func(r *read) { r.ToolCall, r.ToolName, r.Chunks = `{"a": 1}`, "f", 2 })},
		{"citations and unknown events", anthropicBegin + delta(`"type":"citations_delta","citation":{"cited_text":"x"}`) + anthropicEvent("novelty", `"delta":7,"content_block":"x"`) + anthropicEnd, done},
		{"no names of events", `data: {"type":"content_block_delta","index":0,"delta":{"text":"a","type":"text_delta"}}` + "\n\n" + `data: {"delta":{"stop_reason":"max_tokens"},"type":"message_delta"}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
			read{Text: "a", Chunks: 1, Finish: "max_tokens", Done: true}},
		{"message_stop without data", text("a") + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\nevent: message_stop\ndata:\n\n", read{Text: "a", Chunks: 1, Finish: "end_turn", Done: true}},
		{"all counts at the end", anthropicBegin + text("a") + anthropicEvent("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"cache_read_input_tokens":4,"output_tokens":2}`),
			read{Text: "a", Chunks: 1, Finish: "end_turn", Usage: Usage{PromptTokens: 4, OutputTokens: 2, CachedTokens: 4}}},
		{"[DONE] of a gateway", anthropicBegin + text("a") + anthropicEnd + "data: [DONE]\n\n", with(func(r *read) { r.Text, r.Chunks = "a", 1 })},
		{"cut", anthropicBegin + start + text("a"), read{Text: "a", Chunks: 1, Usage: begun, Err: neither}},
		{"message_stop without a stop reason", anthropicBegin + text("a") + "event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n",
			read{Text: "a", Chunks: 1, Usage: begun, Done: true, Err: "anthropic-messages: stream is truncated: message_stop came before the stop reason"}},
		{"[DONE] without a stop reason", anthropicBegin + "data: [DONE]\n\n", read{Usage: begun, Done: true, Err: "anthropic-messages: stream is truncated: [DONE] came before the finish reason"}},
		{"an error", anthropicBegin + text("a") + failed, read{Text: "a", Chunks: 1, Usage: begun, Fault: "Overloaded", Err: neither}},
		{"an error without a name", `data: {"error":{"message":"no"},"type":"error"}` + "\n\n", read{Fault: "no", Err: neither}},
		{"malformed", anthropicBegin + "event: content_block_delta\ndata: {\"type\n\n" + text("a") + anthropicEnd,
			with(func(r *read) {
				r.Text, r.Chunks, r.Err = "a", 1, `anthropic-messages: malformed event: jsontext: unexpected EOF after offset 6: "{\"type"`
			})},
	})
	testBodies(t, AnthropicMessages{}, []bodyTest{
		{"whole", `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"tool_use","id":"t","name":"f","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":4}}`,
			read{Text: "ab", Reasoning: "hm", ToolCall: `{"x":1}`, ToolName: "f", Chunks: 1, Finish: "tool_use", Usage: Usage{PromptTokens: 8, OutputTokens: 4, CachedTokens: 3}}},
		{"an error", `{"type":"error","error":{"type":"api_error","message":"no"},"request_id":"req_1"}`, read{Fault: "no"}},
		{"not JSON", `{"type"`, read{Err: `anthropic-messages: malformed body: jsontext: unexpected EOF within "/type" after offset 7: "{\"type\""`}},
	})
}

// TestKeyHeader checks in which header field each dialect expects the API key.
func TestKeyHeader(t *testing.T) {
	for _, c := range []struct {
		d           Dialect
		name, value string
	}{
		{nil, "Authorization", "Bearer k"}, {OpenAIChat{}, "Authorization", "Bearer k"}, {AnthropicMessages{}, "X-Api-Key", "k"},
		{Gemini{}, "X-Goog-Api-Key", "k"}, {Vertex{}, "Authorization", "Bearer k"}, {BedrockConverse{}, "Authorization", "Bearer k"}, {Cohere{}, "Authorization", "Bearer k"},
	} {
		if name, value := KeyHeader(c.d, "k"); name != c.name || value != c.value {
			t.Errorf("KeyHeader(%v) = %s: %s; want %s: %s", c.d, name, value, c.name, c.value)
		}
	}
}
