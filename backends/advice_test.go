package backends_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A route answers requests with a method and a path.
type route struct {
	status int
	body   string
}

// routed starts a server with the given routes. Where another method has the path, it answers with status 405, and
// elsewhere with status 404 and the text lost.
func routed(t *testing.T, lost string, routes map[string]route) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if found, ok := routes[r.Method+" "+r.URL.Path]; ok {
			w.WriteHeader(found.status)
			fmt.Fprint(w, found.body)
			return
		}
		for _, method := range []string{"GET", "POST"} {
			if _, other := routes[method+" "+r.URL.Path]; other {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
		}
		http.Error(w, lost, http.StatusNotFound)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestAdvice checks what the error of a server that refuses requests for good tells the user to do.
func TestAdvice(t *testing.T) {
	t.Parallel()
	const chat = "POST /v1/chat/completions"
	list := route{200, `{"data":[{"id":"a"},{"id":"b"}]}`}
	header := func(name, value string) http.Header { return http.Header{name: {value}} }
	messages := dialect.AnthropicMessages{}
	for _, c := range []struct {
		name   string
		url    backends.URL
		lost   string
		routes map[string]route
		want   string // %s is the address
	}{
		{"no key", backends.URL{Model: "a"}, "", map[string]route{chat: {401, `{"error":"Unauthorized"}`}},
			`%s: the server wants an API key, and LLMBENCH_API_KEY is not set: POST /v1/chat/completions: status 401 Unauthorized: {"error":"Unauthorized"}`},
		{"a wrong key", backends.URL{Model: "a", APIKey: env.NewSecret("wrong-key")}, "", map[string]route{chat: {401, "no"}},
			"%s: the server does not accept the API key in LLMBENCH_API_KEY or LLMBENCH_HEADER: POST /v1/chat/completions: status 401 Unauthorized: no"},
		{"a wrong key in a header", backends.URL{Model: "a", Header: header("authorization", "Basic abcdefgh")}, "", map[string]route{chat: {403, "no"}},
			"%s: the server does not allow the request with the API key in LLMBENCH_API_KEY or LLMBENCH_HEADER: POST /v1/chat/completions: status 403 Forbidden: no"},
		{"forbidden", backends.URL{Model: "a"}, "", map[string]route{chat: {403, "no"}},
			"%s: the server does not allow the request, and LLMBENCH_API_KEY is not set: POST /v1/chat/completions: status 403 Forbidden: no"},
		{"a key in another field", backends.URL{Model: "a", Dialect: messages, APIKey: env.NewSecret("right-key")}, "", map[string]route{"POST /v1/messages": {401, "no"}},
			"%s: the server does not accept the API key, which the dialect anthropic-messages sends in the field X-Api-Key; LLMBENCH_HEADER='Authorization: Bearer KEY' sends a bearer token, as vLLM and other engines want it: POST /v1/messages: status 401 Unauthorized: no"},
		{"no key for the models", backends.URL{}, "", map[string]route{"GET /v1/models": {401, "no"}},
			"%s: the server wants an API key, and LLMBENCH_API_KEY is not set: GET /v1/models: status 401 Unauthorized: no"},
		{"a model of vLLM", backends.URL{Model: "nope"}, "", map[string]route{"GET /v1/models": list, chat: {404, "The model `nope` does not exist."}},
			"%s: the server lists no model \"nope\"; LLMBENCH_MODEL names one of its models, which are a, b: POST /v1/chat/completions: status 404 Not Found: The model `nope` does not exist."},
		{"a model of Dynamo", backends.URL{Model: "nope"}, "", map[string]route{"GET /v1/models": list, chat: {404, `{"message":"Model not found"}`}},
			`%s: the server lists no model "nope"; LLMBENCH_MODEL names one of its models, which are a, b: POST /v1/chat/completions: status 404 Not Found: {"message":"Model not found"}`},
		{"a pinned model", backends.URL{Model: "nope"}, "", map[string]route{"GET /v1/models": {500, ""}, chat: {400, "pinned to 'a'; requested 'nope'"}},
			"%s: POST /v1/chat/completions: status 400 Bad Request: pinned to 'a'; requested 'nope'"},
		{"a listed model", backends.URL{Model: "a"}, "", map[string]route{"GET /v1/models": list, chat: {404, "model a not found"}},
			"%s: POST /v1/chat/completions: status 404 Not Found: model a not found"},
		{"another dialect", backends.URL{Model: "a"}, "Not Found", map[string]route{"POST /v1/completions": {200, ""}, "POST /v1/messages": {200, ""}},
			"%s: the server does not know the path to which the dialect openai-chat sends; by its other paths it speaks openai-completions, anthropic-messages, which LLMBENCH_DIALECT can name: POST /v1/chat/completions: status 404 Not Found: Not Found"},
		{"Ollama's dialect", backends.URL{Model: "a", Dialect: dialect.OpenAIResponses{}}, "page", map[string]route{"GET /api/version": {200, `{"version":"0.1"}`}},
			"%s: the server does not know the path to which the dialect openai-responses sends; by its other paths it speaks ollama, which LLMBENCH_DIALECT can name: POST /v1/responses: status 404 Not Found: page"},
		{"vectors", backends.URL{Model: "a"}, "page", map[string]route{"POST /v1/embeddings": {200, ""}},
			"%s: the server does not know the path to which the dialect openai-chat sends; by its other paths it speaks embeddings, which LLMBENCH_DIALECT can name: POST /v1/chat/completions: status 404 Not Found: page"},
		{"a prefix", backends.URL{Model: "a"}, "page", nil,
			"%s: the server does not know the path to which the dialect openai-chat sends; LLMBENCH_DIALECT names another one, and LLMBENCH_URL may lack a prefix that all paths have: POST /v1/chat/completions: status 404 Not Found: page"},
		{"a member", backends.URL{Model: "a"}, "", map[string]route{chat: {422, `{"detail":"Unexpected fields in the request: {'temperature'}"}`}},
			`%s: POST /v1/chat/completions: status 422 Unprocessable Entity: {"detail":"Unexpected fields in the request: {'temperature'}"}; LLMBENCH_BODY='{"temperature":null}' leaves out what the server does not know (Target.Body)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.url.URL = routed(t, c.lost, c.routes)
			got := startError(t, c.url)
			assert.Equal(t, got, "backends: url: "+fmt.Sprintf(c.want, strings.TrimPrefix(c.url.URL, "http://")))
		})
	}
}

// TestRefusalNeedsNoTLS checks that a server that answers requests of HTTP is not asked whether it speaks TLS: llama.cpp
// waits for the rest of a TLS handshake as long as the client does.
func TestRefusalNeedsNoTLS(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}`)
	}))
	var hellos atomic.Int32
	srv.Listener = hearing{srv.Listener, func(first byte) {
		if first == 0x16 { // a TLS handshake (RFC 8446, 5.1)
			hellos.Add(1)
		}
	}}
	srv.Start()
	defer srv.Close()
	for _, u := range []backends.URL{{URL: srv.URL}, {URL: srv.URL, Model: "m"}} {
		assert.Assert(t, strings.Contains(startError(t, u), "the server wants an API key"))
	}
	assert.Equal(t, hellos.Load(), int32(0))
	mu.Lock()
	defer mu.Unlock()
	assert.DeepEqual(t, paths, []string{"/v1/models", "/v1/chat/completions"})
}

