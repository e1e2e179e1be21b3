package mockserver

import (
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

const (
	tritonPath = "/v2/models/ensemble/generate"
	geminiPath = "/v1beta/models/m:streamGenerateContent?alt=sse"
)

// A dialectCase is a request for n tokens in a dialect, and a reader of the answer.
type dialectCase struct {
	name   string
	flavor wire.Flavor
	path   string
	body   string // with %d for the number of tokens
	stream bool
	lines  string // end of a document, or empty if documents are events
	// text returns the text in an answer's documents, and whether they contain the
	// dialect's end marker.
	text func(docs []map[string]any) (text string, ended bool)
}

// dialectCases has a streamed and a whole answer in each dialect.
var dialectCases = []dialectCase{
	{"chat", "", chatPath, `{"messages":[{"content":"a prompt"}],"max_tokens":%d,"stream":true,"stream_options":{"include_usage":true}}`, true, "", readOpenAI},
	{"chat-whole", "", chatPath, `{"messages":[{"content":"a prompt"}],"max_tokens":%d}`, false, "", readOpenAI},
	{"text", "", textPath, `{"prompt":"a prompt","max_tokens":%d,"stream":true}`, true, "", readOpenAI},
	{"text-whole", "", textPath, `{"prompt":"a prompt","max_tokens":%d}`, false, "", readOpenAI},
	{"responses", "", "/v1/responses", `{"model":"m","input":"a prompt","max_output_tokens":%d,"stream":true}`, true, "", readResponses},
	{"responses-whole", "", "/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a prompt"}]}],"max_output_tokens":%d}`, false, "", readResponses},
	{"anthropic", "", "/v1/messages", `{"model":"m","system":"a","messages":[{"role":"user","content":"prompt"}],"max_tokens":%d,"stream":true}`, true, "", readAnthropic},
	{"anthropic-whole", "", "/v1/messages", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a prompt"}]}],"max_tokens":%d}`, false, "", readAnthropic},
	{"gemini", "", geminiPath, `{"systemInstruction":{"parts":[{"text":"a"}]},"contents":[{"role":"user","parts":[{"text":"prompt"}]}],"generationConfig":{"maxOutputTokens":%d}}`, true, "", readGemini},
	{"gemini-whole", "", "/v1/projects/p/locations/l/publishers/google/models/m:generateContent", `{"contents":[{"parts":[{"text":"a prompt"}]}],"generationConfig":{"maxOutputTokens":%d}}`, false, "", readGemini},
	{"converse", "", "/model/m/converse-stream", `{"system":[{"text":"a"}],"messages":[{"role":"user","content":[{"text":"prompt"}]}],"inferenceConfig":{"maxTokens":%d}}`, true, "messages", readConverse},
	{"converse-whole", "", "/model/m/converse", `{"messages":[{"role":"user","content":[{"text":"a prompt"}]}],"inferenceConfig":{"maxTokens":%d}}`, false, "", readConverse},
	{"invoke", "", "/model/m/invoke-with-response-stream", `{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"a prompt"}],"max_tokens":%d}`, true, "chunks", readAnthropic},
	{"invoke-whole", "", "/model/arn:aws:bedrock:us-east-1:1:inference-profile/m/invoke", `{"messages":[{"role":"user","content":"a prompt"}],"max_tokens":%d}`, false, "", readAnthropic},
	{"cohere", "", "/v2/chat", `{"model":"m","messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"text","text":"prompt"}]}],"max_tokens":%d,"stream":true}`, true, "", readCohere},
	{"cohere-whole", "", "/v2/chat", `{"model":"m","messages":[{"role":"user","content":"a prompt"}],"max_tokens":%d}`, false, "", readCohere},
	{"tgi", "", "/generate_stream", `{"inputs":"a prompt","parameters":{"max_new_tokens":%d,"details":true}}`, true, "", readTGI},
	{"tgi-whole", "", "/generate", `{"inputs":"a prompt","parameters":{"max_new_tokens":%d,"details":true}}`, false, "", readTGI},
	{"llamacpp", "", "/completion", `{"prompt":"a prompt","n_predict":%d,"stream":true}`, true, "", readLlamacpp},
	{"llamacpp-whole", "", "/completion", `{"prompt":[1,2],"n_predict":%d}`, false, "", readLlamacpp},
	{"ollama-chat", "", "/api/chat", `{"model":"m","messages":[{"role":"user","content":"a prompt"}],"options":{"num_predict":%d}}`, true, "\n", readOllama},
	{"ollama-chat-whole", "", "/api/chat", `{"model":"m","messages":[{"role":"user","content":"a prompt"}],"stream":false,"options":{"num_predict":%d}}`, false, "", readOllama},
	{"ollama-generate", "", "/api/generate", `{"model":"m","prompt":"a prompt","options":{"num_predict":%d}}`, true, "\n", readOllama},
	{"ollama-generate-whole", "", "/api/generate", `{"model":"m","prompt":"a prompt","stream":false,"options":{"num_predict":%d}}`, false, "", readOllama},
	{"sglang", "", "/generate", `{"text":"a prompt","sampling_params":{"max_new_tokens":%d},"stream":true}`, true, "", readCumulative},
	{"sglang-whole", "", "/generate", `{"input_ids":[1,2],"sampling_params":{"max_new_tokens":%d}}`, false, "", readCumulative},
	{"lmdeploy", "", "/generate", `{"prompt":"a prompt","max_tokens":%d,"stream":true}`, true, "", readLMDeploy},
	{"lmdeploy-whole", wire.FlavorLMDeploy, "/generate", `{"input_ids":[1,2],"max_tokens":%d}`, false, "", readLMDeploy},
	{"vllm-demo", wire.FlavorVLLM, "/generate", `{"prompt":"a \"prompt\"","max_tokens":%d,"stream":true}`, true, "\n", readVLLMDemo},
	{"vllm-demo-whole", wire.FlavorVLLM, "/generate", `{"prompt":"a prompt","max_tokens":%d}`, false, "", readVLLMDemo},
	{"mindie-vllm", wire.FlavorMindIE, "/generate", `{"prompt":"a prompt","max_tokens":%d,"ignore_eos":true,"stream":true}`, true, "\x00", readMindIEVLLM},
	{"mindie-vllm-whole", wire.FlavorMindIE, "/generate", `{"prompt":"a prompt","max_tokens":%d}`, false, "", readMindIEVLLM},
	{"mindie-infer", "", "/infer", `{"inputs":"a prompt","parameters":{"max_new_tokens":%d,"details":true},"stream":true}`, true, "", readInfer},
	{"mindie-infer-whole", "", "/infer", `{"inputs":"a prompt","parameters":{"max_new_tokens":%d,"details":true}}`, false, "", readInfer},
	{"triton", "", tritonPath + "_stream", `{"text_input":"a prompt","max_tokens":%d,"stream":true}`, true, "", readTriton},
	{"triton-whole", "", "/v2/models/ensemble/versions/1/generate", `{"text_input":"a prompt","max_tokens":%d}`, false, "", readTriton},
}

