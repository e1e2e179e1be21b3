package mockserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// formatBodies are requests for a call of f and for an instance of a schema. %d is the token limit,
// and %t says whether to stream.
var formatBodies = []struct {
	name, path, body string
	read             func(docs []map[string]any) string
}{
	{"chat/tool", chatPath, `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":%t,"tools":[{"type":"function","function":{"name":"g"}},{"type":"function","function":{"name":"f","parameters":SCHEMA}}],"tool_choice":{"type":"function","function":{"name":"f"}}}`, chatCall},
	{"chat/schema", chatPath, `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":%t,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":SCHEMA}}}`, func(d []map[string]any) string { s, _ := readOpenAI(d); return s }},
	{"responses/tool", "/v1/responses", `{"input":"a prompt","max_output_tokens":%d,"stream":%t,"tools":[{"type":"function","name":"f","parameters":SCHEMA}],"tool_choice":"required"}`, responseCall},
	{"responses/schema", "/v1/responses", `{"input":"a prompt","max_output_tokens":%d,"stream":%t,"text":{"format":{"type":"json_schema","name":"x","schema":SCHEMA}}}`, responseText},
	{"ollama/tool", "/api/chat", `{"messages":[{"content":"a prompt"}],"options":{"num_predict":%d},"stream":%t,"tools":[{"type":"function","function":{"name":"f","parameters":SCHEMA}}]}`, ollamaCall},
	{"ollama/schema", "/api/chat", `{"messages":[{"content":"a prompt"}],"options":{"num_predict":%d},"stream":%t,"format":SCHEMA}`, ollamaText},
	{"anthropic/tool", "/v1/messages", `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":%t,"tools":[{"name":"g"},{"name":"f","input_schema":SCHEMA}],"tool_choice":{"type":"tool","name":"f"}}`, anthropicCall},
	{"anthropic/schema", "/v1/messages", `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":%t,"output_config":{"format":{"type":"json_schema","schema":SCHEMA}}}`, anthropicText},
	{"cohere/tool", "/v2/chat", `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":%t,"tools":[{"type":"function","function":{"name":"f","parameters":SCHEMA}}],"tool_choice":"REQUIRED"}`, cohereCall},
	{"cohere/schema", "/v2/chat", `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":%t,"response_format":{"type":"json_object","json_schema":SCHEMA}}`, cohereText},
	{"generate/schema", "/api/generate", `{"prompt":"a prompt","options":{"num_predict":%d},"stream":%t,"format":SCHEMA}`, ollamaText},
	{"llamacpp/schema", "/completion", `{"prompt":"a prompt","n_predict":%d,"stream":%t,"json_schema":SCHEMA}`, func(docs []map[string]any) (s string) {
		for _, d := range docs {
			s += str(d["content"])
		}
		return s
	}},
}

// chatCall returns a call as "name arguments".
func chatCall(docs []map[string]any) (s string) {
	for _, d := range docs {
		for _, where := range []string{"delta", "message"} {
			f := lookup(d, "choices", 0, where, "tool_calls", 0, "function")
			if name := str(lookup(f, "name")); name != "" {
				s += name + " "
			}
			s += str(lookup(f, "arguments"))
		}
	}
	return s
}

// responseOutput returns the output item of the given type, or nil if there is none.
func responseOutput(docs []map[string]any, kind string) (item any) {
	for _, d := range docs {
		if whole, ok := d["response"].(map[string]any); ok {
			d = whole
		}
		output, _ := d["output"].([]any)
		for _, o := range output {
			if lookup(o, "type") == kind {
				item = o
			}
		}
	}
	return item
}

func responseCall(docs []map[string]any) string {
	if f := responseOutput(docs, "function_call"); f != nil {
		return str(lookup(f, "name")) + " " + str(lookup(f, "arguments"))
	}
	return ""
}

func responseText(docs []map[string]any) string {
	return str(lookup(responseOutput(docs, "message"), "content", 0, "text"))
}

