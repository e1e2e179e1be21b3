package dialect

import (
	"testing"
	"time"
)

func TestOpenAIResponses(t *testing.T) {
	const (
		begin = "event: response.created\n" + `data: {"type":"response.created","response":{"id":"r1","status":"in_progress","error":null,"usage":null,"incomplete_details":null}}` + "\n\n"
		end   = "event: response.completed\n" + `data: {"type":"response.completed","response":{"status":"completed","output":[{"content":[{"text":"no"}]}],"usage":{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":1},"output_tokens_details":{"reasoning_tokens":1}}},"timings":{"prompt_ms":2}}` + "\n\n"
	)
	done := read{Finish: "completed", Usage: Usage{PromptTokens: 9, OutputTokens: 2, CachedTokens: 1, ReasoningTokens: 1}, Timings: Timings{Prompt: 2 * time.Millisecond}, Done: true}
	with := func(change func(*read)) read {
		r := done
		change(&r)
		return r
	}
	testStreams(t, OpenAIResponses{}, []streamTest{
		{"text", begin + "event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n" +
			"event: response.output_text.done\n" + `data: {"type":"response.output_text.done","text":"a"}` + "\n\n" + end, with(func(r *read) { r.Text, r.Chunks = "a", 1 })},
		{"the type last, and no event line", `data: {"delta":"a","logprobs":[],"type":"response.output_text.delta"}` + "\n\n" + end, with(func(r *read) { r.Text, r.Chunks = "a", 1 })},
		{"the type in the event line alone", "event: response.output_text.delta\n" + `data: {"delta":"a"}` + "\n\n" + end, with(func(r *read) { r.Text, r.Chunks = "a", 1 })},
		{"reasoning", `data: {"type":"response.reasoning_text.delta","delta":"a"}` + "\n\n" + end, with(func(r *read) { r.Reasoning, r.Chunks = "a", 1 })},
		{"a call", `data: {"type":"response.function_call_arguments.delta","delta":"{}"}` + "\n\n" + end, with(func(r *read) { r.ToolCall, r.Chunks = "{}", 1 })},
		{"the name of a call", `data: {"type":"response.output_item.added","item":{"type":"function_call","name":"f","arguments":""}}` + "\n\n" +
			`data: {"type":"response.output_item.done","item":{"type":"function_call","name":"f","arguments":"{}"}}` + "\n\n" + end, with(func(r *read) { r.ToolName = "f" })},
		{"an item that is not an object", `data: {"type":"response.output_item.added","item":7}` + "\n\n" + end, done},
		{"a delta that is not text", `data: {"type":"response.audio.delta","delta":"QUJD"}` + "\n\n" + end, with(func(r *read) { r.Unread = "delta of the event response.audio.delta" })},
		{"at the limit", `data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}` + "\n\n", read{Finish: "max_output_tokens", Done: true}},
		{"failed", `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no"}}}` + "\n\n",
			read{Fault: "no", Done: true, Err: "openai-responses: stream is truncated: neither a finish reason nor response.completed"}},
		{"an error event", "event: error\n" + `data: {"type":"error","code":"x","message":"no","param":null}` + "\n\n",
			read{Fault: "no", Err: "openai-responses: stream is truncated: neither a finish reason nor response.completed"}},
		{"cut", begin, read{Err: "openai-responses: stream is truncated: neither a finish reason nor response.completed"}},
		{"[DONE] does not complete the answer", begin + "data: [DONE]\n\n", read{Done: true, Err: "openai-responses: stream is truncated: [DONE] came before the finish reason"}},
	})
	testBodies(t, OpenAIResponses{}, []bodyTest{
		{"whole", `{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"r"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","name":"f","arguments":"{}"}],"usage":{"input_tokens":9,"output_tokens":2}}`,
			read{Text: "a", Reasoning: "r", ToolCall: "{}", ToolName: "f", Chunks: 1, Finish: "completed", Usage: Usage{PromptTokens: 9, OutputTokens: 2}, Done: true}},
		{"failed", `{"status":"failed","error":{"message":"no"}}`, read{Fault: "no", Done: true}},
		{"error", `{"error":{"message":"no"}}`, read{Fault: "no"}},
		{"a document that is an error", `{"message":"no such model","object":"error"}`, read{Fault: "no such model"}},
	})
}
