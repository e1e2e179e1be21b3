package mockserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// fuzzDialect fuzzes the request decoder of a path. If the server accepts a request, every event of
// the answer must be JSON, and the log must have the planned number of tokens. If the server
// refuses a request, the answer must be JSON.
func fuzzDialect(f *testing.F, path string, flavor wire.Flavor, seeds ...string) {
	for _, d := range dialectCases {
		if d.path == path && d.flavor == flavor {
			f.Add([]byte(strings.Replace(d.body, "%d", "3", 1)))
		}
	}
	for _, s := range append(seeds, `null`, `[]`, `{"stream":1}`, `{"stop":[""],"options":{"stop":3}}`) {
		f.Add([]byte(s))
	}
	for _, d := range formatBodies {
		if d.path == path {
			f.Add([]byte(strings.Replace(fmt.Sprintf(d.body, 9, true), "SCHEMA", `{"properties":{"a":{"type":"string"}}}`, 1)))
		}
	}
	cfg := Config{OutputTokens: 20, Flavor: flavor}
	before, _, _ := strings.Cut(path, "?")
	to, ok := wire.RouteFor(before, flavor)
	if !ok {
		f.Fatalf("RouteFor(%q): not a path for completions", path)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		to := to.Resolve(body)
		req, fail := to.Decode(wire.Input{Body: body, NaturalEnd: cfg.OutputTokens, Words: vocab.LexiconFor(shape.TextASCII)})
		switch {
		case fail != nil && (req.Output != 0 || fail.Status < 400 || !json.Valid([]byte(to.Dialect.ErrorBody(fail)))):
			t.Fatalf("Decode(%q) = %+v and %+v, want no request and an error in JSON", body, req, fail)
		case fail == nil && (req.Output < 0 || req.Output > wire.MaxTokens || req.Prompt < 0 || req.Finish == ""):
			t.Fatalf("Decode(%q) = %+v, want 0 to %d tokens and a finish reason", body, req, wire.MaxTokens)
		case req.Output > 200:
			return
		}
		s := mustNew(t, cfg)
		w := call(s, "POST", path, string(body))
		e := s.Log()[0]
		if fail != nil {
			if w.Code != fail.Status || e.Status != fail.Status || e.OutputTokens != 0 {
				t.Fatalf("POST %s %q = %d %s, log %+v, want status %d", path, body, w.Code, w.Body, e, fail.Status)
			}
			return
		}
		if w.Code != 200 || e.OutputTokens != req.Output || e.PromptTokens != req.Prompt || e.Aborted {
			t.Fatalf("POST %s %q = %d, log %+v, want %d tokens of output after %d", path, body, w.Code, e, req.Output, req.Prompt)
		}
		documents(t, w.Body.String(), to.Dialect.DocumentEnd, e.Stream)
	})
}

func FuzzOpenAIChat(f *testing.F) {
	fuzzDialect(f, chatPath, "", `{"messages":[{"content":[{"text":"a"}]}],"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_tokens":3}`)
}
func FuzzOpenAICompletions(f *testing.F) {
	fuzzDialect(f, textPath, "", `{"prompt":[1,2],"min_tokens":2,"stop":["a"]}`)
}
func FuzzResponses(f *testing.F) {
	fuzzDialect(f, "/v1/responses", "", `{"input":"a","instructions":"b c"}`)
}
func FuzzAnthropic(f *testing.F) {
	fuzzDialect(f, "/v1/messages", "", `{"messages":[{"content":"a"}],"max_tokens":3,"system":[{"text":"b"}],"tools":[{"name":"f"}],"tool_choice":{"type":"any"},"stream":true}`,
		`{"messages":[{"content":"a"}],"max_tokens":3,"stop_sequences":["the"]}`)
}
func FuzzCohere(f *testing.F) {
	fuzzDialect(f, "/v2/chat", "", `{"messages":[{"content":[{"text":"a"}]}],"tools":[{"function":{"name":"f"}}],"tool_choice":"REQUIRED","stream":true}`,
		`{"messages":[{"content":"a"}],"stop_sequences":["the"],"response_format":{"type":"json_object"}}`)
}
func FuzzGemini(f *testing.F) {
	fuzzDialect(f, geminiPath, "", `{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":3,"stopSequences":["the"],"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}}`,
		`{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`)
}
func FuzzConverse(f *testing.F) {
	fuzzDialect(f, "/model/m/converse-stream", "", `{"messages":[{"content":[{"text":"a"}]}],"inferenceConfig":{"stopSequences":["the"]},"toolConfig":{"tools":[{"toolSpec":{"name":"f"}}],"toolChoice":{"any":{}}}}`)
}
func FuzzInvoke(f *testing.F) { fuzzDialect(f, "/model/m/invoke-with-response-stream", "") }
func FuzzTGI(f *testing.F) {
	fuzzDialect(f, "/generate_stream", "", `{"inputs":"a","parameters":{"stop":["the"],"details":true}}`)
}
func FuzzLlamacpp(f *testing.F) {
	fuzzDialect(f, "/completion", "", `{"prompt":["a"],"n_predict":-1,"stop":["x"],"stream":true}`)
}
func FuzzOllamaChat(f *testing.F) { fuzzDialect(f, "/api/chat", "", `{"messages":[]}`) }
func FuzzOllamaGenerate(f *testing.F) {
	fuzzDialect(f, "/api/generate", "", `{"prompt":"","system":"a"}`, `{"prompt":"a","options":{"num_predict":-2}}`)
}
func FuzzGenerate(f *testing.F) {
	fuzzDialect(f, "/generate", "", `{"text":"a","sampling_params":{"stop":"the","min_new_tokens":1}}`)
}
func FuzzLMDeploy(f *testing.F) {
	fuzzDialect(f, "/generate", wire.FlavorLMDeploy, `{"prompt":"a","min_new_tokens":9,"max_tokens":8}`)
}
func FuzzVLLMDemo(f *testing.F) {
	fuzzDialect(f, "/generate", wire.FlavorVLLM, `{"prompt":"\"\\ \u0000 \ud800"}`, `{"prompt":"a","stop":"the","stream":true}`)
}
func FuzzMindIEVLLM(f *testing.F) {
	fuzzDialect(f, "/generate", wire.FlavorMindIE, `{"prompt":"\"\\ \u0000 \ud800","stop":"the","stream":true}`)
}
func FuzzMindIEInfer(f *testing.F) {
	fuzzDialect(f, "/infer", "", `{"inputs":"a","parameters":{"stop":["the"],"details":true},"stream":true}`)
}
func FuzzTriton(f *testing.F) {
	fuzzDialect(f, tritonPath+"_stream", "", `{"text_input":"a","end_id":-1,"min_length":2,"parameters":{"max_tokens":4,"stop_words":["a"]}}`)
}