// anthropicCall returns a call as "name arguments". It spells arguments that are an object like a script.
func anthropicCall(docs []map[string]any) (s string) {
	for _, d := range docs {
		content, _ := d["content"].([]any)
		for _, b := range append(content, d["content_block"]) {
			if name := str(lookup(b, "name")); name != "" {
				s += name + " "
			}
			if input, ok := lookup(b, "input").(map[string]any); ok && len(input) > 0 {
				text, _ := json.Marshal(input)
				s += strings.NewReplacer(":", ": ", ",", ", ").Replace(string(text))
			}
		}
		s += str(lookup(d, "delta", "partial_json"))
	}
	return s
}

func anthropicText(docs []map[string]any) (s string) {
	for _, d := range docs {
		content, _ := d["content"].([]any)
		for _, b := range content {
			s += str(lookup(b, "text"))
		}
		s += str(lookup(d, "delta", "text"))
	}
	return s
}

// cohereCall returns a call as "name arguments".
func cohereCall(docs []map[string]any) (s string) {
	for _, d := range docs {
		for _, f := range []any{lookup(d, "delta", "message", "tool_calls", "function"), lookup(d, "message", "tool_calls", 0, "function")} {
			if name := str(lookup(f, "name")); name != "" {
				s += name + " "
			}
			s += str(lookup(f, "arguments"))
		}
	}
	return s
}

func cohereText(docs []map[string]any) (s string) {
	for _, d := range docs {
		s += str(lookup(d, "delta", "message", "content", "text"))
		content, _ := lookup(d, "message", "content").([]any)
		for _, part := range content {
			s += str(lookup(part, "text"))
		}
	}
	return s
}

func ollamaCall(docs []map[string]any) (s string) {
	for _, d := range docs {
		if f := lookup(d, "message", "tool_calls", 0, "function"); f != nil {
			text, _ := json.Marshal(lookup(f, "arguments"))
			s += str(lookup(f, "name")) + " " + string(text)
		}
		s += str(lookup(d, "message", "content"))
	}
	return s
}

func ollamaText(docs []map[string]any) (s string) {
	for _, d := range docs {
		s += str(lookup(d, "message", "content")) + str(d["response"])
	}
	return s
}

// TestFormats requests a call and an instance of a schema in each dialect. It checks the text, the
// number of tokens and the time of the last token. It does so too for outputs that the token limit
// or a fault cuts off, and for a server that ignores formats.
func TestFormats(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"},"ok":{"type":"boolean"}}}` // {"n": 7, "ok": true}
	for _, tt := range formatBodies {
		for _, c := range []struct {
			name  string
			cfg   Config
			limit int
			want  string
			n     int
		}{
			{"whole", Config{}, 50, `{"n": 7, "ok": true}`, 4},
			{"at the limit", Config{}, 4, `{"n": 7, "ok": true}`, 4},
			{"cut by the limit", Config{}, 3, `{"n": 7, "ok":`, 3},
			{"a fault", Config{Faults: []fault.Fault{{Kind: fault.Format, Every: 1}}}, 50, `{"n": 7, "ok":`, 3},
			{"no formats", Config{Shape: shape.Shape{NoFormat: true}}, 2, ` the quick`, 2},
			{"in two chunks", Config{Shape: shape.Shape{TokensPerChunk: 2}}, 50, `{"n": 7, "ok": true}`, 4},
			{"after reasoning", Config{Shape: shape.Shape{Reasoning: "reasoning", ReasoningTokens: 2}}, 50, `{"n": 7, "ok": true}`, 6},
		} {
			for _, stream := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/stream=%t", tt.name, c.name, stream), func(t *testing.T) {
					n, want := c.n, wantFormat(tt.name, c.name, c.want)
					if tt.name == "anthropic/tool" && !stream && !strings.HasSuffix(c.want, "}") && c.name != "no formats" {
						want = "f " // the input of an incomplete call is empty
					}
					if c.cfg.Shape.Reasoning != "" && (tt.path == "/api/generate" || tt.path == "/completion") {
						n -= 2 // only a chat has reasoning
					}
					synctest.Test(t, func(t *testing.T) {
						cfg := c.cfg
						cfg.TTFT, cfg.PerToken = time.Second, time.Second
						r := inMemory(t, cfg)
						body := strings.Replace(fmt.Sprintf(tt.body, c.limit, stream), "SCHEMA", schema, 1)
						lines := ""
						if strings.HasPrefix(tt.path, "/api/") {
							lines = "\n"
						}
						got := tt.read(documents(t, r.must(tt.path, body), lines, stream))
						if got != want {
							t.Errorf("%s has the text %q, want %q", body, got, want)
						}
						if e := r.only(); e.OutputTokens != n || e.Tokens[n-1]-e.Admitted != time.Duration(n)*time.Second {
							t.Errorf("Log()[0] = %+v, want %d tokens, a second each", e, n)
						}
					})
				})
			}
		}
	}
}

