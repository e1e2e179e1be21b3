package ask

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

// bodies are requests as the documentation of each API writes them. They all say the same, as far as the API can.
var bodies = map[string]string{
	"openai-chat": `{"model":"m","messages":[
		{"role":"developer","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"x\": 1}"}},{"id":"call_2","type":"function","function":{"name":"ask","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"call_2","content":"yes"},
		{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"a cat"}]}],
		"tools":[{"type":"function","function":{"name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"integer"}}}}}],
		"tool_choice":{"type":"function","function":{"name":"look"}},"max_completion_tokens":9,"temperature":0.5,"stop":"END","stream":true}`,
	"openai-responses": `{"model":"m","instructions":"Be brief.","input":[
		{"role":"user","content":[{"type":"input_text","text":"What is this?"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
		{"type":"function_call","call_id":"call_1","name":"look","arguments":"{\"x\":1}"},{"type":"function_call","call_id":"call_2","name":"ask","arguments":"{}"},
		{"type":"function_call_output","call_id":"call_2","output":"yes"},{"type":"function_call_output","call_id":"call_1","output":"a cat"}],
		"tools":[{"type":"function","name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"integer"}}}}],
		"tool_choice":{"type":"function","name":"look"},"max_output_tokens":9,"temperature":0.5,"stream":true}`,
	"anthropic-messages": `{"model":"m","system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[
		{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{"x":1}},{"type":"tool_use","id":"toolu_2","name":"ask","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"yes"},{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"a cat"}]}]}],
		"tools":[{"name":"look","description":"looks","input_schema":{"type":"object","properties":{"x":{"type":"integer"}}}}],
		"tool_choice":{"type":"tool","name":"look"},"max_tokens":9,"temperature":0.5,"stop_sequences":["END"],"stream":true}`,
	"bedrock-converse": `{"system":[{"text":"Be brief."}],"messages":[
		{"role":"user","content":[{"text":"What is this?"},{"image":{"format":"png","source":{"bytes":"AAAA"}}}]},
		{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"look","input":{"x":1}}},{"toolUse":{"toolUseId":"t2","name":"ask","input":{}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"t2","content":[{"text":"yes"}],"status":"success"}},{"toolResult":{"toolUseId":"t1","content":[{"json":{"seen":"a cat"}}]}}]}],
		"toolConfig":{"tools":[{"toolSpec":{"name":"look","description":"looks","inputSchema":{"json":{"type":"object","properties":{"x":{"type":"integer"}}}}}}],"toolChoice":{"tool":{"name":"look"}}},
		"inferenceConfig":{"maxTokens":9,"temperature":0.5,"stopSequences":["END"]}}`,
	"gemini": `{"system_instruction":{"parts":[{"text":"Be brief."}]},"contents":[
		{"role":"user","parts":[{"text":"What is this?"},{"inline_data":{"mime_type":"image/png","data":"AAAA"}}]},
		{"role":"model","parts":[{"functionCall":{"name":"look","args":{"x":1}}},{"functionCall":{"name":"ask","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"ask","response":{"result":"yes"}}},{"functionResponse":{"name":"look","response":{"output":"a cat"}}}]}],
		"tools":[{"functionDeclarations":[{"name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"integer"}}}}]}],
		"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}},
		"generationConfig":{"maxOutputTokens":9,"temperature":0.5,"stopSequences":["END"]}}`,
	"cohere": `{"model":"m","messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
		{"role":"assistant","tool_plan":"I look.","tool_calls":[{"id":"look_1","type":"function","function":{"name":"look","arguments":"{\"x\":1}"}},{"id":"ask_1","type":"function","function":{"name":"ask","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"ask_1","content":"yes"},
		{"role":"tool","tool_call_id":"look_1","content":[{"type":"document","document":{"data":"a cat"}}]}],
		"tools":[{"type":"function","function":{"name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"integer"}}}}}],
		"tool_choice":"REQUIRED","max_tokens":9,"temperature":0.5,"stop_sequences":["END"],"stream":true}`,
	"ollama": `{"model":"m","messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":"What is this?","images":["AAAA"]},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"x":1}}},{"function":{"name":"ask","arguments":{}}}]},
		{"role":"tool","tool_name":"ask","content":"yes"},{"role":"tool","tool_name":"look","content":"a cat"}],
		"tools":[{"type":"function","function":{"name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"integer"}}}}}],
		"options":{"num_predict":9,"temperature":0.5,"stop":["END"]}}`,
	"openai-completions": `{"model":"m","prompt":"What is this?","max_tokens":9,"temperature":0.5,"stop":["END"],"stream":true}`,
}

