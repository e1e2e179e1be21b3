package backends_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// startError returns the error with which b ends the test that starts it. If there is no error, it
// returns "".
func startError(t *testing.T, b backends.Backend) string {
	t.Helper()
	f := &fatalRecorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatalf ends only this goroutine
		defer close(done)
		b.Start(f)
	}()
	<-done
	return f.text
}

// A fatalRecorder is a testing.TB that keeps the text of Fatalf.
type fatalRecorder struct {
	testing.TB
	text string
}

func (f *fatalRecorder) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// trusting returns the configuration of a client that trusts the certificate of a server.
func trusting(server *httptest.Server) *tls.Config {
	return server.Client().Transport.(*http.Transport).TLSClientConfig
}

// TestURLErrors checks the errors of servers that cannot be measured.
func TestURLErrors(t *testing.T) {
	t.Parallel()
	const twoModels = `{"data":[{"id":"a"},{"id":"b"}]}`
	// wait is the time limit of a wait that ends with the error of an earlier try. It is long
	// enough for one try, even on a busy machine.
	const wait = 5 * time.Second
	serve := func(models, completion http.HandlerFunc) string {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/models", models)
		mux.HandleFunc("/", completion)
		srv := httptest.NewServer(mux)
		t.Cleanup(srv.Close)
		return srv.URL
	}
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	plain, secure := serve(answer(200, ""), answer(200, "")), httptest.NewTLSServer(answer(200, ""))
	t.Cleanup(secure.Close)
	gateway := serve(answer(502, ""), answer(502, ""))
	strict := httptest.NewUnstartedServer(answer(200, ""))
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	strict.StartTLS()
	t.Cleanup(strict.Close)
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://gateway.example"+r.URL.Path+"?key=key-in-the-url", http.StatusMovedPermanently)
	}
	for _, c := range []struct {
		name string
		url  backends.URL
		want string
	}{
		{"the port is closed", backends.URL{URL: "http://127.0.0.1:1", Model: "m", Ready: wait}, "backends: url: 127.0.0.1:1 is not ready after "},
		{"the model is never loaded", backends.URL{URL: serve(answer(200, twoModels), answer(503, "loading")), Model: "m", Ready: wait}, "status 503 Service Unavailable: loading"},
		{"completions are refused", backends.URL{URL: serve(answer(200, twoModels), answer(400, "no such model")), Model: "m"}, "status 400 Bad Request: no such model"},
		{"two models are listed", backends.URL{URL: serve(answer(200, twoModels), answer(200, ""))}, "LLMBENCH_MODEL is not set, and the server lists 2 models: a, b"},
		{"no model is listed, as by Ollama", backends.URL{URL: serve(answer(200, `{"object":"list","data":null}`), answer(200, ""))}, "LLMBENCH_MODEL is not set, and the server lists 0 models"},
		{"the list of models is null, and an error", backends.URL{URL: serve(answer(200, `{"data":null,"error":"no key"}`), answer(200, ""))}, `/v1/models is not a list of models: {"data":null,"error":"no key"}`},
		{"the list of models is refused", backends.URL{URL: serve(answer(401, "no key"), answer(401, "no key"))}, ": the server wants an API key, and LLMBENCH_API_KEY is not set: GET /v1/models: status 401 Unauthorized: no key"},
		{"a prefix that may be secret", backends.URL{URL: serve(answer(401, ""), answer(401, "no key")) + "/secret-key?a=b"}, "LLMBENCH_API_KEY is not set: GET /v1/models: status 401 Unauthorized: no key"},
		{"the list of models is a page", backends.URL{URL: serve(answer(200, "<html>"), answer(200, ""))}, "/v1/models is not a list of models"},
		{"no URL", backends.URL{URL: "host:80", Model: "m"}, `target: URL "host:80": want a base`},
		{"nothing listens", backends.URL{URL: "http://127.0.0.1:1", Model: "m"}, "backends: url: nothing listens at 127.0.0.1:1; start the server, or set LLMBENCH_URL"},
		{"nothing listens and no model is set", backends.URL{URL: "http://127.0.0.1:1"}, "backends: url: nothing listens at 127.0.0.1:1; start the server, or set LLMBENCH_URL"},
		{"nothing listens at the proxy", backends.URL{URL: plain, Model: "m", Proxy: "http://user:secret-key@127.0.0.1:1"}, "backends: url: nothing listens at the proxy 127.0.0.1:1; start the proxy, or set LLMBENCH_PROXY"},
		{"nothing listens at the proxy and no model is set", backends.URL{URL: plain, Proxy: "socks5://127.0.0.1:1"}, "backends: url: nothing listens at the proxy 127.0.0.1:1; start the proxy, or set LLMBENCH_PROXY"},
		{"the port of the proxy is closed", backends.URL{URL: plain, Model: "m", Proxy: "http://127.0.0.1:1", Ready: wait}, "s: the proxy 127.0.0.1:1: connection refused"},
		{"the server refuses the proxy", backends.URL{URL: "http://127.0.0.1:1", Model: "m", Proxy: gateway}, "status 502 Bad Gateway"},
		{"the port is closed and no model is set", backends.URL{URL: "http://127.0.0.1:1", Ready: wait}, "s: connection refused"},
		{"no URL and no model is set", backends.URL{URL: "host:80"}, `target: URL "host:80": want a base URL like http://127.0.0.1:8000`},
		{"the list of models is an error", backends.URL{URL: serve(answer(200, `{"error":"no key"}`), answer(200, ""))}, `/v1/models is not a list of models: {"error":"no key"}`},
		{"an error repeats a part of the key", backends.URL{URL: serve(answer(401, strings.Repeat("x", 290)+"sk-secret-key-of-39-characters and more"), answer(200, "")), APIKey: env.NewSecret("sk-secret-key-of-39-characters")}, "xx[redacted]…"},
		{"the name of a model repeats the key", backends.URL{URL: serve(answer(200, `{"data":[{"id":"for sk-secret-key"}]}`), answer(200, "")), APIKey: env.NewSecret("sk-secret-key")}, `/v1/models has a model whose name repeats a credential or has control characters: "for [redacted]"`},
		{"the name of a model changes the terminal", backends.URL{URL: serve(answer(200, `{"data":[{"id":"m\u001b[2J"}]}`), answer(200, ""))}, `/v1/models has a model whose name repeats a credential or has control characters: "m`},
		{"the list of models is elsewhere", backends.URL{URL: serve(moved, moved) + "?key=key-in-the-url"}, "status 301 Moved Permanently: redirects are not followed, and this one leads to https://gateway.example/v1/models?key=[redacted]: "},
		{"completions are elsewhere", backends.URL{URL: serve(moved, moved) + "?key=key-in-the-url", Model: "m"}, "status 301 Moved Permanently: redirects are not followed, and this one leads to https://gateway.example/v1/chat/completions?key=[redacted]: "},
		{"TLS to a server without it, models", backends.URL{URL: strings.Replace(plain, "http", "https", 1)}, "does not speak TLS; without TLS the URL begins with http://"},
		{"TLS to a server without it", backends.URL{URL: strings.Replace(plain, "http", "https", 1), Model: "m"}, "does not speak TLS; without TLS the URL begins with http://"},
		{"no TLS to a server with it, models", backends.URL{URL: strings.Replace(secure.URL, "https", "http", 1)}, "speaks TLS; the URL of such a server begins with https://"},
		{"no TLS to a server with it", backends.URL{URL: strings.Replace(secure.URL, "https", "http", 1), Model: "m"}, "speaks TLS; the URL of such a server begins with https://"},
		{"an unknown authority, models", backends.URL{URL: secure.URL}, "the server's certificate is not trusted: x509: certificate signed by unknown authority; LLMBENCH_CA names"},
		{"an unknown authority", backends.URL{URL: secure.URL, Model: "m"}, "the server's certificate is not trusted: x509: certificate signed by unknown authority; LLMBENCH_CA names"},
		{"no certificate of the client, models", backends.URL{URL: strict.URL, TLS: trusting(strict)}, "the server ends the TLS handshake: tls: certificate required; LLMBENCH_CLIENT_CERT"},
		{"no certificate of the client", backends.URL{URL: strict.URL, TLS: trusting(strict), Model: "m"}, "the server ends the TLS handshake: tls: certificate required; LLMBENCH_CLIENT_CERT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := startError(t, c.url)
			assert.Assert(t, strings.Contains(got, c.want), "%q does not contain %q", got, c.want)
			assert.Assert(t, !strings.Contains(got, "secret-key") && !strings.Contains(got, "key-in-the-url"), "%q", got)
		})
	}
}