// wantFormat returns the text that the dialect's reader should find when the server sends json.
func wantFormat(dialect, name, json string) string {
	ollama := strings.HasPrefix(dialect, "ollama")
	switch {
	case !strings.HasSuffix(dialect, "/tool"):
		return json
	case name == "no formats" && !ollama:
		return "" // the answer is text
	case ollama && !strings.HasSuffix(json, "}"): // an incomplete call is text
		return json
	case ollama:
		json = strings.ReplaceAll(json, " ", "")
	}
	return "f " + json
}

// TestFormatFinish checks the finish reasons of a complete call and of a call that the token limit
// cuts off.
func TestFormatFinish(t *testing.T) {
	const body = `{"messages":[{"content":"a"}],"max_tokens":%d,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"}`
	r := onLoopback(t, Config{})
	for limit, want := range map[int]string{50: "tool_calls", 2: "length"} {
		docs := documents(t, r.must(chatPath, fmt.Sprintf(body, limit)), "", false)
		if got := str(lookup(docs[0], "choices", 0, "finish_reason")); got != want {
			t.Errorf("finish_reason with max_tokens %d is %q, want %q", limit, got, want)
		}
	}
}

func TestFormatErrors(t *testing.T) {
	r := onLoopback(t, Config{})
	for body, want := range map[string]string{
		`"tools":[{"type":"function"}],"tool_choice":"required"`:                            "tools: want functions with names",
		`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"name":"g"}`:  "tools: want functions with names, and a tool_choice that names one of them",
		`"response_format":{"type":"xml"}`:                                                  `response_format.type: \"xml\": want text, json_object or json_schema`,
		`"response_format":{"type":"json_schema","json_schema":{"schema":{"pattern":"a"}}}`: "response_format: unsupported schema",
		`"tools":7`: "cannot unmarshal number",
	} {
		status, text, err := r.read(chatPath, `{"messages":[{"content":"a"}],`+body+`}`)
		if err != nil || status != 400 || !strings.Contains(text, want) {
			t.Errorf("%s = %d, %s, %v, want 400 with %q", body, status, text, err, want)
		}
	}
	for _, body := range []string{
		`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`,
		`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto"`, `"tools":[{"type":"function","function":{"name":"f"}}]`, `"response_format":{"type":"text"}`, `"tools":[]`, `"tools":null`,
	} {
		docs := documents(t, r.must(chatPath, `{"messages":[{"content":"a"}],"max_tokens":2,`+body+`}`), "", false)
		if got, _ := readOpenAI(docs); got != " the quick" {
			t.Errorf("%s has the text %q, want words", body, got)
		}
	}
}

// TestCachedUsage checks the number of cached prompt tokens that an answer reports.
func TestCachedUsage(t *testing.T) {
	r := onLoopback(t, Config{Engine: &engine.Profile{MaxBatch: 1, PrefixCache: true, BlockTokens: 2}})
	r.must(chatPath, `{"messages":[{"content":"a b c d e"}],"max_tokens":2}`)
	for path, want := range map[string]string{chatPath: `"prompt_tokens_details":{"cached_tokens":4}`, "/v1/responses": `"input_tokens_details":{"cached_tokens":4}`, "/v1/messages": `"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":4`} {
		body := `{"messages":[{"content":"a b c d e"}],"max_tokens":2}`
		if path == "/v1/responses" {
			body = `{"input":"a b c d z","max_output_tokens":2}`
		}
		if got := r.must(path, body); !strings.Contains(got, want) {
			t.Errorf("%s answers %s, want %s", path, got, want)
		}
	}
}