// said is what the bodies say.
func said() Request {
	return Request{
		System: "Be brief.",
		Turns: []Turn{
			{Role: User, Kind: Text, Text: "What is this?"},
			{Role: User, Kind: Image, Name: "image/png", Text: "AAAA"},
			{Role: Assistant, Kind: Call, Name: "look", Text: `{"x":1}`, ID: "0"},
			{Role: Assistant, Kind: Call, Name: "ask", Text: `{}`, ID: "1"},
			{Role: User, Kind: Result, Text: "yes", ID: "1"},
			{Role: User, Kind: Result, Text: "a cat", ID: "0"},
		},
		Tools:  []Tool{{"look", "looks", `{"properties":{"x":{"type":"integer"}},"type":"object"}`}},
		Choice: "look", MaxTokens: 9, Temperature: 0.5, Stop: []string{"END"}, Stream: true,
	}
}

// within returns what an API can say of a request.
func within(name string, r Request) Request {
	if Lacks(name, Chat) {
		r.System, r.Turns = "", r.Turns[:1]
	}
	if Lacks(name, Tools) {
		r.Tools = nil
	}
	if Lacks(name, NamedTool) && r.Choice != "" {
		r.Choice = AnyTool
	}
	if Lacks(name, Choices) {
		r.Choice = ""
	}
	if Lacks(name, Stops) {
		r.Stop = nil
	}
	if name == "ollama" {
		r.Turns[1].Name = "" // an image has no media type
	}
	return r
}

// paths are paths of streams.
var paths = map[string]string{"gemini": "/v1beta/models/m:streamGenerateContent?alt=sse", "bedrock-converse": "/model/m/converse-stream", "bedrock-invoke": "/model/m/invoke-with-response-stream"}

// TestRead reads requests as they are documented.
func TestRead(t *testing.T) {
	for name, body := range bodies {
		got, err := Read(name, paths[name], []byte(body))
		assert.NilError(t, err, name)
		assert.Equal(t, cmp.Diff(within(name, said()), got), "", name)
	}
}

// TestRoundTrip writes requests, and reads them.
func TestRoundTrip(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(apis)) {
		want := within(name, said())
		got, err := Read(name, paths[name], Write(name, want))
		assert.NilError(t, err, name)
		assert.Equal(t, cmp.Diff(want, got), "", name)
	}
}

// TestOf checks that the paths of gateways and of their upstreams are known.
func TestOf(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions": "openai-chat", "/openai/deployments/m/chat/completions?api-version=1": "openai-chat", "/v1/completions": "openai-completions",
		"/v1/responses": "openai-responses", "/v1/messages": "anthropic-messages", "/v1beta/models/m:generateContent?key=k": "gemini", "/v2/chat": "cohere",
		"/model/m/converse": "bedrock-converse", "/model/m/invoke": "bedrock-invoke", "/api/chat": "ollama", "/v1/embeddings": "", "/": "",
	} {
		assert.Equal(t, Of(path), want, path)
	}
}

// TestResultOfNoCall checks that a result is told that belongs to no call.
func TestResultOfNoCall(t *testing.T) {
	r, err := Read("openai-chat", "", []byte(`{"messages":[{"role":"tool","tool_call_id":"call_9","content":"x"}]}`))
	assert.NilError(t, err)
	assert.Equal(t, r.Turns[0].ID, "?")
	_, err = Read("gemini", "", []byte(`{`))
	assert.ErrorContains(t, err, "gemini: ")
}

// FuzzRead checks that Read returns for any body, and gives each result a position.
func FuzzRead(f *testing.F) {
	names := slices.Sorted(maps.Keys(apis))
	for i, name := range names {
		f.Add(byte(i), bodies[name])
	}
	f.Fuzz(func(t *testing.T, i byte, body string) {
		name := names[int(i)%len(names)]
		if r, err := Read(name, paths[name], []byte(body)); err == nil {
			for _, turn := range r.Turns {
				if turn.Kind == Result && turn.ID == "" {
					t.Errorf("%+v has no position", turn)
				}
			}
		}
	})
}