// TestDialects compares bodies with golden files, and checks that their text is the requested
// output. A single request must get the same answer from a server with a fixed rate and from a
// server that batches.
func TestDialects(t *testing.T) {
	testDialects(t, Config{Model: "m", TTFT: time.Second, PerToken: time.Second / 10})
	testDialects(t, Config{Model: "m", Engine: &engine.Profile{Prefill: 1e6, Step: 1e5, MaxBatch: 1}})
}

func testDialects(t *testing.T, cfg Config) {
	for _, tt := range dialectCases {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.Flavor = tt.flavor
				r := inMemory(t, cfg)
				body := r.must(tt.path, fmt.Sprintf(tt.body, 4))
				golden(t, "dialect/"+tt.name+".txt", body)
				docs := documents(t, body, tt.lines, tt.stream)
				text, ended := tt.text(docs)
				if text != " the quick brown fox" {
					t.Errorf("the text is %q, want four words", text)
				}
				if could := tt.name != "vllm-demo" && tt.name != "mindie-vllm" && tt.name != "triton"; could && !ended && tt.stream {
					t.Errorf("%s has no end marker", body)
				}
				e, want := r.only(), ms(1000, 1100, 1200, 1300)
				if !tt.stream {
					want = ms(1300, 1300, 1300, 1300)
				}
				if !reflect.DeepEqual(e.Tokens, want) || e.Stream != tt.stream || e.PromptTokens != 2 || e.Status != 200 || e.Aborted {
					t.Errorf("Log()[0] = %+v, want tokens at %v after 2 of the prompt", e, want)
				}
			})
		})
	}
}

