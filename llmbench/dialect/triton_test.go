package dialect

import (
	"testing"
	"time"
)

func TestTriton(t *testing.T) {
	testStreams(t, Triton{}, []streamTest{
		{"text", `data: {"model_name":"m","text_output":"a"}` + "\n\n" + `data:{"model_name":"m","text_output":"b"}` + "\n\n", read{Text: "ab", Chunks: 2}},
		{"MindIE", `data:{"text_output":"a","details":{"generated_tokens":1,"queue_wait_time":318},"prefill_time":45,"decode_time":null}` + "\n\n" +
			`data:{"text_output":"b","details":{"finish_reason":"length","generated_tokens":2,"queue_wait_time":318},"prefill_time":null,"decode_time":18}` + "\n\n",
			read{Text: "ab", Chunks: 2, Tokens: 2, Finish: "length", Usage: Usage{OutputTokens: 2}, Timings: Timings{Queue: 318 * time.Microsecond, Prompt: 45 * time.Millisecond, Predict: 18 * time.Millisecond}}},
		{"MindIE, cut", `data:{"text_output":"a","details":{"generated_tokens":1}}` + "\n\n",
			read{Text: "a", Chunks: 1, Tokens: 1, Usage: Usage{OutputTokens: 1}, Err: "triton: stream is truncated: details without a finish reason"}},
		{"error", `data: {"text_output":"a"}` + "\n\n" + `data: {"error":"no"}` + "\n\n", read{Text: "a", Chunks: 1, Fault: "no"}},
		{"cut within an event", `data: {"text_output":"a"}` + "\n\n" + `data: {"text_out`, read{Text: "a", Chunks: 1, Err: `triton: stream is truncated within an event: "{\"text_out"`}},
		{"nothing", ": ping\n\n", read{Err: "triton: stream is truncated: no event with text_output"}},
	})
	testBodies(t, Triton{}, []bodyTest{{"whole", `{"model_name":"m","text_output":"ab"}`, read{Text: "ab", Chunks: 1}}})
	if got, want := (Triton{}).Path(Query{Model: "a b/c", Stream: true}), "/v2/models/a%20b%2Fc/generate_stream"; got != want {
		t.Errorf("Path() = %s; want %s", got, want)
	}
}

func TestVLLMDemo(t *testing.T) {
	testStreams(t, VLLMDemo{}, []streamTest{
		{"lines", `{"text": ["p a"]}` + "\n" + `{"text": ["p ab"]}` + "\n", read{Text: "p ab", Chunks: 2}},
		{"NULs", `{"text": ["p a"]}` + "\x00" + `{"text": ["p ab", "p xy"]}` + "\x00", read{Text: "p ab", Chunks: 2}},
		{"nothing new", `{"text": ["p"]}` + "\x00" + `{"text": ["p"]}` + "\x00", read{Text: "p", Chunks: 1}},
		{"cut within a line", `{"text": ["p a"]}` + "\n" + `{"text": ["p a`, read{Text: "p a", Chunks: 1, Err: `vllm-demo: stream is truncated within an event: "{\"text\": [\"p a"`}},
		{"nothing", "\n", read{Err: "vllm-demo: stream is truncated: no text"}},
	})
	testBodies(t, VLLMDemo{}, []bodyTest{{"whole", `{"text":["p ab"]}`, read{Text: "p ab", Chunks: 1}}})
}

func TestMindIE(t *testing.T) {
	testStreams(t, MindIEVLLM{}, []streamTest{
		{"text", `{"text":["a"]}` + "\x00" + `{"text":["ab"]}` + "\x00", read{Text: "aab", Chunks: 2}},
		{"error", `{"error":"no","error_type":"Generation Error"}` + "\x00", read{Fault: "no", Err: "mindie-vllm: stream is truncated: no text"}},
	})
	testStreams(t, MindIEInfer{}, []streamTest{
		{"the text of the last token is only in generated_text", `data: {"prefill_time":45,"decode_time":null,"token":{"id":[1],"text":"a"}}` + "\n\n" +
			`data: {"prefill_time":null,"decode_time":18,"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2,"seed":null},"token":{"id":[2],"text":null}}` + "\n\n",
			read{Text: "ab", Chunks: 2, Tokens: 2, Finish: "length", Usage: Usage{OutputTokens: 2}, Done: true, Timings: Timings{Prompt: 45 * time.Millisecond, Predict: 18 * time.Millisecond}}},
	})
}
