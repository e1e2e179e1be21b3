package dialect

import (
	"testing"
	"time"
)

func TestLlamaCPP(t *testing.T) {
	const a = `data: {"index":0,"content":"a","tokens":[1],"stop":false,"id_slot":-1,"tokens_predicted":1,"tokens_evaluated":5}` + "\n\n"
	timings := Timings{CachedTokens: 3, PromptTokens: 2, Prompt: 21500 * time.Microsecond, OutputTokens: 3, Predict: 45 * time.Millisecond}
	testStreams(t, LlamaCPP{}, []streamTest{
		{"text", a + `data: {"index":0,"content":"b","stop":false,"tokens_predicted":3,"tokens_evaluated":5}` + "\n\n" +
			`data: {"content":"","stop":true,"tokens_predicted":3,"tokens_evaluated":5,"generation_settings":{"stop":[],"n_predict":3},"prompt":"x","stop_type":"limit","timings":{"cache_n":3,"prompt_n":2,"prompt_ms":21.5,"predicted_n":3,"predicted_ms":45.0}}` + "\n\n",
			read{Text: "ab", Chunks: 2, Tokens: 3, Finish: "limit", Done: true, Usage: Usage{PromptTokens: 5, OutputTokens: 3}, Timings: timings}},
		{"before 2025", `data: {"content":"a","stop":false}` + "\n\n" + `data: {"content":"","stop":true,"stopped_eos":true,"stopped_limit":false,"tokens_predicted":1,"tokens_evaluated":5}` + "\n\n",
			read{Text: "a", Chunks: 1, Tokens: 1, Finish: "eos", Done: true, Usage: Usage{PromptTokens: 5, OutputTokens: 1}}},
		{"cut", a, read{Text: "a", Chunks: 1, Tokens: 1, Usage: Usage{PromptTokens: 5, OutputTokens: 1}, Err: `llamacpp: stream is truncated: neither a finish reason nor "stop": true`}},
		{"error", `data: {"error":{"code":500,"message":"no"}}` + "\n\n", read{Fault: "no", Err: `llamacpp: stream is truncated: neither a finish reason nor "stop": true`}},
		{"error in a field, before 2025", `error: {"code":500,"message":"no"}` + "\n\n", read{Fault: "no", Err: `llamacpp: stream is truncated: neither a finish reason nor "stop": true`}},
	})
	testBodies(t, LlamaCPP{}, []bodyTest{
		{"whole", `{"index":0,"content":"ab","tokens":[],"stop":true,"tokens_predicted":3,"tokens_evaluated":5,"stop_type":"eos","timings":{"cache_n":3,"prompt_n":2,"prompt_ms":21.5,"predicted_n":3,"predicted_ms":45.0}}`,
			read{Text: "ab", Chunks: 1, Finish: "eos", Done: true, Usage: Usage{PromptTokens: 5, OutputTokens: 3}, Timings: timings}},
	})
}