// TestDialectFinish checks the finish reason in each dialect.
func TestDialectFinish(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
		want             string // a part of the body
	}{
		{"tgi, end of text", "/generate_stream", `{"inputs":"a","parameters":{"max_new_tokens":9,"details":true}}`, `"details":{"finish_reason":"eos_token","generated_tokens":3`},
		{"tgi, stop", "/generate_stream", `{"inputs":"a","parameters":{"details":true,"stop":["brown"]}}`, `"details":{"finish_reason":"stop_sequence","generated_tokens":2`},
		{"tgi, nothing", "/generate_stream", `{"inputs":"a","parameters":{"details":true,"stop":["the"]}}`, `"special":true},"generated_text":"","details":{`},
		{"tgi, no details", "/generate_stream", `{"inputs":"a"}`, `"generated_text":" the quick brown","details":null}`},
		{"llama.cpp, end of text", "/completion", `{"prompt":"a"}`, `"stop_type":"eos","stopping_word":""`},
		{"llama.cpp, stop", "/completion", `{"prompt":"a","stop":["brown"],"stream":true}`, `"stop_type":"word","stopping_word":"brown"`},
		{"llama.cpp, no limit", "/completion", `{"prompt":"a","n_predict":-1,"ignore_eos":true}`, `"tokens_predicted":128,`},
		{"llama.cpp, prompt only", "/completion", `{"prompt":"a","n_predict":0,"stream":true}`, `data: {"index":0,"content":"","tokens":[],"id_slot":0,"stop":true`},
		{"Ollama, end of text", "/api/generate", `{"prompt":"a"}`, `"done_reason":"stop"`},
		{"Ollama, load", "/api/generate", `{"model":"m"}`, `"response":"","done":true,"done_reason":"load"}`},
		{"Ollama, load by chat", "/api/chat", `{"model":"m"}`, `"done":true,"done_reason":"load"}`},
		{"SGLang, end of text", "/generate", `{"text":"a"}`, `"finish_reason":{"type":"stop","matched":2}`},
		{"SGLang, stop", "/generate", `{"text":"a","sampling_params":{"stop":"brown"}}`, `"finish_reason":{"type":"stop","matched":"brown"}`},
		{"SGLang, min", "/generate", `{"text":"a","sampling_params":{"min_new_tokens":5}}`, `"completion_tokens":5`},
		{"LMDeploy, min", "/generate", `{"prompt":"a","min_new_tokens":5}`, `"completion_tokens":5`},
		{"LMDeploy, all", "/generate", `{"prompt":"a","ignore_eos":true}`, `"finish_reason":{"type":"length","length":128}`},
		{"Triton, min", tritonPath, `{"text_input":"a","min_length":4}`, `"text_output":" the quick brown fox"}`},
		{"Triton, parameters", tritonPath, `{"text_input":"a","parameters":{"max_tokens":1}}`, `"text_output":" the"}`},
		{"MindIE, end of text", "/infer", `{"inputs":"a","parameters":{"details":true}}`, `"details":{"finish_reason":"eos_token","generated_tokens":3,"generated_token_ids":[1000,1001,1002],"seed":null}}`},
		{"MindIE, no details", "/infer", `{"inputs":"a"}`, `{"generated_text":" the quick brown"}`},
		{"MindIE, stream, no details", "/infer", `{"inputs":"a","stream":true}`, `"generated_text":" the quick brown","details":null,"token":{"id":[1002],"text":null}}`},
		{"MindIE, nothing", "/infer", `{"inputs":"a","parameters":{"stop":"the"},"stream":true}`, `data: {"prefill_time":0,"decode_time":null,"generated_text":"","details":null,"token":{"id":[],"text":null}}`},
		{"Anthropic, end of text", "/v1/messages", `{"messages":[{"content":"a"}],"max_tokens":9}`, `"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":3}}`},
		{"Anthropic, stop", "/v1/messages", `{"messages":[{"content":"a"}],"max_tokens":9,"stop_sequences":["brown"],"stream":true}`, `"delta":{"stop_reason":"stop_sequence","stop_sequence":"brown"}`},
		{"Anthropic, nothing", "/v1/messages", `{"messages":[{"content":"a"}],"max_tokens":9,"stop_sequences":["the"],"stream":true}`, `data: {"type":"content_block_stop","index":0}`},
		{"Gemini, end of text", geminiPath, `{"contents":[{"parts":[{"text":"a"}]}]}`, `"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":3,"totalTokenCount":4}`},
		{"Gemini, nothing", geminiPath, `{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"stopSequences":["the"]}}`, `data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"`},
		{"Converse, end of text", "/model/m/converse", `{"messages":[{"content":[{"text":"a"}]}]}`, `"stopReason":"end_turn","usage":{"cacheReadInputTokens":0,"cacheWriteInputTokens":0,"inputTokens":1,"outputTokens":3,"totalTokens":4}`},
		{"Converse, stop", "/model/m/converse-stream", `{"messages":[{"content":[{"text":"a"}]}],"inferenceConfig":{"stopSequences":["brown"]}}`, `{"p":"abc","stopReason":"stop_sequence"}`},
		{"Converse, nothing", "/model/m/converse-stream", `{"messages":[{"content":[{"text":"a"}]}],"inferenceConfig":{"stopSequences":["the"]}}`, `"outputTokens":0`},
		{"Cohere, end of text", "/v2/chat", `{"messages":[{"content":"a"}]}`, `"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":1,"output_tokens":3},"tokens":{"input_tokens":1,"output_tokens":3},"cached_tokens":0}}`},
		{"Cohere, stop", "/v2/chat", `{"messages":[{"content":"a"}],"stop_sequences":["brown"],"stream":true}`, `"delta":{"finish_reason":"STOP_SEQUENCE",`},
		{"Cohere, nothing", "/v2/chat", `{"messages":[{"content":"a"}],"stop_sequences":["the"],"stream":true}`, `data: {"type":"content-end","index":0}`},
		{"Cohere, a call is optional", "/v2/chat", `{"messages":[{"content":"a"}],"tools":[{"type":"function","function":{"name":"f"}}],"response_format":{"type":"text"}}`, `"content":[{"type":"text","text":" the quick brown"}]`},
		{"responses, end of text", "/v1/responses", `{"input":"a","stream":true}`, `event: response.completed`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := call(mustNew(t, Config{OutputTokens: 3}), "POST", tt.path, tt.body)
			if w.Code != 200 || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("POST %s %s = %d %s, want it with %s", tt.path, tt.body, w.Code, w.Body, tt.want)
			}
		})
	}
}

