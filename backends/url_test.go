package backends_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestRealServer speaks both dialects with a real llama-server.
func TestRealServer(t *testing.T) {
	url := llamatest.Start(t, llamatest.Options{})
	for _, d := range []dialect.Dialect{dialect.OpenAIChat{}, dialect.OpenAICompletions{}} {
		t.Run(d.Name(), func(t *testing.T) {
			target := backends.URL{URL: url, Dialect: d}.Start(t)
			assert.Assert(t, target.Model != "", "the server's only model was not found")
			for _, tokens := range []int{1, 24, 200} {
				s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: tokens, FixedOutput: true}, true)
				assert.NilError(t, s.Err)
				assert.Equal(t, s.OutputTokens, tokens)
				assert.Equal(t, s.TokenSource, sample.FromUsage)
				assert.Equal(t, s.Finish, "length")
				assert.Assert(t, s.PromptTokens > 0 && s.Deltas > 0 && s.Deltas <= tokens, "%+v", s)
			}
		})
	}
}

// TestServeOnRealServer runs BenchmarkServe as a user does, against a real
// llama-server.
func TestServeOnRealServer(t *testing.T) {
	url := llamatest.Start(t, llamatest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=Serve", "-benchtime=1x", "../scenarios")
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+url, "LLMBENCH_NAME=llamacpp", "LLMBENCH_MODEL=tiny",
		"LLMBENCH_CONCURRENCY=1,8", "LLMBENCH_INPUT=256", "LLMBENCH_OUTPUT=64",
		"LLMBENCH_CLIENT_BOUND=report") // it shares two cores with the server, and with other tests
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	r := benchfmt.NewReader(strings.NewReader(string(out)), "output")
	rows := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v in:\n%s", rec, out)
		case *benchfmt.Result:
			rows++
			tokens, _ := rec.Value("out-tok/req")
			assert.Equal(t, tokens, 64.0, "%s", rec.Name)
			assert.Equal(t, rec.GetConfig("backend"), "llamacpp")
			assert.Equal(t, rec.GetConfig("model"), "tiny")
		}
	}
	assert.Equal(t, rows, 2, "%s", out)
}

// started runs b.Start on a test of its own and returns what ended it.
func started(t *testing.T, b backends.Backend) string {
	t.Helper()
	f := &fatal{TB: t}
	done := make(chan struct{})
	go func() { // Fatalf ends its goroutine
		defer close(done)
		b.Start(f)
	}()
	<-done
	return f.text
}

// fatal is a testing.TB that keeps what ended it.
type fatal struct {
	testing.TB
	text string
}

func (f *fatal) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestNotReady checks what is said of servers that cannot be measured.
func TestNotReady(t *testing.T) {
	refuse := func(status int, body string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/models" && status != 401 {
				fmt.Fprint(w, `{"data":[{"id":"a"},{"id":"b"}]}`)
				return
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for _, c := range []struct {
		name string
		url  backends.URL
		want string
	}{
		{"nobody listens", backends.URL{URL: "http://127.0.0.1:1", Model: "m", Ready: time.Second}, "connection refused"},
		{"it loads for ever", backends.URL{URL: refuse(503, "loading"), Model: "m", Ready: time.Second}, "status 503 Service Unavailable: loading"},
		{"it refuses", backends.URL{URL: refuse(400, "no such model"), Model: "m"}, "status 400 Bad Request: no such model"},
		{"it lists two models", backends.URL{URL: refuse(200, "")}, "LLMBENCH_MODEL is not set, and the server lists 2 models: a, b"},
		{"it lists no models", backends.URL{URL: refuse(401, "")}, "LLMBENCH_MODEL is not set, and /v1/models answered 401"},
		{"no URL", backends.URL{URL: "host:80", Model: "m"}, `target: URL "host:80"; want a base`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := started(t, c.url)
			assert.Assert(t, strings.Contains(got, c.want), "%q does not contain %q", got, c.want)
		})
	}
}

func TestFromConfig(t *testing.T) {
	names := func(env ...string) (string, error) {
		c, err := backends.ParseConfig(env)
		assert.NilError(t, err)
		all, err := backends.FromConfig(c)
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
	assert.ErrorContains(t, err, `LLMBENCH_BACKEND=mock,vlm: "vlm" is not a backend; want a comma list of llamacpp, llamacpp-python, lmdeploy, mindie, mock,`)
	_, err = names("LLMBENCH_BACKEND=vllm,tgi", "LLMBENCH_IMAGE=a:1")
	assert.ErrorContains(t, err, "LLMBENCH_IMAGE is for one server in a container, and LLMBENCH_BACKEND=vllm,tgi names 2")
}

// TestMock checks that the mock answers as its configuration says.
func TestMock(t *testing.T) {
	srv, target := backends.Mock{Speed: 10}.Serve(t)
	s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "one two three", MaxTokens: 5}, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.PromptTokens, 3)
	assert.Equal(t, s.OutputTokens, 5)
	assert.Equal(t, len(srv.Log()), 1)
	assert.DeepEqual(t, target.Config, map[string]string{"backend": "mock", "mock-speed": "10"})
	assert.Assert(t, strings.Contains(started(t, backends.Mock{Profile: "h100"}), `profile "h100": not known`))
}
