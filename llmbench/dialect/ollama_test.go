package dialect

import (
	"testing"
	"time"
)

func TestOllama(t *testing.T) {
	const end = `"done":true,"done_reason":"length","total_duration":812345678,"load_duration":12345678,"prompt_eval_count":5,"prompt_eval_duration":21500000,"eval_count":3,"eval_duration":45000000}` + "\n"
	usage := Usage{PromptTokens: 5, OutputTokens: 3}
	timings := Timings{Load: 12345678, Prompt: 21500 * time.Microsecond, Predict: 45 * time.Millisecond, Total: 812345678, PromptTokens: 5, OutputTokens: 3}
	testStreams(t, Ollama{}, []streamTest{
		{"text and reasoning", `{"message":{"role":"assistant","content":"","thinking":"r"},"done":false}` + "\r\n\r\n" +
			`{"message":{"role":"assistant","content":"\u003ca"},"done":false}` + "\n" + `{"message":{"content":""},` + end,
			read{Text: "<a", Reasoning: "r", Chunks: 2, Finish: "length", Usage: usage, Timings: timings, Done: true}},
		{"a tool call", `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"x": 1}}}]},"done":false}` + "\n" + `{"message":{"content":""},` + end,
			read{ToolCall: `{"x": 1}`, ToolName: "f", Chunks: 1, Finish: "length", Usage: usage, Timings: timings, Done: true}},
		{"without a last line end", `{"message":{"content":"a"},"done":true}`, read{Text: "a", Chunks: 1, Done: true}},
		{"cut within a line", `{"message":{"content":"a"},"done":false}` + "\n" + `{"message":{"con`,
			read{Text: "a", Chunks: 1, Err: `ollama: stream is truncated within an event: "{\"message\":{\"con"`}},
		{"cut between lines", `{"message":{"content":"a"},"done":false}` + "\n", read{Text: "a", Chunks: 1, Err: `ollama: stream is truncated: neither a finish reason nor "done": true`}},
		{"error", `{"message":{"content":"a"},"done":false}` + "\n" + `{"error":"CUDA error"}` + "\n",
			read{Text: "a", Chunks: 1, Fault: "CUDA error", Err: `ollama: stream is truncated: neither a finish reason nor "done": true`}},
	})
	testStreams(t, OllamaGenerate{}, []streamTest{
		{"text and reasoning", `{"response":"","thinking":"r","done":false}` + "\n" + `{"response":"a","done":false}` + "\n" + `{"response":"","context":[1,2],` + end,
			read{Text: "a", Reasoning: "r", Chunks: 2, Finish: "length", Usage: usage, Timings: timings, Done: true}},
		{"no count of prompt tokens", `{"response":"a","done":true,"done_reason":"stop","eval_count":1}` + "\n",
			read{Text: "a", Chunks: 1, Finish: "stop", Usage: Usage{OutputTokens: 1}, Timings: Timings{OutputTokens: 1}, Done: true}},
	})
	testBodies(t, OllamaGenerate{}, []bodyTest{
		{"whole", `{"model":"m","response":"ab",` + end, read{Text: "ab", Chunks: 1, Finish: "length", Usage: usage, Timings: timings, Done: true}},
		{"error", `{"error":"model 'x' not found"}`, read{Fault: "model 'x' not found"}},
	})
}
