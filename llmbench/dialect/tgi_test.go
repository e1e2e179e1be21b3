package dialect

import (
	"net/http"
	"testing"
	"time"
)

func TestTGI(t *testing.T) {
	const (
		a   = `data: {"index":1,"token":{"id":1,"text":"a","special":false},"generated_text":null,"details":null}` + "\n\n"
		end = `,"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2,"seed":null,"input_length":5}}` + "\n\n"
	)
	usage := Usage{PromptTokens: 5, OutputTokens: 2}
	testStreams(t, TGI{}, []streamTest{
		{"text", a + `data:{"index":2,"token":{"id":2,"text":"b","special":false},"top_tokens":[{"text":"x"}]` + end,
			read{Text: "ab", Chunks: 2, Tokens: 2, Finish: "length", Usage: usage, Done: true}},
		{"a special token counts but has no text", a + `data: {"index":2,"token":{"id":2,"text":"</s>","special":true}` + end,
			read{Text: "a", Chunks: 1, Tokens: 2, Finish: "length", Usage: usage, Done: true}},
		{"without details", a + `data: {"token":{"id":2,"text":"b"},"generated_text":"ab","details":null}` + "\n\n",
			read{Text: "ab", Chunks: 2, Tokens: 2, Done: true}},
		{"an empty generated_text ends the stream", `data: {"token":{"id":2,"text":"</s>","special":true},"generated_text":""}` + "\n\n",
			read{Tokens: 1, Done: true}},
		{"MindIE's lists", `data: {"token":{"id":[1,2],"text":"ab","special":null},"generated_text":"ab","details":{"prompt_tokens":5,"finish_reason":"length","generated_tokens":2}}` + "\n\n",
			read{Text: "ab", Chunks: 1, Tokens: 2, Finish: "length", Usage: usage, Done: true}},
		{"cut between events", a, read{Text: "a", Chunks: 1, Tokens: 1, Err: "tgi: stream is truncated: neither a finish reason nor generated_text"}},
		{"overloaded", `data: {"error":"Model is overloaded","error_type":"overloaded"}` + "\n\n",
			read{Fault: "Model is overloaded", Err: "tgi: stream is truncated: neither a finish reason nor generated_text"}},
	})
	testBodies(t, TGI{}, []bodyTest{
		{"whole", `{"generated_text":"ab","details":{"finish_reason":"eos_token","generated_tokens":3,"prefill":[],"tokens":[{"text":"a"}],"input_length":5}}`,
			read{Text: "ab", Chunks: 1, Finish: "eos_token", Usage: Usage{PromptTokens: 5, OutputTokens: 3}, Done: true}},
		{"error", `{"error":"Model is overloaded","error_type":"overloaded"}`, read{Fault: "Model is overloaded"}},
	})

	h := http.Header{"X-Queue-Time": {"3"}, "X-Total-Time": {"45"}, "X-Prompt-Tokens": {"5"}, "X-Generated-Tokens": {"-1"}}
	want := Timings{Queue: 3 * time.Millisecond, Total: 45 * time.Millisecond, PromptTokens: 5}
	if got := (TGI{}).Timings(h); got != want {
		t.Errorf("TGI{}.Timings(%v) = %+v; want %+v", h, got, want)
	}
}
