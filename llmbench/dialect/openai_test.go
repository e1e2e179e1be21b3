package dialect

import (
	"strings"
	"testing"
	"time"
)

func TestOpenAIEvents(t *testing.T) {
	const end = `{"choices":[{"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	tests := []streamTest{ // each body lacks the "data: " at its beginning
		{"text", `{"choices":[{"delta":{"content":"a"}}]}` + "\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"completions", `{"choices":[{"text":"a"}]}` + "\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"only a role, in three forms", `{"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"role":"assistant","content":null}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"role":"assistant"}}]}` + "\n\ndata: " + end, read{Finish: "stop", Done: true}},
		{"reasoning, old name", `{"choices":[{"delta":{"reasoning_content":"a","content":null}}]}` + "\n\ndata: " + end, read{Reasoning: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"reasoning, new name", `{"choices":[{"delta":{"reasoning":"a"}}]}` + "\n\ndata: " + end, read{Reasoning: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"reasoning under both names counts once", `{"choices":[{"delta":{"reasoning":"a","reasoning_content":"a"}}]}` + "\n\ndata: " + end, read{Reasoning: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"a tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":"}}]}}]}` + "\n\ndata: " + end, read{ToolCall: `{"a":`, ToolName: "f", Chunks: 1, Finish: "stop", Done: true}},
		{"a call whose name comes before its arguments, and a second call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f"}}]}}]}` + "\n\ndata: " +
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":1,"function":{"name":"g","arguments":"[]"}}]}}]}` + "\n\ndata: " + end,
			read{ToolCall: "{}[]", ToolName: "f g", Chunks: 1, Finish: "stop", Done: true}},
		{"a call of another choice", `{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"index":1}]}` + "\n\ndata: " + end, read{Finish: "stop", Done: true}},
		{"escapes", `{"choices":[{"delta":{"content":"\u4e16\ud83d\ude00\n\ud83d"}}]}` + "\n\ndata: " + end, read{Text: "世😀\n\ufffd", Chunks: 1, Finish: "stop", Done: true}},
		{"an escaped name", `{"choices":[{"delta":{"conte\u006et":"a"}}]}` + "\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"null for every member", `{"choices":null,"usage":null,"error":null}` + "\n\ndata: " + `{"choices":[{"delta":null,"finish_reason":null}]}` + "\n\ndata: null\n\ndata:\n\ndata: " + end, read{Finish: "stop", Done: true}},
		{"an empty finish reason is pending", `{"choices":[{"text":"a","finish_reason":""}]}` + "\n\n", read{Text: "a", Chunks: 1, Err: "openai-chat: stream is truncated: neither a finish reason nor [DONE]"}},
		{"an unknown finish reason", `{"choices":[{"text":"a","finish_reason":"bored"}]}` + "\n\n", read{Text: "a", Chunks: 1, Finish: "bored", UnknownFinish: true}},
		{"usage without choices", end[:len(end)-14] + `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1.2e1,"prompt_tokens_details":{"cached_tokens":1}}}` + "\n\n", read{Finish: "stop", Usage: Usage{PromptTokens: 5, OutputTokens: 12, CachedTokens: 1}}},
		{"usage in the choice", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":12,"total_tokens":17}}]}` + "\n\ndata: [DONE]\n\n", read{Finish: "stop", Usage: Usage{PromptTokens: 5, OutputTokens: 12}, Done: true}},
		{"reasoning tokens", end[:len(end)-14] + `data: {"choices":[],"usage":{"completion_tokens":12,"completion_tokens_details":{"audio_tokens":1,"reasoning_tokens":7}}}` + "\n\n", read{Finish: "stop", Usage: Usage{OutputTokens: 12, ReasoningTokens: 7}}},
		{"reasoning tokens beside the others", end[:len(end)-14] + `data: {"choices":[],"usage":{"completion_tokens":12,"completion_tokens_details":null,"reasoning_tokens":7}}` + "\n\n", read{Finish: "stop", Usage: Usage{OutputTokens: 12, ReasoningTokens: 7}}},
		{"reasoning tokens in two places", end[:len(end)-14] + `data: {"choices":[],"usage":{"completion_tokens":12,"completion_tokens_details":{"reasoning_tokens":7},"reasoning_tokens":0}}` + "\n\n", read{Finish: "stop", Usage: Usage{OutputTokens: 12, ReasoningTokens: 7}}},
		{"usage that is not a count", `{"usage":{"prompt_tokens":-1,"completion_tokens":1e300}}` + "\n\ndata: " + end, read{Finish: "stop", Done: true}},
		{"[DONE] in the event of the last document", `{"choices":[{"text":"a","finish_reason":"stop"}]}` + "\ndata: [DONE]\n\n", read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"two documents in one event", `{"choices":[{"text":"a"}]}{"choices":[{"text":"b"}]}` + "\n\ndata: " + end, read{Text: "ab", Chunks: 2, Finish: "stop", Done: true}},
		{"a document over two lines", "{\"choices\":\ndata: [{\"text\":\"a\"}]}\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"a ping that is not JSON", "x\nevent: ping\n\ndata: " + end, read{Finish: "stop", Done: true}},
		{"an error, then [DONE]", `{"error":{"message":"no","type":"x"}}` + "\n\ndata: [DONE]\n\n", read{Fault: "no", Done: true}},
		{"an error without a message", `{"error":{"code":5}}` + "\n\ndata: [DONE]\n\n", read{Fault: `{"code":5}`, Done: true}},
		{"an error event", "no\nevent: error\n\n", read{Fault: "no", Err: "openai-chat: stream is truncated: neither a finish reason nor [DONE]"}},
		{"an error event without data", "\nevent: error\n\n", read{Fault: "an error event without data", Err: "openai-chat: stream is truncated: neither a finish reason nor [DONE]"}},
		{"an error object in the old form", `{"object":"error","message":"boom","code":500}` + "\n\ndata: [DONE]\n\n", read{Fault: "boom", Done: true}},
		{"a finish reason that is an error", `{"choices":[{"finish_reason":"abort"}]}` + "\n\ndata: [DONE]\n\n", read{Finish: "abort", Fault: "finish reason abort", Done: true}},
		{"not JSON", "{x}\n\n", read{Err: "openai-chat: malformed event: jsontext: invalid character 'x' at start of value after offset 1: \"{x}\""}},
		{"not an object", "[1]\n\n", read{Err: "openai-chat: malformed event: [ where { should be: \"[1]\""}},
		{"cut", `{"choices":[{"te`, read{Err: `openai-chat: stream is truncated within an event: "{\"choices\":[{\"te"`}},
		{"a repeated member", `{"choices":[{"text":"x"}],"choices":[{"delta":{"content":"y","content":"a"}}]}` + "\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"choices out of order", `{"choices":[{"delta":{"content":"b"},"finish_reason":"length","index":1},{"index":0,"delta":{"content":"a"}}]}` + "\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
		{"a call in the old form", `{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{}"}}}]}` + "\n\ndata: " + end, read{ToolCall: "{}", ToolName: "f", Chunks: 1, Finish: "stop", Done: true}},
		{"token ids", `{"choices":[{"text":"","token_ids":[1,2]}]}` + "\n\n" + `data: {"choices":[{"text":"a","token_ids":[3],"finish_reason":"stop"}]}` + "\n\n", read{Text: "a", Chunks: 1, Tokens: 3, Finish: "stop"}},
		{"a running count", `{"choices":[{"delta":{"content":""}}],"usage":{"completion_tokens":0}}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":2}}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":""}}],"usage":{"completion_tokens":3}}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"completion_tokens":4}}` + "\n\n" +
			`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4}}` + "\n\n",
			read{Text: "ab", Chunks: 2, Tokens: 4, Finish: "stop", Usage: Usage{PromptTokens: 5, OutputTokens: 4}}},
		{"a count only at the end is not the count of its event", `{"choices":[{"delta":{"content":"a"}}]}` + "\n\n" +
			`data: {"usage":{"completion_tokens":4},"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n",
			read{Text: "ab", Chunks: 2, Finish: "stop", Usage: Usage{OutputTokens: 4}}},
		{"the last count that is not 0 is used", `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":5,"completion_tokens":4}}` + "\n\n" +
			`data: {"usage":{"prompt_tokens":0,"completion_tokens":3}}` + "\n\ndata: " + end,
			read{Text: "a", Chunks: 1, Tokens: 4, Finish: "stop", Done: true, Usage: Usage{PromptTokens: 5, OutputTokens: 3}}},
		{"llama.cpp's timings", `{"choices":[{"text":"a","finish_reason":"stop"}],"timings":{"cache_n":4,"prompt_n":1,"prompt_ms":21.5,"prompt_per_second":46.5,"predicted_n":3,"predicted_ms":0.45}}` + "\n\n",
			read{Text: "a", Chunks: 1, Finish: "stop", Timings: Timings{CachedTokens: 4, PromptTokens: 1, Prompt: 21500 * time.Microsecond, OutputTokens: 3, Predict: 450 * time.Microsecond}}},
		{"llama.cpp's drafts", `{"choices":[{"text":"a","finish_reason":"stop"}],"timings":{"predicted_n":9,"draft_n":12,"draft_n_accepted":5}}` + "\n\n",
			read{Text: "a", Chunks: 1, Finish: "stop", Timings: Timings{OutputTokens: 9, DraftTokens: 12, AcceptedTokens: 5}}},
		{"TensorRT-LLM's tokens per step", `{"choices":[{"delta":{"content":"a"},"avg_decoded_tokens_per_iter":2.0}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"length","avg_decoded_tokens_per_iter":2.5}]}` + "\n\n" +
			`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":100}}` + "\n\ndata: [DONE]\n\n",
			read{Text: "ab", Chunks: 2, Finish: "length", Done: true, Usage: Usage{PromptTokens: 5, OutputTokens: 100}, Timings: Timings{DecodeSteps: 39}}},
		{"timings in the usage", `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"prompt_time":0.25,"queue_time":0.5,"completion_time":1,"total_time":2e10}}` + "\n\n",
			read{Finish: "stop", Usage: Usage{PromptTokens: 5}, Timings: Timings{Prompt: 250 * time.Millisecond, Queue: 500 * time.Millisecond, Predict: time.Second}}},
		{"[DONE] alone", "[DONE]\n\n", read{Done: true}},
		{"[DONE], and no event had a finish reason", `{"choices":[{"text":"a"}]}` + "\n\ndata: [DONE]\n\n", read{Text: "a", Chunks: 1, Done: true}},
		{"[DONE] while the finish reason is pending", `{"choices":[{"text":"a","finish_reason":null}]}` + "\n\ndata: [DONE]\n\n", read{Text: "a", Chunks: 1, Done: true, Err: "openai-chat: stream is truncated: [DONE] came before the finish reason"}},
		{"events after [DONE] are ignored", end + "data: {x}\n\n" + `data: {"choices":[{"text":"a"}]}` + "\n\n", read{Finish: "stop", Done: true}},
		{"finish reason abort after text", `{"choices":[{"text":"a","finish_reason":"abort"}]}` + "\n\ndata: [DONE]\n\n", read{Text: "a", Chunks: 1, Finish: "abort", Done: true, Fault: "finish reason abort"}},
		{"an error object with another code", `{"object":"error","message":"full","code":503}` + "\n\ndata: [DONE]\n\n", read{Fault: "full", Done: true}},
		{"an error event of JSON", `{"code":500,"message":"no","type":"x"}` + "\nevent: error\n\n", read{Fault: "no", Err: "openai-chat: stream is truncated: neither a finish reason nor [DONE]"}},
		{"an error event without data", "\nevent: error\n\n", read{Fault: "an error event without data", Err: "openai-chat: stream is truncated: neither a finish reason nor [DONE]"}},
		{"an error field, as old llama.cpp sends", `{"choices":[{"text":"a"}]}` + "\n\nerror: " + `{"code":500,"message":"no"}` + "\n\n", read{Text: "a", Chunks: 1, Fault: "no", Err: "openai-chat: stream is truncated: neither a finish reason nor [DONE]"}},
		{"an event that is not JSON, and valid events after it", "keepalive\n\n" + `data: {"choices":[{"text":"a"}]}` + "\n\ndata: " + end, read{Text: "a", Chunks: 1, Finish: "stop", Done: true, Err: "openai-chat: malformed event: jsontext: invalid character 'k' at start of value: \"keepalive\""}},
		{"carriage returns", strings.ReplaceAll(`{"choices":[{"text":"a"}]}`+"\n\n: ping\n\ndata:"+end, "\n", "\r"), read{Text: "a", Chunks: 1, Finish: "stop", Done: true}},
	}
	for i := range tests {
		tests[i].body = "data: " + tests[i].body
	}
	testStreams(t, OpenAIChat{}, tests)
}

func TestOpenAIBodies(t *testing.T) {
	testBodies(t, OpenAIChat{}, []bodyTest{
		{"chat", `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning":"r","tool_calls":[{"function":{"arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
			read{Text: "a", Reasoning: "r", ToolCall: "{}", Chunks: 1, Finish: "stop", Usage: Usage{PromptTokens: 5, OutputTokens: 2}}},
		{"completions", ` {"choices":[{"text":"a","finish_reason":"length"}]}` + "\n", read{Text: "a", Chunks: 1, Finish: "length"}},
		{"error", `{"error":{"message":"no"}}`, read{Fault: "no"}},
		{"an error of SGLang and LMDeploy", `{"object":"error","message":"no","code":400}`, read{Fault: "no"}},
		{"cut", `{"choices":[`, read{Err: `openai-chat: malformed body: jsontext: unexpected EOF within "/choices" after offset 12: "{\"choices\":["`}},
	})
}
