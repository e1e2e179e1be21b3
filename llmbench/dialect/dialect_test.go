package dialect

import (
	"errors"
	"strings"
	"testing"
)

func TestBody(t *testing.T) {
	free := Query{Model: "m", Prompt: "hi", MaxTokens: 5}
	fixed := Query{Model: "m", Prompt: "hi", MaxTokens: 5, FixedOutput: true, Stream: true}
	chat := []Message{{"system", "be brief"}, {"user", "hi"}}
	for _, c := range []struct {
		d    Dialect
		q    Query
		want string // the body, or the message of the error
	}{
		{OpenAIChat{}, Query{Model: "m", Prompt: "hi", MaxTokens: 5, Stream: true},
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}`},
		{OpenAIChat{}, Query{Messages: chat, MaxTokens: 5, FixedOutput: true},
			`{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"max_tokens":5,"min_tokens":5,"ignore_eos":true,"temperature":0,"stream":false}`},
		{OpenAICompletions{}, Query{Model: "m", Prompt: "hi", MaxTokens: 5, FixedOutput: true, Stream: true},
			`{"model":"m","prompt":"hi","max_tokens":5,"min_tokens":5,"ignore_eos":true,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}`},
		{OpenAIResponses{}, fixed, `{"model":"m","input":[{"role":"user","content":"hi"}],"max_output_tokens":5,"min_tokens":5,"ignore_eos":true,"temperature":0,"store":false,"stream":true}`},
		{OpenAIResponses{}, Query{Messages: []Message{{"user", "hi"}, {"assistant", "ho"}, {"user", "hm"}}, MaxTokens: 5},
			`{"input":[{"role":"user","content":"hi"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ho"}]},{"role":"user","content":"hm"}],"max_output_tokens":5,"temperature":0,"store":false,"stream":false}`},
		{TGI{}, fixed, `{"inputs":"hi","parameters":{"max_new_tokens":5,"do_sample":false,"details":true}}`},
		{LlamaCPP{}, fixed, `{"prompt":"hi","n_predict":5,"ignore_eos":true,"temperature":0,"stream":true}`},
		{LlamaCPP{}, free, `{"prompt":"hi","n_predict":5,"temperature":0,"stream":false}`},
		{Ollama{}, fixed, `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":5,"temperature":0,"seed":0}}`},
		{OllamaGenerate{}, free, `{"model":"m","prompt":"hi","raw":true,"stream":false,"options":{"num_predict":5,"temperature":0,"seed":0}}`},
		{SGLang{}, fixed, `{"text":"hi","sampling_params":{"max_new_tokens":5,"min_new_tokens":5,"ignore_eos":true,"temperature":0},"stream":true}`},
		{SGLang{}, free, `{"text":"hi","sampling_params":{"max_new_tokens":5,"temperature":0},"stream":false}`},
		{LMDeploy{}, fixed, `{"prompt":"hi","max_tokens":5,"ignore_eos":true,"temperature":0,"stream":true}`},
		{Triton{}, fixed, `{"text_input":"hi","max_tokens":5,"min_length":5,"end_id":-1,"temperature":0,"stream":true}`},
		{Triton{}, free, `{"text_input":"hi","max_tokens":5,"temperature":0,"stream":false}`},
		{VLLMDemo{}, fixed, `{"prompt":"hi","max_tokens":5,"min_tokens":5,"ignore_eos":true,"temperature":0,"stream":true}`},
		{MindIEInfer{}, fixed, `{"inputs":"hi","parameters":{"max_new_tokens":5,"do_sample":false,"details":true},"stream":true}`},
		{MindIEVLLM{}, fixed, `{"prompt":"hi","max_tokens":5,"ignore_eos":true,"temperature":0,"stream":true}`},
		{AnthropicMessages{}, fixed, `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":true}`},
		{AnthropicMessages{}, Query{Messages: chat, MaxTokens: 5}, `{"system":"be brief","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false}`},
		{Gemini{}, fixed, `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":5,"temperature":0}}`},
		{Vertex{}, Query{Messages: []Message{{"system", "be brief"}, {"user", "hi"}, {"assistant", "ho"}}, MaxTokens: 5},
			`{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"ho"}]}],"generationConfig":{"maxOutputTokens":5,"temperature":0}}`},
		{BedrockConverse{}, fixed, `{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":5,"temperature":0}}`},
		{BedrockConverse{}, Query{Messages: chat, MaxTokens: 5}, `{"system":[{"text":"be brief"}],"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":5,"temperature":0}}`},
		{BedrockInvoke{}, fixed, `{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0}`},
		{Cohere{}, fixed, `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":true}`},
		{Cohere{}, Query{Messages: chat, MaxTokens: 5}, `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"max_tokens":5,"temperature":0,"stream":false}`},
		{OpenAIChat{}, Query{Prompt: "hi"}, "openai-chat: max tokens 0: want at least 1"},
		{OpenAICompletions{}, Query{Messages: chat, MaxTokens: 5}, "openai-completions: a conversation of 2 messages; only a prompt can be sent"},
	} {
		body, err := c.d.Body(c.q)
		got := string(body)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s.Body(%+v) = %s; want %s", c.d.Name(), c.q, got, c.want)
		}
	}
}

// TestBodyErrors checks that every dialect refuses a query without output, and that
// the dialects without conversations refuse a conversation.
func TestBodyErrors(t *testing.T) {
	chats := map[string]bool{"openai-chat": true, "openai-responses": true, "ollama": true, "anthropic-messages": true,
		"gemini": true, "vertex": true, "bedrock-converse": true, "bedrock-invoke": true, "cohere": true}
	for _, d := range dialects {
		if body, err := d.Body(Query{Prompt: "hi"}); err == nil || !strings.Contains(err.Error(), "max tokens 0") {
			t.Errorf("%s.Body() without output = %s, %v; want an error", d.Name(), body, err)
		}
		q := Query{Messages: []Message{{"system", "be brief"}, {"user", "hi"}}, MaxTokens: 5}
		if body, err := d.Body(q); (err == nil) != chats[d.Name()] || err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s.Body() of a conversation = %s, %v", d.Name(), body, err)
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ name, stream, whole string }{
		{"openai-chat", "/v1/chat/completions", "/v1/chat/completions"},
		{"openai-completions", "/v1/completions", "/v1/completions"},
		{"openai-responses", "/v1/responses", "/v1/responses"},
		{"tgi", "/generate_stream", "/generate"},
		{"llamacpp", "/completion", "/completion"},
		{"ollama", "/api/chat", "/api/chat"},
		{"ollama-generate", "/api/generate", "/api/generate"},
		{"sglang", "/generate", "/generate"},
		{"lmdeploy", "/generate", "/generate"},
		{"triton", "/v2/models/ensemble/generate_stream", "/v2/models/ensemble/generate"},
		{"vllm-demo", "/generate", "/generate"},
		{"mindie-infer", "/infer", "/infer"},
		{"mindie-vllm", "/generate", "/generate"},
		{"anthropic-messages", "/v1/messages", "/v1/messages"},
		{"gemini", "/v1beta/models/a%20b:1:streamGenerateContent?alt=sse", "/v1beta/models/a%20b:1:generateContent"},
		{"vertex", "/models/a%20b:1:streamGenerateContent?alt=sse", "/models/a%20b:1:generateContent"},
		{"bedrock-converse", "/model/a%20b%3A1/converse-stream", "/model/a%20b%3A1/converse"},
		{"bedrock-invoke", "/model/a%20b%3A1/invoke-with-response-stream", "/model/a%20b%3A1/invoke"},
		{"cohere", "/v2/chat", "/v2/chat"},
	} {
		d, err := ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		model := "a b:1"
		if c.name == "triton" {
			model = ""
		}
		if stream, whole := d.Path(Query{Model: model, Stream: true}), d.Path(Query{Model: model}); stream != c.stream || whole != c.whole {
			t.Errorf("%s.Path() = %s, %s; want %s, %s", c.name, stream, whole, c.stream, c.whole)
		}
	}
}

// A model of Google with a slash is the whole name of a resource.
func TestGeminiResource(t *testing.T) {
	if got, want := (Gemini{}).Path(Query{Model: "tunedModels/x y"}), "/v1beta/tunedModels/x%20y:generateContent"; got != want {
		t.Errorf("Path() = %s; want %s", got, want)
	}
}

func TestByName(t *testing.T) {
	for _, name := range Names() {
		if d, err := ByName(name); err != nil || d.Name() != name {
			t.Errorf("ByName(%q) = %v, %v", name, d, err)
		}
	}
	for name, known := range aliases {
		if d, err := ByName(name); err != nil || d.Name() != known {
			t.Errorf("ByName(%q) = %v, %v; want %s", name, d, err, known)
		}
	}
	if _, err := ByName("soap"); err == nil || !strings.Contains(err.Error(), `"soap" is none of openai-chat`) {
		t.Errorf("ByName(soap) = %v; want an error that lists the dialects", err)
	}
}