// TestURLRequests checks what each request carries. These are the requests of the start, of a load
// and for metrics.
func TestURLRequests(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	var mu sync.Mutex
	bodies := map[string]string{} // the last body for each path
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.Check(t, err)
		mu.Lock()
		bodies[r.URL.Path] = string(body)
		mu.Unlock()
		assert.Check(t, r.URL.RawQuery == "api-version=2024-10-21", "%s", r.RequestURI)
		assert.Check(t, r.Header.Get("Authorization") == "Bearer k" && r.Header.Get("X-Team") == "blue" && r.Host == "virtual.example", "%s: %v", r.Host, r.Header)
		r.Body = io.NopCloser(bytes.NewReader(body))
		http.StripPrefix("/prefix", mock).ServeHTTP(w, r)
	}))
	defer srv.Close()

	target := backends.URL{
		URL: srv.URL + "/prefix/v1/?api-version=2024-10-21", APIKey: env.NewSecret("k"),
		Header:  http.Header{"x-team": {"blue"}, "Host": {"virtual.example"}},
		Body:    []byte(`{"temperature":0.7,"ignore_eos":null,"stream_options":null,"chat_template_kwargs":{"enable_thinking":false,"api_key":"abcdefghi"}}`),
		TLS:     &tls.Config{InsecureSkipVerify: true},
		Metrics: backends.VLLM{}.Metrics(),
	}.Start(t)
	const path = "/prefix/v1/chat/completions"
	mu.Lock()
	probed := bodies[path]
	clear(bodies)
	mu.Unlock()
	for _, stream := range []bool{true, false} {
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c", MaxTokens: 7, FixedOutput: true}, stream)
		assert.NilError(t, s.Err)
	}
	_, err = target.Observe().After(t.Context())
	assert.NilError(t, err)
	mu.Lock()
	defer mu.Unlock()
	assert.Assert(t, bodies["/prefix/metrics"] == "" && len(bodies) == 2, "%v", bodies)
	for _, body := range []string{probed, bodies[path]} {
		var got map[string]any
		assert.NilError(t, json.Unmarshal([]byte(body), &got))
		assert.Equal(t, got["temperature"], 0.7)
		assert.DeepEqual(t, got["chat_template_kwargs"], map[string]any{"enable_thinking": false, "api_key": "abcdefghi"})
		for _, removed := range []string{"ignore_eos", "stream_options"} {
			_, has := got[removed]
			assert.Assert(t, !has, "%s", body)
		}
		assert.Assert(t, got["messages"] != nil && got["model"] != nil, "%s", body)
	}
	assert.Equal(t, target.Redact("no abcdefghi, no 2024-10-21"), "no [redacted], no [redacted]")
}

