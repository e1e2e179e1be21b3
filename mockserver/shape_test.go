package mockserver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// shaped returns the shape that a list of names describes.
func shaped(t testing.TB, list string) shape.Shape {
	t.Helper()
	var s shape.Shape
	if err := s.Set(list); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShapes compares a chat in each shape, and some answers in other dialects, with golden
// files.
func TestShapes(t *testing.T) {
	type shapeCase struct{ file, shape, path, body string }
	const chat = `{"messages":[{"content":"a prompt"}],"max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}`
	var cases []shapeCase
	for name := range shape.Names() {
		value := strings.NewReplacer("=N", "=3", "=DURATION", "=7ms").Replace(name)
		file, _, _ := strings.Cut(name, "=")
		if file == "nul" { // Windows does not allow a file named nul.txt, so a Go module must not contain one
			file = "nul-escaped"
		}
		cases = append(cases, shapeCase{file, value, chatPath, chat})
	}
	const (
		responses = `{"input":"a prompt","max_output_tokens":4,"stream":true}`
		anthropic = `{"messages":[{"content":"a prompt"}],"max_tokens":4,"stream":true}`
		gemini    = `{"contents":[{"parts":[{"text":"a prompt"}]}],"generationConfig":{"maxOutputTokens":4}}`
		converse  = `{"messages":[{"content":[{"text":"a prompt"}]}],"inferenceConfig":{"maxTokens":4}}`
		cohere    = `{"messages":[{"content":"a prompt"}],"max_tokens":4,"stream":true}`
		ollama    = `{"messages":[{"content":"a prompt"}],"options":{"num_predict":4}}`
		sglang    = `{"text":"a prompt","sampling_params":{"max_new_tokens":4},"stream":true}`
		tgi       = `{"inputs":"a prompt","parameters":{"max_new_tokens":4,"details":true}}`
	)
	cases = append(cases,
		shapeCase{"reasoning-then-tool", "reasoning-content,reasoning-tokens=1,tool-call", chatPath, chat},
		shapeCase{"reasoning-only", "reasoning,reasoning-tokens=9", chatPath, chat},
		shapeCase{"reasoning-in-one-chunk", "reasoning,tokens-per-chunk=9", chatPath, chat},
		shapeCase{"reasoning-whole", "reasoning,tool-call", chatPath, strings.Replace(chat, `,"stream":true,"stream_options":{"include_usage":true}`, "", 1)},
		shapeCase{"everything", "crlf,bom,ping,ping-event,event-lines,no-space,role-null,empty-choices,finish-alone,usage-each,done-twice,after-done,reasoning,dumps,twice,number-strings,unicode", chatPath, chat},
		shapeCase{"responses-reasoning", "reasoning", "/v1/responses", responses},
		shapeCase{"responses-reasoning-only", "reasoning,reasoning-tokens=9", "/v1/responses", responses},
		shapeCase{"responses-tool", "tool-call,tokens-per-chunk=3", "/v1/responses", responses},
		shapeCase{"responses-lines", "event-lines,crlf,usage-never", "/v1/responses", responses},
		shapeCase{"anthropic-thinking", "reasoning", "/v1/messages", anthropic},
		shapeCase{"anthropic-tool", "tool-call,reasoning,reasoning-tokens=1", "/v1/messages", anthropic},
		shapeCase{"anthropic-tool-whole", "tool-call,reasoning", "/v1/messages", strings.Replace(anthropic, `,"stream":true`, "", 1)},
		shapeCase{"anthropic-lines", "event-lines,crlf,usage-never,after-done", "/v1/messages", anthropic},
		shapeCase{"anthropic-spelling", "dumps,twice,number-strings,ping-event,tokens-per-chunk=3", "/v1/messages", anthropic},
		shapeCase{"gemini-thoughts", "reasoning,tokens-per-chunk=3", geminiPath, gemini},
		shapeCase{"gemini-tool", "tool-call,reasoning,reasoning-tokens=1", geminiPath, gemini},
		shapeCase{"gemini-spelling", "dumps,twice,number-strings,bom,crlf,ping,usage-never", geminiPath, gemini},
		shapeCase{"converse-reasoning", "reasoning,bom", "/model/m/converse-stream", converse},
		shapeCase{"converse-tool", "tool-call,reasoning,reasoning-tokens=1,split-json", "/model/m/converse-stream", converse},
		shapeCase{"invoke-tool", "tool-call,dumps", "/model/m/invoke-with-response-stream", strings.Replace(anthropic, `,"stream":true`, "", 1)},
		shapeCase{"cohere-thinking", "reasoning", "/v2/chat", cohere},
		shapeCase{"cohere-thinking-whole", "reasoning", "/v2/chat", strings.Replace(cohere, `,"stream":true`, "", 1)},
		shapeCase{"cohere-plan", "tool-call,reasoning,reasoning-tokens=2", "/v2/chat", cohere},
		shapeCase{"cohere-plan-whole", "tool-call,reasoning", "/v2/chat", strings.Replace(cohere, `,"stream":true`, "", 1)},
		shapeCase{"cohere-lines", "event-lines,crlf,usage-never,after-done,done-twice", "/v2/chat", cohere},
		shapeCase{"cohere-spelling", "dumps,twice,number-strings,ping-event,tokens-per-chunk=3", "/v2/chat", cohere},
		shapeCase{"ollama-thinking", "reasoning", "/api/chat", ollama},
		shapeCase{"ollama-tool", "tool-call,reasoning,reasoning-tokens=1", "/api/chat", ollama},
		shapeCase{"ollama-spelling", "dumps,twice,number-strings,bom,crlf,ping,event-lines", "/api/chat", ollama},
		shapeCase{"ollama-usage-never", "usage-never,after-done", "/api/chat", ollama},
		shapeCase{"sglang-incremental", "incremental", "/generate", sglang},
		shapeCase{"triton-after-done", "after-done,done-twice", tritonPath + "_stream", `{"text_input":"a prompt","max_tokens":4}`},
		shapeCase{"tgi-nospace", "no-space,usage-never,tokens-per-chunk=2", "/generate_stream", tgi},
	)
	for _, tt := range cases {
		t.Run(tt.file, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, Config{Model: "m", TTFT: time.Second, PerToken: time.Second, Shape: shaped(t, tt.shape)})
				golden(t, "shape/"+tt.file+".txt", r.must(tt.path, tt.body))
				if e := r.only(); e.OutputTokens != 4 || e.Aborted {
					t.Errorf("Log()[0] = %+v, want 4 tokens", e)
				}
			})
		})
	}
}
