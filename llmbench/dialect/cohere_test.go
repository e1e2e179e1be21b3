package dialect

import "testing"

// The events around the text in the tests of Cohere's API.
const (
	cohereBegin = "event: message-start\n" + `data: {"id":"1","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}` + "\n\n"
	cohereUsage = `"usage":{"billed_units":{"input_tokens":4,"output_tokens":2},"tokens":{"input_tokens":10,"output_tokens":3,"image_tokens":1},"cached_tokens":8}`
	cohereDone  = "data: [DONE]\n\n"
)

// cohereEvent returns an event of Cohere's API whose message has the given members.
func cohereEvent(name, members string) string {
	return "event: " + name + "\n" + `data: {"type":"` + name + `","index":0,"delta":{"message":{` + members + `}}}` + "\n\n"
}

// cohereText returns the event that adds a text to the content.
func cohereText(s string) string { return cohereEvent("content-delta", `"content":{"text":"`+s+`"}`) }

// cohereEnd returns the last event, with the given finish reason.
func cohereEnd(reason string) string {
	return "event: message-end\n" + `data: {"type":"message-end","delta":{"finish_reason":"` + reason + `",` + cohereUsage + `}}` + "\n\n"
}

func TestCohere(t *testing.T) {
	const cut = "cohere: stream is truncated: no finish reason"
	done := read{Finish: "COMPLETE", Usage: Usage{PromptTokens: 10, OutputTokens: 3, CachedTokens: 8}, Done: true}
	with := func(change func(*read)) read {
		r := done
		change(&r)
		return r
	}
	start := cohereEvent("content-start", `"content":{"type":"text","text":""}`)
	stop := "event: content-end\n" + `data: {"type":"content-end","index":0}` + "\n\n"
	calls := cohereEvent("tool-plan-delta", `"tool_plan":"I will"`) + cohereEvent("tool-plan-delta", `"tool_plan":" look"`) +
		cohereEvent("tool-call-start", `"tool_calls":{"id":"f_1","type":"function","function":{"name":"f","arguments":""}}`) +
		cohereEvent("tool-call-delta", `"tool_calls":{"function":{"arguments":"{\"a\":"}}`) + cohereEvent("tool-call-delta", `"tool_calls":{"function":{"arguments":" 1}"}}`) +
		"event: tool-call-end\n" + `data: {"type":"tool-call-end","index":0}` + "\n\n" +
		cohereEvent("tool-call-start", `"tool_calls":{"id":"g_1","type":"function","function":{"name":"g","arguments":"{}"}}`)
	tests := []streamTest{
		{"text", cohereBegin + start + cohereText("a") + cohereText("b") + cohereText(`\n`) + cohereText("c") + stop + cohereEnd("COMPLETE") + cohereDone, with(func(r *read) { r.Text, r.Chunks = "ab\nc", 4 })},
		{"text at the start of the content", cohereBegin + cohereEvent("content-start", `"content":{"text":"a","type":"text"}`) + cohereText("b") + cohereEnd("COMPLETE"), with(func(r *read) { r.Text, r.Chunks = "ab", 2 })},
		{"thinking", cohereBegin + cohereEvent("content-start", `"content":{"type":"thinking","thinking":""}`) + cohereEvent("content-delta", `"content":{"thinking":"h"}`) + cohereEvent("content-delta", `"content":{"thinking":"m"}`) +
			stop + start + cohereText("a") + stop + cohereEnd("COMPLETE") + cohereDone, with(func(r *read) { r.Reasoning, r.Text, r.Chunks = "hm", "a", 3 })},
		{"calls", cohereBegin + calls + cohereEnd("TOOL_CALL"), with(func(r *read) {
			r.Reasoning, r.ToolCall, r.ToolName, r.Chunks, r.Finish = "I will look", `{"a": 1}{}`, "f g", 5, "TOOL_CALL"
		})},
		{"calls in an array", cohereEvent("tool-call-start", `"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]`) + cohereEnd("TOOL_CALL"), with(func(r *read) { r.ToolCall, r.ToolName, r.Chunks, r.Finish = "{}", "f", 1, "TOOL_CALL" })},
		{"citations and unknown events", cohereBegin + cohereEvent("citation-start", `"citations":{"start":0,"end":1,"text":"x","sources":[{"type":"document","id":"1"}]}`) +
			"event: citation-end\n" + `data: {"type":"citation-end","index":0}` + "\n\n" + `data: {"type":"debug","prompt":"x"}` + "\n\n" + `data: {"type":"novelty","delta":7,"index":{}}` + "\n\n" +
			cohereEvent("novelty", `"content":7,"tool_calls":"x","tool_plan":{}`) + cohereEnd("COMPLETE"), done},
		{"log probabilities", `data: {"type":"content-delta","index":0,"logprobs":{"text":"a","token_ids":[1],"logprobs":[-0.5]},"delta":{"message":{"content":{"text":"a"}}}}` + "\n\n" + cohereEnd("MAX_TOKENS"),
			with(func(r *read) { r.Text, r.Chunks, r.Finish = "a", 1, "MAX_TOKENS" })},
		{"no names of events", `data: {"delta":{"message":{"content":{"text":"a"}}},"type":"content-delta"}` + "\n\n" + `data: {"delta":{"finish_reason":"STOP_SEQUENCE"},"type":"message-end"}` + "\n\n",
			read{Text: "a", Chunks: 1, Finish: "STOP_SEQUENCE", Done: true}},
		{"only billed units", cohereText("a") + `data: {"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":4,"output_tokens":2}}}}` + "\n\n", read{Text: "a", Chunks: 1, Finish: "COMPLETE", Done: true}},
		{"no usage", cohereText("a") + `data: {"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":null}}` + "\n\n", read{Text: "a", Chunks: 1, Finish: "COMPLETE", Done: true}},
		{"cut", cohereBegin + start + cohereText("a"), read{Text: "a", Chunks: 1, Err: cut}},
		{"message-end without a finish reason", cohereText("a") + `data: {"type":"message-end","delta":{"finish_reason":null}}` + "\n\n" + cohereDone, read{Text: "a", Chunks: 1, Done: true, Err: cut}},
		{"[DONE] without message-end", cohereText("a") + cohereDone, read{Text: "a", Chunks: 1, Done: true, Err: cut}},
		{"an error at the end", cohereText("a") + `data: {"type":"message-end","delta":{"error":"it broke","finish_reason":"ERROR"}}` + "\n\n", read{Text: "a", Chunks: 1, Finish: "ERROR", Fault: "it broke", Done: true}},
		{"an error after the finish reason", `data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"it broke"}}` + "\n\n", read{Finish: "ERROR", Fault: "it broke", Done: true}},
		{"an error event", cohereText("a") + "event: error\ndata: {\"message\":\"no\"}\n\n", read{Text: "a", Chunks: 1, Fault: "no", Err: cut}},
		{"an error without a name", `data: {"id":"1","message":"no"}` + "\n\n", read{Fault: "no", Err: cut}},
		{"malformed", cohereBegin + "event: content-delta\ndata: {\"type\n\n" + cohereText("a") + cohereEnd("COMPLETE"),
			with(func(r *read) {
				r.Text, r.Chunks, r.Err = "a", 1, `cohere: malformed event: jsontext: unexpected EOF after offset 6: "{\"type"`
			})},
	}
	for _, reason := range []string{"ERROR", "ERROR_TOXIC", "ERROR_LIMIT", "TIMEOUT", "USER_CANCEL"} {
		tests = append(tests, streamTest{reason, cohereText("a") + cohereEnd(reason), with(func(r *read) { r.Text, r.Chunks, r.Finish, r.Fault = "a", 1, reason, "finish reason "+reason })})
	}
	testStreams(t, Cohere{}, tests)
	testBodies(t, Cohere{}, []bodyTest{
		{"text", `{"id":"1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}],"citations":[{"text":"x"}]},"finish_reason":"COMPLETE",` + cohereUsage + `,"logprobs":[{"text":"a"}]}`,
			read{Text: "ab", Reasoning: "hm", Chunks: 1, Finish: "COMPLETE", Usage: done.Usage}},
		{"a call", `{"id":"1","message":{"role":"assistant","tool_plan":"p","tool_calls":[{"id":"f_1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"TOOL_CALL"}`,
			read{Reasoning: "p", ToolCall: `{"x":1}`, ToolName: "f", Chunks: 1, Finish: "TOOL_CALL"}},
		{"an error", `{"id":"1","message":"invalid api token"}`, read{Fault: "invalid api token"}},
		{"an error with a further member", `{"message":"invalid api token","object":"error"}`, read{Fault: "invalid api token"}},
		{"a failed generation", `{"id":"1","finish_reason":"ERROR","message":{"role":"assistant","content":[]}}`, read{Finish: "ERROR", Fault: "finish reason ERROR"}},
		{"not JSON", `{"id"`, read{Err: `cohere: malformed body: jsontext: unexpected EOF within "/id" after offset 5: "{\"id\""`}},
	})
}
