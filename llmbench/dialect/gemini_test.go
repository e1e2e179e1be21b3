package dialect

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// geminiResponse returns a response with the given parts, a finish reason unless it is "", and the given
// members of its usage.
func geminiResponse(parts, reason, usage string) string {
	if reason != "" {
		reason = `,"finishReason":"` + reason + `"`
	}
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + reason + `,"index":0}],"usageMetadata":{"promptTokenCount":9,` + usage + `"totalTokenCount":99},"modelVersion":"m","responseId":"r"}`
}

// geminiEvents returns responses as events.
func geminiEvents(responses ...string) string {
	return "data: " + strings.Join(responses, "\r\n\r\ndata: ") + "\r\n\r\n"
}

func TestGemini(t *testing.T) {
	const cut = "gemini: stream is truncated: no finish reason"
	text := func(s, reason, usage string) string { return geminiResponse(`{"text":"`+s+`"}`, reason, usage) }
	usage := func(output int) Usage { return Usage{PromptTokens: 9, OutputTokens: output} }
	testStreams(t, Gemini{}, []streamTest{
		{"text", geminiEvents(text("a", "", `"candidatesTokenCount":1,`), text("bc", "", `"candidatesTokenCount":3,`), text("d", "STOP", `"candidatesTokenCount":4,`)),
			read{Text: "abcd", Chunks: 3, Tokens: 4, Finish: "STOP", Usage: usage(4)}},
		{"counts at the end", geminiEvents(text("a", "", ""), text("b", "MAX_TOKENS", `"candidatesTokenCount":2,"cachedContentTokenCount":5,`)),
			read{Text: "ab", Chunks: 2, Finish: "MAX_TOKENS", Usage: Usage{PromptTokens: 9, OutputTokens: 2, CachedTokens: 5}}},
		{"thoughts", geminiEvents(geminiResponse(`{"text":"hm","thought":true}`, "", `"thoughtsTokenCount":3,`), geminiResponse(`{"thought":true,"text":"m"},{"text":"a","thoughtSignature":"c2ln"}`, "STOP", `"candidatesTokenCount":1,"thoughtsTokenCount":4,`)),
			read{Reasoning: "hmm", Text: "a", Chunks: 2, Tokens: 5, Finish: "STOP", Usage: Usage{PromptTokens: 9, OutputTokens: 5, ReasoningTokens: 4}}},
		{"hidden thoughts", geminiEvents(text("a", "", `"candidatesTokenCount":1,"thoughtsTokenCount":20,`), text("b", "STOP", `"candidatesTokenCount":2,"thoughtsTokenCount":20,`)),
			read{Text: "ab", Chunks: 2, Tokens: 2, Finish: "STOP", Usage: Usage{PromptTokens: 9, OutputTokens: 22, ReasoningTokens: 20}}},
		{"a call", geminiEvents(geminiResponse(`{"functionCall":{"name":"f","args":{"x":1}}}`, "STOP", "")),
			read{ToolCall: `{"x":1}`, ToolName: "f", Chunks: 1, Finish: "STOP", Usage: usage(0)}},
		{"the last response has no text", geminiEvents(text("a", "", ""), text("", "STOP", `"candidatesTokenCount":1,`)), read{Text: "a", Chunks: 1, Finish: "STOP", Usage: usage(1)}},
		{"an unspecified reason", geminiEvents(text("a", "FINISH_REASON_UNSPECIFIED", "")), read{Text: "a", Chunks: 1, Usage: usage(0), Err: cut}},
		{"another candidate", geminiEvents(`{"candidates":[{"content":{"parts":[{"text":"no"}]},"finishReason":"STOP","index":1},{"content":{"parts":[{"text":"a"}]}}]}`), read{Text: "a", Chunks: 1, Err: cut}},
		{"a blocked prompt", geminiEvents(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`),
			read{Fault: "the prompt was blocked: PROHIBITED_CONTENT", Usage: usage(0), Err: cut}},
		{"feedback without a reason", geminiEvents(`{"promptFeedback":{"safetyRatings":[]},"candidates":[{"finishReason":"SAFETY"}]}`), read{Finish: "SAFETY", Fault: "finish reason SAFETY"}},
		{"an error", geminiEvents(text("a", "", ""), `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`), read{Text: "a", Chunks: 1, Usage: usage(0), Fault: "overloaded", Err: cut}},
		{"[DONE] of a gateway", geminiEvents(text("a", "", ""), "[DONE]"), read{Text: "a", Chunks: 1, Usage: usage(0), Done: true, Err: cut}},
	})
	testBodies(t, Vertex{}, []bodyTest{
		{"whole", geminiResponse(`{"text":"hm","thought":true},{"text":"a"},{"text":"b"},{"functionCall":{"name":"f","args":{"x":1}}}`, "STOP", `"candidatesTokenCount":3,"thoughtsTokenCount":1,`),
			read{Reasoning: "hm", Text: "ab", ToolCall: `{"x":1}`, ToolName: "f", Chunks: 1, Finish: "STOP", Usage: Usage{PromptTokens: 9, OutputTokens: 4, ReasoningTokens: 1}}},
		{"an error", `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`, read{Fault: "no"}},
	})
}

// TestFiltered checks that an answer is a failure if the server stopped it, or dropped a part of it.
func TestFiltered(t *testing.T) {
	gemini := func(reason string) string { return geminiEvents(geminiResponse(`{"text":"a"}`, reason, "")) }
	chat := func(reason string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"` + reason + `"}]}` + "\n\ndata: [DONE]\n\n"
	}
	anthropic := func(reason string) string {
		return `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}` + "\n\ndata: {\"type\":\"message_stop\"}\n\n"
	}
	for _, api := range []struct {
		dialect          Dialect
		stream           func(reason string) string
		usable, unusable string
	}{
		{Gemini{}, gemini, "STOP MAX_TOKENS", "SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MALFORMED_RESPONSE MODEL_ARMOR"},
		{OpenAIChat{}, chat, "stop length tool_calls function_call", "content_filter abort error"},
		{AnthropicMessages{}, anthropic, "end_turn max_tokens stop_sequence tool_use pause_turn model_context_window_exceeded", "refusal"},
	} {
		p := api.dialect.NewParser()
		for reason := range strings.FieldsSeq(api.usable) {
			got := readAll(p, sse.Auto, strings.NewReader(api.stream(reason)))
			assert.Equal(t, got.Finish+got.Text+got.Fault+got.Err, reason+"a", "%s %s", api.dialect.Name(), reason)
		}
		for reason := range strings.FieldsSeq(api.unusable) {
			got := readAll(p, sse.Auto, strings.NewReader(api.stream(reason)))
			assert.Equal(t, got.Fault, "finish reason "+reason, "%s", api.dialect.Name())
			assert.Equal(t, got.Finish, reason)
		}
	}
	converse, responses := (BedrockConverse{}).NewParser(), (OpenAIResponses{}).NewParser()
	var d Delta
	for _, reason := range []string{"guardrail_intervened", "content_filtered", "malformed_model_output", "malformed_tool_use"} {
		assert.NilError(t, converse.Body([]byte(`{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"`+reason+`"}`), &d))
		assert.Equal(t, d.Fault, "finish reason "+reason)
	}
	assert.NilError(t, responses.Body([]byte(`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`), &d))
	assert.Equal(t, d.Fault, "finish reason content_filter")
}

// testFrames is like testStreams, for a dialect with its own decoder.
func testFrames(t *testing.T, d Dialect, tests []streamTest) {
	t.Helper()
	p := d.NewParser()
	for _, c := range tests {
		for how, src := range everyWay([]byte(c.body)) {
			got := readFrames(p, d.(Framer).NewDecoder(src))
			c.want.truncated = got.truncated // Err has it
			if got != c.want {
				t.Errorf("%s, %s: %q = %+v; want %+v", c.name, how, c.body, got, c.want)
			}
		}
	}
}
