package about_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/about"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// A server answers the requests of its map, whose keys are method and path, and records all requests.
type server struct {
	answers map[string]string
	header  http.Header // of each answer
	mu      sync.Mutex
	asked   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.asked = append(s.asked, what)
	s.mu.Unlock()
	for name, values := range s.header {
		w.Header()[name] = values
	}
	answer, known := s.answers[what]
	if !known {
		http.Error(w, `{"detail":"Not Found"}`, http.StatusNotFound)
		return
	}
	io.WriteString(w, answer)
}

// models returns a list of models with the given entries.
func models(entries ...string) string {
	return `{"object":"list","data":[` + strings.Join(entries, ",") + `]}`
}

const (
	vllmModel = `{"id":"m","object":"model","created":1,"owned_by":"vllm","root":"/models/qwen","parent":null,"max_model_len":4096,"permission":[]}`
	vllmCache = "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=\"32\",enable_prefix_caching=\"%s\",engine=\"0\",num_gpu_blocks=\"99\"} 1.0\n"
	props     = `{"default_generation_settings":{"params":{"seed":1,"lora":%s},"n_ctx":2048},"total_slots":4,"model_alias":"m","model_ftype":"Q4_K - Medium","model_path":"/models/m.gguf","build_info":"b11312-5f3a2c1"}`
	workers   = `{"workers":[{"id":"1","url":"http://a","is_healthy":true},{"id":"2","url":"http://b","is_healthy":true}],"total":2}`
)

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name    string
		server  *server
		dialect dialect.Dialect
		want    map[string]string
		refuses int
		asked   int // the number of requests
	}{
		{"vLLM", &server{answers: map[string]string{"GET /v1/models": models(vllmModel), "GET /version": `{"version":"0.30.0"}`, "GET /metrics": fmt.Sprintf(vllmCache, "True")}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.30.0", "model-root": "/models/qwen", "context": "4096", "block-size": "32", "prefix-caching": "on"}, 4096, 3},
		{"vLLM with adapters and without a prefix cache", &server{answers: map[string]string{
			"GET /v1/models": models(vllmModel, `{"id":"sql","owned_by":"vllm","root":"/l","parent":"m","max_model_len":null}`, `{"id":"chat","owned_by":"vllm","root":"/k","parent":"m","max_model_len":null}`),
			"GET /version":   `{"version":"0.31.0"}`, "GET /metrics": fmt.Sprintf(vllmCache, "False")}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.31.0", "model-root": "/models/qwen", "context": "4096", "block-size": "32", "prefix-caching": "off", "lora": "chat, sql"}, 4096, 3},
		{"an adapter of vLLM", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"base","owned_by":"vllm","root":"/b","parent":null,"max_model_len":4096}`, `{"id":"m","owned_by":"vllm","root":"/l","parent":"base","max_model_len":null}`), "GET /version": `{"version":"0.30.0"}`}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.30.0", "model-root": "/l", "context": "4096", "lora": "m"}, 4096, 3},
		{"two engines of vLLM that differ", &server{answers: map[string]string{"GET /v1/models": models(vllmModel), "GET /version": `{"version":"0.30.0"}`, "GET /metrics": fmt.Sprintf(vllmCache, "True") + "vllm:cache_config_info{block_size=\"16\",enable_prefix_caching=\"True\",engine=\"1\"} 1.0\n"}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.30.0", "model-root": "/models/qwen", "context": "4096", "prefix-caching": "on"}, 4096, 3},
		{"vLLM behind a gateway that passes completions and the list on", &server{answers: map[string]string{
			"GET /v1/models": models(vllmModel), "POST /v1/chat/completions": `{"choices":[],"system_fingerprint":"vllm-0.28.0rc1.dev49+g9b4e83934-tp4-fdf314ae"}`}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.28.0rc1.dev49+g9b4e83934", "model-root": "/models/qwen", "context": "4096"}, 4096, 4},
		{"vLLM behind a gateway that passes only completions on", &server{answers: map[string]string{"POST /v1/chat/completions": `{"choices":[],"system_fingerprint":"vllm-0.30.0-fd94d8cd"}`}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.30.0"}, 0, 2},
		{"vLLM in llm-d", &server{header: http.Header{"X-Went-Into-Resp-Headers": {"true"}, "Server": {"envoy"}}, answers: map[string]string{"GET /v1/models": models(vllmModel), "GET /version": `{"version":"0.30.0"}`}}, nil,
			map[string]string{"server": "vLLM", "server-version": "0.30.0", "model-root": "/models/qwen", "context": "4096", "router": "endpoint picker (llm-d, Gateway API Inference Extension)"}, 4096, 3},
		{"llm-d's simulator", &server{header: http.Header{"Server": {"fasthttp"}}, answers: map[string]string{
			"GET /v1/models": models(`{"id":"m","owned_by":"vllm","root":"m","parent":null,"max_model_len":1024}`), "GET /metrics": "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"4096\"} 1\n"}}, nil,
			map[string]string{"server": "llm-d-inference-sim", "context": "1024", "block-size": "16"}, 1024, 3},
		{"SGLang", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"sglang","root":"m","parent":null,"max_model_len":8192}`),
			"GET /server_info": `{"version":"0.5.21","model_path":"/models/qwen","api_key":"key-of-the-server","page_size":1,"disable_radix_cache":false,"max_running_requests":64,"allow_auto_truncate":false}`}}, nil,
			map[string]string{"server": "SGLang", "server-version": "0.5.21", "model-root": "/models/qwen", "context": "8192", "block-size": "1", "prefix-caching": "on", "slots": "64", "auto-truncate": "off"}, 8192, 2},
		{"SGLang of 2025, which shortens prompts", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"sglang","root":"m","max_model_len":8192}`),
			"GET /get_server_info": `{"version":"0.4.6","page_size":1,"disable_radix_cache":true,"max_running_requests":null,"allow_auto_truncate":true}`}}, nil,
			map[string]string{"server": "SGLang", "server-version": "0.4.6", "context": "8192", "block-size": "1", "prefix-caching": "off", "auto-truncate": "on"}, 0, 4},
		{"SGLang's router", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"sglang","root":"m","max_model_len":8192}`),
			"GET /get_server_info": `{"version":"0.5.14","page_size":1,"disable_radix_cache":false}`, "GET /workers": workers}}, nil,
			map[string]string{"server": "SGLang", "server-version": "0.5.14", "context": "8192", "block-size": "1", "prefix-caching": "on", "router": "SGLang", "replicas": "2"}, 0, 4},
		{"llama.cpp", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"llamacpp","meta":{"n_ctx":2048}}`), "GET /props": fmt.Sprintf(props, "[]")}}, nil,
			map[string]string{"server": "llama.cpp", "server-version": "b11312-5f3a2c1", "model-root": "/models/m.gguf", "context": "2048", "slots": "4", "quantization": "Q4_K - Medium"}, 0, 2},
		{"llama.cpp with an adapter", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"llamacpp"}`), "GET /props": fmt.Sprintf(props, `[{"id":0,"scale":1.0}]`),
			"GET /lora-adapters": `[{"id":0,"path":"/l/sql.gguf","scale":1.0}]`}}, nil,
			map[string]string{"server": "llama.cpp", "server-version": "b11312-5f3a2c1", "model-root": "/models/m.gguf", "context": "2048", "slots": "4", "quantization": "Q4_K - Medium", "lora": "/l/sql.gguf"}, 0, 3},
		{"Dynamo", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"nvidia","context_window":0}`),
			"GET /health":  `{"status":"healthy","endpoints":["dyn://dynamo.backend.generate"],"instances":[{"component":"backend","endpoint":"generate","instance_id":7},{"component":"backend","endpoint":"generate","instance_id":8},{"component":"backend","endpoint":"load","instance_id":8}]}`,
			"GET /metrics": "# TYPE dynamo_frontend_model_max_num_seqs gauge\ndynamo_frontend_model_max_num_seqs{model=\"m\"} 32\ndynamo_frontend_model_max_num_seqs{model=\"other\"} 8\ndynamo_frontend_model_kv_cache_block_size{model=\"m\"} 16\ndynamo_frontend_model_context_length{model=\"m\"} 0\n"}}, nil,
			map[string]string{"server": "Dynamo", "replicas": "2", "slots": "32", "block-size": "16"}, 0, 3},
		{"Dynamo with separate prefill", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"nvidia"}`),
			"GET /health": `{"endpoints":["dyn://d.prefill.generate"],"instances":[{"component":"prefill","endpoint":"generate","instance_id":7},{"component":"decode","endpoint":"generate","instance_id":8},{"component":"decode","endpoint":"generate","instance_id":9}]}`}}, nil,
			map[string]string{"server": "Dynamo", "replicas": "decode=2 prefill=1"}, 0, 3},
		{"another server of NVIDIA", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"nvidia"}`), "GET /health": `{"status":"ok"}`}}, nil, map[string]string{}, 0, 2},
		{"Ollama", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m:latest","owned_by":"library"}`, `{"id":"other:latest","owned_by":"library"}`), "GET /api/version": `{"version":"0.35.1"}`,
			"GET /api/ps": `{"models":[{"name":"other:latest","context_length":1},{"name":"m:latest","context_length":4096,"digest":"27e7fba759a8dcab0123","details":{"quantization_level":"Q4_K_M"}}]}`}}, nil,
			map[string]string{"server": "Ollama", "server-version": "0.35.1", "context": "4096", "quantization": "Q4_K_M", "model-digest": "27e7fba759a8"}, 0, 3},
		{"TGI", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"m"}`), "GET /info": `{"model_id":"org/m","model_sha":"abc","max_total_tokens":2048,"version":"3.3.7"}`}}, nil,
			map[string]string{"server": "TGI", "server-version": "3.3.7", "model-root": "org/m", "model-commit": "abc", "context": "2048"}, 2048, 2},
		{"TEI", &server{answers: map[string]string{"GET /info": `{"model_id":"org/e","model_sha":null,"model_type":{"embedding":{"pooling":"cls"}},"max_input_length":512,"version":"1.9.3"}`}}, dialect.TEIEmbed{},
			map[string]string{"server": "TEI", "server-version": "1.9.3", "model-root": "org/e", "context": "512"}, 0, 2},
		{"Triton", &server{answers: map[string]string{"GET /v2": `{"name":"triton","version":"2.60.0"}`}}, dialect.Triton{}, map[string]string{"server": "Triton", "server-version": "2.60.0"}, 0, 2},
		{"TensorRT-LLM", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"tensorrt_llm"}`), "GET /version": `{"version":"1.2.1"}`}}, nil, map[string]string{"server": "TensorRT-LLM", "server-version": "1.2.1"}, 0, 2},
		{"a provider", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"system"}`, `{"id":"n","owned_by":"openai-internal"}`), "GET /version": `{"version":"9"}`}}, nil, map[string]string{}, 0, 1},
		{"a provider without a list", &server{answers: map[string]string{"POST /v1/chat/completions": `{"system_fingerprint":"fp_44709d6fcb"}`}}, nil, map[string]string{}, 0, 2},
		{"an API without fingerprints", &server{}, dialect.AnthropicMessages{}, map[string]string{}, 0, 1},
		{"pages", &server{answers: map[string]string{"GET /v1/models": "<html>", "POST /v1/chat/completions": "<html>"}}, nil, map[string]string{}, 0, 2},
		{"members of other types", &server{answers: map[string]string{"GET /v1/models": models(`{"id":"m","owned_by":"vllm","root":{},"parent":[],"max_model_len":"many"}`), "GET /version": `{"version":{"a":1}}`, "POST /v1/chat/completions": `{"system_fingerprint":7}`}}, nil,
			map[string]string{"server": "vLLM"}, 0, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(c.server)
			defer srv.Close()
			target := llmbench.Target{URL: srv.URL, Model: "m", Dialect: c.dialect}
			facts := about.Ask(t.Context(), target, metrics.Source{Names: metrics.Names{Path: "/metrics"}, Addresses: []metrics.Address{{Target: target}}})
			assert.DeepEqual(t, facts.Lines, c.want)
			assert.Equal(t, facts.Refuses, c.refuses)
			assert.Equal(t, facts.Silent, "")
			assert.Equal(t, len(c.server.asked), c.asked, "%q", c.server.asked)
		})
	}
}

// TestBody checks that no request is said to be too long if the target's Body may change its length.
func TestBody(t *testing.T) {
	srv := httptest.NewServer(&server{answers: map[string]string{"GET /v1/models": models(vllmModel), "GET /version": `{"version":"0.30.0"}`}})
	defer srv.Close()
	for body, want := range map[string]int{
		"": 4096, `{"temperature":0}`: 4096, `{"max_tokens":null}`: 0, `{"max_completion_tokens":8}`: 0, `{"truncate_prompt_tokens":-1}`: 0, `{"model":"other"}`: 0,
	} {
		facts := about.Ask(t.Context(), llmbench.Target{URL: srv.URL, Model: "m", Body: json.RawMessage(body)}, metrics.Source{})
		assert.Equal(t, facts.Refuses, want, body)
		assert.Equal(t, facts.Lines["context"], "4096")
	}
}

// TestSecrets checks that no line has a secret of this process, of a URL or of the server's arguments, and that no line is broken.
func TestSecrets(t *testing.T) {
	s := &server{answers: map[string]string{
		"GET /v1/models": models(`{"id":"m","owned_by":"sglang","root":"s3://user:password-of-s3@bucket/m?signature=signature-of-s3","max_model_len":1}`,
			`{"id":"a","parent":"m"}`, `{"id":"https://user:password-of-lora@host/b?signature=1","parent":"m"}`),
		"GET /server_info": `{"version":"0.5 key-of-the-user\nserver: other\u001b[2J","api_key":"key-of-the-server","max_running_requests":8}`,
	}}
	srv := httptest.NewServer(s)
	defer srv.Close()
	facts := about.Ask(t.Context(), llmbench.Target{URL: srv.URL, Model: "m", Header: http.Header{"Authorization": {"Bearer key-of-the-user"}}}, metrics.Source{})
	all, err := json.Marshal(facts)
	assert.NilError(t, err)
	for _, secret := range []string{"key-of", "password", "signature", "user"} {
		assert.Assert(t, !strings.Contains(string(all), secret), "%s", all)
	}
	assert.Equal(t, facts.Lines["model-root"], "s3://bucket/m")
	assert.Equal(t, facts.Lines["lora"], "a, https://host/b")
	for _, line := range facts.Lines {
		assert.Assert(t, !strings.ContainsAny(line, "\n\r\x1b"), "%q", line)
	}
}

// TestSilent checks that a server that leaves a question without an answer is asked no other, and that an interrupt ends the wait.
func TestSilent(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/models": "GET /v1/models: no answer in 5s", "/version": "GET /version: no answer in 5s", "/metrics": "metrics: no answer in 5s",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{answers: map[string]string{"GET /v1/models": models(vllmModel), "GET /version": `{"version":"0.30.0"}`, "GET /metrics": fmt.Sprintf(vllmCache, "True")}}
			ln := memnet.Listen()
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.ServeHTTP(w, r)
				if r.URL.Path == path {
					http.NewResponseController(w).Flush() // the answer has no end
					<-r.Context().Done()
				}
			})}
			go srv.Serve(ln)
			defer srv.Close()
			target := llmbench.Target{URL: "http://server", Model: "m", Dial: ln.Dial}
			began := time.Now()
			facts := about.Ask(t.Context(), target, metrics.Source{Names: metrics.Names{Path: "/metrics"}, Addresses: []metrics.Address{{Target: target}}})
			assert.Equal(t, facts.Silent, want)
			assert.Equal(t, time.Since(began), 5*time.Second)
			last := s.asked[len(s.asked)-1]
			assert.Assert(t, strings.HasSuffix(last, path), "%q", s.asked)
			assert.Equal(t, slices.Contains([]string{"/version", "/metrics"}, path), facts.Lines["server"] == "vLLM")
		})
	}
}

// TestGone checks a server that is not there: it has no facts, and nothing fails.
func TestGone(t *testing.T) {
	facts := about.Ask(t.Context(), llmbench.Target{URL: "http://127.0.0.1:1", Model: "m"}, metrics.Source{})
	assert.DeepEqual(t, facts, about.Facts{Lines: map[string]string{}})
}