// TestURLOfRequests checks a URL to which the requests themselves are sent. The server has no other
// path, and no path with /v1.
func TestURLOfRequests(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	const path = "/openai/deployments/gpt/chat/completions"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path || r.URL.RawQuery != "api-version=2024-10-21" {
			http.Error(w, "no such path: "+r.RequestURI, http.StatusNotFound)
			return
		}
		r.URL.Path = "/v1/chat/completions"
		mock.ServeHTTP(w, r)
	}))
	defer srv.Close()
	target := backends.URL{URL: srv.URL + path + "?api-version=2024-10-21", Model: "gpt"}.Start(t)
	s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c", MaxTokens: 7, FixedOutput: true}, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.Outputs, 7)
}

// A launched is a backend that is never started.
type launched struct {
	backends.Backend
	server backends.Server
}

func TestFromConfig(t *testing.T) {
	launch := func(s backends.Server) backends.Backend { return launched{server: s} }
	names := func(env ...string) (string, error) {
		c, err := backends.ParseConfig(env)
		assert.NilError(t, err)
		all, err := backends.FromConfig(c, launch)
		var names []string
		for _, b := range all {
			names = append(names, b.Name)
		}
		return strings.Join(names, ","), err
	}
	for env, want := range map[string]string{
		"":                      "mock",
		"LLMBENCH_BACKEND=mock": "mock",
		"LLMBENCH_URL=http://x": "url",
		"LLMBENCH_URL=http://x\nLLMBENCH_NAME=mine":                                  "mine",
		"LLMBENCH_BACKEND=vllm,tgi,mock\nLLMBENCH_MODEL=m\nLLMBENCH_GPUS=all":        "vllm,tgi,mock",
		"LLMBENCH_BACKEND=mock,llamacpp\nLLMBENCH_ARGS=-c 4096\nLLMBENCH_QUANT=Q8_0": "mock,llamacpp",
	} {
		got, err := names(strings.Split(env, "\n")...)
		assert.NilError(t, err)
		assert.Equal(t, got, want)
	}
	_, err := names("LLMBENCH_BACKEND=mock,vlm")
	assert.ErrorContains(t, err, `LLMBENCH_BACKEND=mock,vlm: "vlm" is not a backend; the nearest is vllm: want a comma list of dynamo, llamacpp, llamacpp-python, lmdeploy, mindie, mock,`)
	_, err = names("LLMBENCH_BACKEND=vllm,tgi", "LLMBENCH_IMAGE=a:1")
	assert.ErrorContains(t, err, "LLMBENCH_IMAGE is for one server in a container, and LLMBENCH_BACKEND=vllm,tgi names 2")

	c, err := backends.ParseConfig([]string{"LLMBENCH_BACKEND=vllm", "LLMBENCH_MODEL=m"})
	assert.NilError(t, err)
	all, err := backends.FromConfig(c, launch)
	assert.NilError(t, err)
	assert.Equal(t, all[0].Backend.(launched).server.(backends.VLLM).Model, "m")
	_, err = backends.FromConfig(c, nil)
	assert.ErrorContains(t, err, "LLMBENCH_BACKEND=vllm: this program cannot launch vllm in a container")
}
