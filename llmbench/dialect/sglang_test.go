package dialect

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// generated returns a stream in the form of SGLang and LMDeploy. Each argument is the event's "text|ids".
// The event with index i reports a count of i+1 tokens.
func generated(events ...string) string {
	var b strings.Builder
	for i, e := range events {
		reason := "null"
		if i == len(events)-1 {
			reason = `{"type":"length","length":3}`
		}
		text, ids, _ := strings.Cut(e, "|")
		if ids != "" {
			ids = fmt.Sprintf(`"output_ids":[%s],`, ids)
		}
		fmt.Fprintf(&b, "data: {\"text\":%q,%s\"meta_info\":{\"finish_reason\":%s,\"prompt_tokens\":5,\"completion_tokens\":%d,\"cached_tokens\":1}}\n\n", text, ids, reason, i+1)
	}
	return b.String() + "data: [DONE]\n\n"
}

func TestSGLang(t *testing.T) {
	want := func(text string, chunks, tokens int) read {
		return read{Text: text, Chunks: chunks, Tokens: tokens, Finish: "length", Usage: Usage{PromptTokens: 5, OutputTokens: tokens, CachedTokens: 1}, Done: true}
	}
	testStreams(t, SGLang{}, []streamTest{
		{"whole text", generated("a|1", "ab|1,2", "abc|1,2,3"), want("abc", 3, 3)},
		{"new text", generated("a|1", "b|2", "c|3"), want("abc", 3, 3)},
		{"new text that repeats itself", generated("a|1", "a|1", "aa|1"), want("aaaa", 3, 3)},
		{"whole text, without change in one event", generated("a|1", "a|1,2", "ab|1,2,3"), want("ab", 2, 3)},
		{"whole text, without ids", generated("a", "ab", "abc"), want("abc", 3, 3)},
		{"new text, without ids", generated("a", "b", "bc"), want("abbc", 3, 3)},
		{"one event", generated("ab|1"), want("ab", 1, 1)},
		{"the server replaces the end of its text", generated("a|1", "ab\ufffd|1,2", "ab😀|1,2,3"), want("ab\ufffd😀", 3, 3)},
		{"drafts", `data: {"text":"a b c","output_ids":[1,2,3],"meta_info":{"completion_tokens":3,"finish_reason":{"type":"length","length":3},"spec_verify_ct":2}}` + "\n\ndata: [DONE]\n\n",
			read{Text: "a b c", Chunks: 1, Tokens: 3, Finish: "length", Done: true, Usage: Usage{OutputTokens: 3}, Timings: Timings{DecodeSteps: 2}}},
		{"aborted", `data: {"text":"","meta_info":{"finish_reason":{"type":"abort","message":"no memory","status_code":500},"e2e_latency":0.5}}` + "\n\ndata: [DONE]\n\n",
			read{Fault: "no memory", Finish: "abort", Done: true, Timings: Timings{Total: 500 * time.Millisecond}}},
		{"error", `data: {"error":{"message":"too long","code":400}}` + "\n\ndata: [DONE]\n\n", read{Fault: "too long", Done: true}},
		{"interrupted", `data: {"text":"a","output_ids":[1],"meta_info":{"finish_reason":null,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n",
			read{Text: "a", Chunks: 1, Tokens: 1, Usage: Usage{OutputTokens: 1}, Done: true, Err: "sglang: stream is truncated: [DONE] came before the finish reason"}},
		{"cut", `data: {"text":"a"}` + "\n\n", read{Text: "a", Chunks: 1, Err: "sglang: stream is truncated: neither a finish reason nor [DONE]"}},
	})
	testBodies(t, SGLang{}, []bodyTest{
		{"whole", `{"text":"ab","output_ids":[1,2],"meta_info":{"finish_reason":{"type":"stop","matched":2},"prompt_tokens":5,"completion_tokens":2}}`,
			read{Text: "ab", Chunks: 1, Finish: "stop", Usage: Usage{PromptTokens: 5, OutputTokens: 2}}},
		{"error", `{"object":"error","message":"too long","type":"BadRequest","code":400}`, read{Fault: "too long"}},
	})
}

func TestLMDeploy(t *testing.T) {
	testStreams(t, LMDeploy{}, []streamTest{
		{"new text that looks like the whole text", generated("a|1", "ab|2", "abc|3"),
			read{Text: "aababc", Chunks: 3, Tokens: 3, Finish: "length", Usage: Usage{PromptTokens: 5, OutputTokens: 3, CachedTokens: 1}, Done: true}},
		{"a finish reason that is a string", `data: {"text":"a","meta_info":{"finish_reason":"stop"}}` + "\n\n", read{Text: "a", Chunks: 1, Finish: "stop"}},
	})
}
