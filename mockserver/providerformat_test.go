package mockserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// TestProviderFormats requests a call and an instance of a schema in APIs in which the path decides whether
// the answer is streamed.
func TestProviderFormats(t *testing.T) {
	const (
		schema  = `{"type":"object","properties":{"n":{"type":"integer"},"ok":{"type":"boolean"}}}` // {"n": 7, "ok": true}
		openAPI = `{"type":"OBJECT","properties":{"n":{"type":"INTEGER"},"ok":{"type":"BOOLEAN"}}}`
		gemini  = `{"contents":[{"parts":[{"text":"a prompt"}]}],"generationConfig":{"maxOutputTokens":%d`
		calling = `},"tools":[{"functionDeclarations":[{"name":"g"},{"name":"f","parametersJsonSchema":` + schema + `}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}`
		tool    = `{"messages":[{"content":[{"text":"a prompt"}]}],"inferenceConfig":{"maxTokens":%d},"toolConfig":{"tools":[{"toolSpec":{"name":"g"}},{"toolSpec":{"name":"f","inputSchema":{"json":` + schema + `}}}],"toolChoice":{"tool":{"name":"f"}}}}`
	)
	protobuf := strings.NewReplacer("generationConfig", "generation_config", "maxOutputTokens", "max_output_tokens", "functionDeclarations", "function_declarations",
		"parametersJsonSchema", "parameters_json_schema", "toolConfig", "tool_config", "functionCallingConfig", "function_calling_config", "allowedFunctionNames", "allowed_function_names")
	for _, tt := range []struct {
		name, stream, whole, lines, body string
		want, cut                        string // cut is the output of a stream that the limit cuts off
	}{
		{"gemini call", geminiPath, "/v1/models/m:generateContent", "", gemini + calling, `f {"n":7,"ok":true}`, `{"n": 7, "ok":`},
		{"gemini call, names of protobuf", geminiPath, "/v1/models/m:generateContent", "", protobuf.Replace(gemini + calling), `f {"n":7,"ok":true}`, `{"n": 7, "ok":`},
		{"gemini schema", geminiPath, "/models/m:generateContent", "", gemini + `,"responseMimeType":"application/json","responseJsonSchema":` + schema + `}}`, `{"n": 7, "ok": true}`, `{"n": 7, "ok":`},
		{"gemini OpenAPI schema", geminiPath, "/models/m:generateContent", "", gemini + `,"responseMimeType":"application/json","responseSchema":` + openAPI + `}}`, `{"n": 7, "ok": true}`, `{"n": 7, "ok":`},
		{"converse call", "/model/m/converse-stream", "/model/m/converse", "messages", tool, `f {"n":7,"ok":true}`, `f {"n": 7, "ok":`},
		{"converse schema", "/model/m/converse-stream", "/model/m/converse", "messages",
			`{"messages":[{"content":[{"text":"a prompt"}]}],"inferenceConfig":{"maxTokens":%d},"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":` + jsontext.Quote(schema) + `}}}}}`, `{"n": 7, "ok": true}`, `{"n": 7, "ok":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ask := func(path, lines string, stream bool, limit, tokens int, sh shape.Shape) string {
				s := mustNew(t, Config{Shape: sh})
				w := call(s, "POST", path, fmt.Sprintf(tt.body, limit))
				if e := s.Log()[0]; w.Code != 200 || e.OutputTokens != tokens {
					t.Errorf("POST %s = %d %s, log %+v, want %d tokens", path, w.Code, w.Body, e, tokens)
				}
				return providerOutput(documents(t, w.Body.String(), lines, stream))
			}
			if got := ask(tt.whole, "", false, 50, 4, shape.Shape{}); got != tt.want {
				t.Errorf("whole: %s, want %s", got, tt.want)
			}
			if got := ask(tt.stream, tt.lines, true, 50, 4, shape.Shape{}); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(tt.want, " ", "") {
				t.Errorf("stream: %s, want %s", got, tt.want)
			}
			if got := ask(tt.stream, tt.lines, true, 3, 3, shape.Shape{}); got != tt.cut {
				t.Errorf("cut: %s, want %s", got, tt.cut)
			}
			if got := ask(tt.stream, tt.lines, true, 2, 2, shape.Shape{NoFormat: true}); got != " the quick" {
				t.Errorf("no formats: %s, want words", got)
			}
		})
	}
	for body, want := range map[string]string{
		`{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}}`: "tools: want functions with names",
		`{"contents":[{}],"generationConfig":{"responseMimeType":"application/json","responseSchema":{"pattern":"a"}}}`:                                          "generationConfig: unsupported schema",
	} {
		if w := call(mustNew(t, Config{}), "POST", geminiPath, body); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("POST %s = %d %s, want 400 with %s", body, w.Code, w.Body, want)
		}
	}
}

// providerOutput returns the output of Gemini or of the Converse API. A call is "name arguments".
func providerOutput(docs []map[string]any) (s string) {
	arguments := func(v any) {
		if v, ok := v.(map[string]any); ok {
			text, _ := json.Marshal(v)
			s += string(text)
		}
	}
	for _, d := range docs {
		part := lookup(d, "candidates", 0, "content", "parts", 0)
		if part == nil {
			part = lookup(d, "output", "message", "content", 0)
		}
		for _, f := range []any{lookup(part, "functionCall"), lookup(part, "toolUse"), lookup(d, "start", "toolUse")} {
			if name := str(lookup(f, "name")); name != "" {
				s += name + " "
			}
			arguments(lookup(f, "args"))
			arguments(lookup(f, "input"))
		}
		s += str(lookup(part, "text")) + str(lookup(d, "delta", "text")) + str(lookup(d, "delta", "toolUse", "input"))
	}
	return s
}
