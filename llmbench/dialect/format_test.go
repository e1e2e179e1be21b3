package dialect

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestFormatBodies checks the body of each dialect for a query with a tool and for
// a query with a schema.
func TestFormatBodies(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	call := Query{Prompt: "hi", MaxTokens: 5, Tools: []Tool{{"f", "does", schema}}}
	format := Query{Prompt: "hi", MaxTokens: 5, Schema: schema}
	type bodies struct{ call, format string }
	google := bodies{
		`{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":5,"temperature":0},"tools":[{"functionDeclarations":[{"name":"f","description":"does","parametersJsonSchema":{"type":"object"}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`,
		`{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":5,"temperature":0,"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}}`}
	want := map[string]bodies{
		"gemini": google, "vertex": google,
		"bedrock-converse": {`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":5,"temperature":0},"toolConfig":{"tools":[{"toolSpec":{"name":"f","description":"does","inputSchema":{"json":{"type":"object"}}}}],"toolChoice":{"any":{}}}}`,
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":5,"temperature":0},"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\"}","name":"answer"}}}}}`},
		"bedrock-invoke": {
			`{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"tools":[{"name":"f","description":"does","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}}`,
			`{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`},
		"openai-chat": {
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false,"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object"}}}],"tool_choice":"required"}`,
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}}`},
		"openai-responses": {
			`{"input":[{"role":"user","content":"hi"}],"max_output_tokens":5,"temperature":0,"store":false,"stream":false,"tools":[{"type":"function","name":"f","description":"does","parameters":{"type":"object"}}],"tool_choice":"required"}`,
			`{"input":[{"role":"user","content":"hi"}],"max_output_tokens":5,"temperature":0,"store":false,"stream":false,"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object"}}}}`},
		"ollama": {
			`{"messages":[{"role":"user","content":"hi"}],"stream":false,"options":{"num_predict":5,"temperature":0,"seed":0},"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object"}}}]}`,
			`{"messages":[{"role":"user","content":"hi"}],"stream":false,"options":{"num_predict":5,"temperature":0,"seed":0},"format":{"type":"object"}}`},
		"anthropic-messages": {
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false,"tools":[{"name":"f","description":"does","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}}`,
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`},
		"cohere": {
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false,"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object"}}}],"tool_choice":"REQUIRED"}`,
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false,"response_format":{"type":"json_object","json_schema":{"type":"object"}}}`},
		"ollama-generate": {"", `{"prompt":"hi","raw":true,"stream":false,"options":{"num_predict":5,"temperature":0,"seed":0},"format":{"type":"object"}}`},
		"llamacpp":        {"", `{"prompt":"hi","n_predict":5,"temperature":0,"stream":false,"json_schema":{"type":"object"}}`},
	}
	for _, d := range dialects {
		for _, c := range []struct {
			q    Query
			want string
		}{{call, want[d.Name()].call}, {format, want[d.Name()].format}} {
			body, err := d.Body(c.q)
			if string(body) != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s.Body(%+v) = %s, %v; want %s", d.Name(), c.q, body, err, c.want)
			}
		}
	}
}

// TestFormatErrors checks queries that are invalid for every dialect.
func TestFormatErrors(t *testing.T) {
	schema := json.RawMessage(`{}`)
	tools := []Tool{{Name: "f", Parameters: schema}}
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Tools: tools, Schema: schema}, "openai-chat: both tools and a schema; at most one of them is allowed"},
		{Query{Tools: tools, FixedOutput: true}, "openai-chat: a fixed output with tools or a schema; a formatted answer ends where its format is complete"},
		{Query{Schema: json.RawMessage("{")}, `openai-chat: the schema is not JSON: "{"`},
		{Query{Tools: []Tool{{Parameters: schema}}}, `openai-chat: tool 0 has name "" and parameters "{}": want a name and a JSON schema`},
		{Query{Tools: []Tool{{Name: "f"}}}, `openai-chat: tool 0 has name "f" and parameters "": want a name and a JSON schema`},
	} {
		c.q.Prompt, c.q.MaxTokens = "hi", 5
		if body, err := (OpenAIChat{}).Body(c.q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("OpenAIChat.Body(%+v) = %s, %v; want %s", c.q, body, err, c.want)
		}
	}
}