// A hearing listener calls first with the first byte of each connection.
type hearing struct {
	net.Listener
	first func(byte)
}

func (h hearing) Accept() (net.Conn, error) {
	conn, err := h.Listener.Accept()
	return &heard{Conn: conn, first: h.first}, err
}

// A heard connection is one of a hearing listener.
type heard struct {
	net.Conn
	first func(byte)
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if n > 0 && h.first != nil {
		h.first(p[0])
		h.first = nil
	}
	return n, err
}

// TestProbeOfOnlyStreams starts servers that answer only some of the requests for text. The settings in Body are for
// streams, as vLLM wants them.
func TestProbeOfOnlyStreams(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	for name, refuse := range map[string]func(body map[string]json.RawMessage) string{
		"options of streams": func(body map[string]json.RawMessage) string {
			if _, has := body["stream_options"]; has && string(body["stream"]) != "true" {
				return "Stream options can only be defined when `stream=True`."
			}
			return ""
		},
		"streams only": func(body map[string]json.RawMessage) string {
			if string(body["stream"]) != "true" {
				return "Stream must be set to true"
			}
			return ""
		},
		"16 tokens at least": func(body map[string]json.RawMessage) string {
			if string(body["max_tokens"]) == "4" {
				return "Expected a value >= 16"
			}
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			var options atomic.Value // stream_options of the last request
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				data, err := io.ReadAll(r.Body)
				assert.Check(t, err)
				var body map[string]json.RawMessage
				if json.Unmarshal(data, &body) == nil && refuse(body) != "" {
					http.Error(w, refuse(body), http.StatusBadRequest)
					return
				}
				options.Store(string(body["stream_options"]))
				r.Body = io.NopCloser(strings.NewReader(string(data)))
				mock.ServeHTTP(w, r)
			}))
			defer srv.Close()
			target := backends.URL{URL: srv.URL, Model: "mock", Body: []byte(`{"stream_options":{"continuous_usage_stats":true}}`)}.Start(t)
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c", MaxTokens: 5}, true)
			assert.NilError(t, s.Err)
			assert.Equal(t, options.Load(), `{"continuous_usage_stats":true,"include_usage":true}`)
		})
	}
}