// TestDialectErrors checks the answer to a bad request in each dialect.
func TestDialectErrors(t *testing.T) {
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/generate_stream", `{}`, 422, `{"error":"inputs: missing or not a string: want a string","error_type":"validation"}`},
		{"/generate_stream", `{"inputs":"a","parameters":{"max_new_tokens":0}}`, 422, `{"error":"max_new_tokens: 0: want 1 to 1048576","error_type":"validation"}`},
		{"/generate", `{`, 400, `{"object":"error","message":"body: unexpected end of JSON input","type":"BadRequestError","param":null,"code":400}`},
		{"/generate", `{}`, 400, `{"object":"error","message":"text: missing: want a string or an array of token ids","type":"BadRequestError","param":"text","code":400}`},
		{"/generate", `{"prompt":7}`, 400, `{"object":"error","message":"prompt: want a string, an array of one string or an array of token ids","type":"BadRequestError","param":"prompt","code":400}`},
		{"/completion", `{"prompt":"a","n_predict":1048577}`, 400, `{"error":{"code":400,"message":"n_predict: 1048577: want 0 to 1048576","type":"invalid_request_error"}}`},
		{"/api/chat", `{"messages":[{"content":3}]}`, 400, `{"error":"messages[0].content: want a string or an array of parts"}`},
		{"/infer", `{}`, 422, `{"error":"inputs: missing or not a string: want a string","error_type":"Input Validation Error"}`},
		{tritonPath, `{}`, 400, `{"error":"text_input: missing: want a string"}`},
		{"/v1/messages", `{"messages":[{"content":"a"}]}`, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: missing: want 1 to 1048576"},"request_id":null}`},
		{geminiPath, `{}`, 400, `{"error":{"code":400,"message":"contents: missing or empty: want at least one","status":"INVALID_ARGUMENT"}}`},
		{"/v1beta/models/m:countTokens", `{}`, 404, `{"error":{"message":"path /v1beta/models/m:countTokens: not found","type":"NotFoundError","param":null,"code":404}}`},
		{"/model/m/converse-stream", `{}`, 400, `{"__type":"ValidationException","message":"messages: missing or empty: want at least one"}`},
		{"/model/m/invoke", `{"messages":[{"content":"a"}]}`, 400, `{"__type":"ValidationException","message":"max_tokens: missing: want 1 to 1048576"}`},
		{"/model/m/count-tokens", `{}`, 404, `{"error":{"message":"path /model/m/count-tokens: not found","type":"NotFoundError","param":null,"code":404}}`},
		{"/v2/chat", `{}`, 400, `{"message":"messages: missing or empty: want at least one"}`},
		{"/v2/chat", `{"messages":[{"content":"a"}],"max_tokens":0}`, 400, `{"message":"max_tokens: 0: want 1 to 1048576"}`},
		{"/v2/chat", `{"messages":[{"content":"a"}],"tool_choice":"REQUIRED"}`, 400, `{"message":"tools: want functions with names, because tool_choice is REQUIRED"}`},
		{"/v2/chat", `{"messages":[{"content":"a"}],"tool_choice":"required"}`, 400, `{"message":"tool_choice: \"required\": want REQUIRED or NONE"}`},
		{"/v2/chat", `{"messages":[{"content":"a"}],"response_format":{"type":"json_schema"}}`, 400, `{"message":"response_format.type: \"json_schema\": want text or json_object"}`},
		{"/v1/responses", `{}`, 400, `{"error":{"message":"input: missing: want a string or an array of items","type":"BadRequestError","param":"input","code":400}}`},
		{"/v1/responses", `{"input":3}`, 400, `{"error":{"message":"input: want a string or an array of items","type":"BadRequestError","param":"input","code":400}}`},
		{"/v2/models//generate", `{}`, 404, `{"error":{"message":"path /v2/models//generate: not found","type":"NotFoundError","param":null,"code":404}}`},
	} {
		w := call(mustNew(t, Config{}), "POST", tt.path, tt.body)
		if w.Code != tt.status || w.Body.String() != tt.want {
			t.Errorf("POST %s %s = %d %s, want %d %s", tt.path, tt.body, w.Code, w.Body, tt.status, tt.want)
		}
	}
}

// The model in Triton's path is the model in the answer.
func TestTritonModel(t *testing.T) {
	w := httptest.NewRecorder()
	mustNew(t, Config{}).ServeHTTP(w, httptest.NewRequest("POST", "/v2/models/tiny/generate", strings.NewReader(`{"text_input":"a"}`)))
	if !strings.HasPrefix(w.Body.String(), `{"model_name":"tiny",`) {
		t.Errorf("the answer of tiny = %s", w.Body)
	}
}
