package backends_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A counting server answers completions, and has the metrics of some other server.
type counting struct {
	*mockserver.Server
	path    string                                    // the path of the metrics
	metrics func(requests, prompt, output int) string // nil means that the server has no metrics

	mu    sync.Mutex
	asked []string // the requests that are not completions, with their Authorization headers
}

// newCounting starts a counting server. Requests that it does not know are answered by other.
func newCounting(t *testing.T, path string, metrics func(requests, prompt, output int) string, other http.HandlerFunc) (*counting, *httptest.Server) {
	t.Helper()
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	c := &counting{Server: mock, path: path, metrics: metrics}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			mock.ServeHTTP(w, r)
			return
		}
		c.mu.Lock()
		c.asked = append(c.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization")))
		c.mu.Unlock()
		if r.URL.Path == c.path && c.metrics != nil {
			fmt.Fprint(w, c.metrics(c.counts()))
			return
		}
		other(w, r)
	}))
	t.Cleanup(srv.Close)
	backends.ForgetMissing() // an earlier server without metrics may have used the same port
	return c, srv
}

// counts returns what the server has answered.
func (c *counting) counts() (requests, prompt, output int) {
	for _, e := range c.Log() {
		requests++
		prompt += e.PromptTokens
		output += len(e.Tokens)
	}
	return requests, prompt, output
}

// requests returns the requests that were not completions, and forgets them.
func (c *counting) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.asked
	c.asked = nil
	return all
}

// fromEnv returns the backend that an environment selects.
func fromEnv(t *testing.T, environ ...string) backends.Backend {
	t.Helper()
	c, err := backends.ParseConfig(environ)
	assert.NilError(t, err)
	all, err := backends.FromConfig(c, nil)
	assert.NilError(t, err)
	assert.Equal(t, len(all), 1)
	return all[0]
}

// exposition returns metrics in the text format. Each of the lines is "name type value" or "name
// histogram sum count".
func exposition(lines ...string) string {
	var b bytes.Buffer
	for _, line := range lines {
		f := strings.Fields(line)
		base, labels, _ := strings.Cut(f[0], "{")
		if labels != "" {
			labels = "{" + labels
		}
		fmt.Fprintf(&b, "# HELP %s Something.\n# TYPE %s %s\n", base, base, f[1])
		switch f[1] {
		case "histogram":
			fmt.Fprintf(&b, "%s_bucket{le=\"+Inf\"} %s\n%s_sum%s %s\n%s_count%s %s\n", base, f[3], base, labels, f[2], base, labels, f[3])
		default:
			fmt.Fprintf(&b, "%s %s\n", f[0], f[2])
		}
	}
	return b.String()
}

// vllmMetrics returns the metrics of vLLM 0.11 that matter here.
func vllmMetrics(requests, prompt, output int) string {
	const labels = `{engine="0",model_name="mock"}`
	return exposition(
		"python_gc_objects_collected_total{generation=\"0\"} counter 1234",
		"process_start_time_seconds gauge 1.76e9",
		"vllm:num_requests_running"+labels+" gauge 0",
		"vllm:kv_cache_usage_perc"+labels+" gauge 0.0",
		fmt.Sprintf("vllm:prefix_cache_queries_total%s counter %d", labels, prompt),
		fmt.Sprintf("vllm:prefix_cache_hits_total%s counter %d", labels, prompt/4),
		"vllm:num_preemptions_total"+labels+" counter 0.0",
		fmt.Sprintf("vllm:prompt_tokens_total%s counter %d.0", labels, prompt),
		fmt.Sprintf("vllm:generation_tokens_total%s counter %d.0", labels, output),
		fmt.Sprintf(`vllm:request_success_total{engine="0",finished_reason="length",model_name="mock"} counter %d.0`, requests),
		fmt.Sprintf("vllm:request_queue_time_seconds%s histogram %g %d", labels, 0.5*float64(requests), requests),
	)
}

// TestCounters reads the counters of servers at a URL. The environment names the servers.
func TestCounters(t *testing.T) {
	all := llmbench.Counts{Requests: 2, PromptTokens: 8, OutputTokens: 10}
	for _, c := range []struct {
		name, path string
		metrics    func(requests, prompt, output int) string
		counts     llmbench.Counts
		figures    map[string]float64
	}{
		{"vLLM", "/metrics", vllmMetrics, all, map[string]float64{"srv-prefix-hit-%": 25, "srv-preempt/op": 0, "srv-queue-ns": 5e8}},
		{"SGLang", "/metrics", func(requests, prompt, output int) string {
			const labels = `{engine_type="unified",model_name="m",tp_rank="0"}`
			return exposition(
				fmt.Sprintf("sglang:prompt_tokens_total%s counter %d.0", labels, prompt),
				fmt.Sprintf("sglang:generation_tokens_total%s counter %d.0", labels, output),
				fmt.Sprintf("sglang:cached_tokens_total%s counter %d.0", labels, prompt/2),
				"sglang:token_usage"+labels+" gauge 0.0",
				fmt.Sprintf("sglang:queue_time_seconds%s histogram %g %d", labels, 0.25*float64(requests), requests))
		}, llmbench.Counts{Requests: -1, PromptTokens: 8, OutputTokens: 10}, map[string]float64{"srv-prefix-hit-%": 50, "srv-queue-ns": 2.5e8}},
		{"llama.cpp", "/metrics", func(_, prompt, output int) string {
			return exposition(
				fmt.Sprintf("llamacpp:prompt_tokens_total counter %d", prompt-prompt/4),
				fmt.Sprintf("llamacpp:prompt_tokens_cached_total counter %d", prompt/4),
				fmt.Sprintf("llamacpp:tokens_predicted_total counter %d", output))
		}, llmbench.Counts{Requests: -1, PromptTokens: 8, OutputTokens: 10}, map[string]float64{"srv-prefix-hit-%": 25}},
		{"TGI", "/metrics", func(requests, prompt, output int) string {
			return exposition(
				fmt.Sprintf("tgi_request_success counter %d", requests),
				fmt.Sprintf("tgi_request_input_length histogram %d %d", prompt, requests),
				fmt.Sprintf("tgi_request_generated_tokens histogram %d %d", output, requests),
				fmt.Sprintf("tgi_request_queue_duration histogram %g %d", 0.125*float64(requests), requests))
		}, all, map[string]float64{"srv-queue-ns": 1.25e8}},
		{"LMDeploy", "/metrics", func(requests, prompt, output int) string {
			return exposition(
				fmt.Sprintf("lmdeploy:request_success_total counter %d", requests),
				fmt.Sprintf("lmdeploy:prompt_tokens_total counter %d", prompt),
				fmt.Sprintf("lmdeploy:cached_tokens_total counter %d", prompt/2),
				fmt.Sprintf("lmdeploy:generation_tokens_total counter %d", output))
		}, all, map[string]float64{"srv-prefix-hit-%": 50}},
		{"TensorRT-LLM", "/prometheus/metrics", func(requests, _, _ int) string {
			return exposition(
				fmt.Sprintf("trtllm_request_success_total counter %d", requests),
				fmt.Sprintf("trtllm_request_queue_time_seconds histogram %g %d", 0.5*float64(requests), requests))
		}, llmbench.Counts{Requests: 2, PromptTokens: -1, OutputTokens: -1}, map[string]float64{"srv-queue-ns": 5e8}},
		{"MindIE", "/metrics", func(requests, prompt, output int) string {
			return exposition(
				fmt.Sprintf("request_success_total counter %d", requests),
				fmt.Sprintf("prompt_tokens_total counter %d", prompt),
				fmt.Sprintf("generation_tokens_total counter %d", output),
				"npu_cache_usage_perc gauge 0.5", "num_preemptions_total counter 0", "npu_prefix_cache_hit_rate gauge 0")
		}, all, map[string]float64{"srv-prefix-hit-%": 0, "srv-preempt/op": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, srv := newCounting(t, c.path, c.metrics, http.NotFound)
			target := fromEnv(t, "LLMBENCH_URL="+srv.URL+"/v1", "LLMBENCH_API_KEY=k").Start(t)
			for _, asked := range server.requests() {
				assert.Assert(t, asked == "GET /prometheus/metrics Bearer k" || asked == "GET /metrics Bearer k", "%s", asked)
			}
			o := target.Observe().(llmbench.Counter)
			waitFor(t, server, 1) // the completion that the start sends
			assert.NilError(t, o.Before(t.Context()))
			for range 2 {
				s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c d", MaxTokens: 5, FixedOutput: true}, true)
				assert.NilError(t, s.Err)
			}
			waitFor(t, server, 3)
			counts, err := o.Counts(t.Context())
			assert.NilError(t, err)
			assert.Equal(t, counts, c.counts)
			figures, err := o.After(t.Context())
			assert.NilError(t, err)
			assert.DeepEqual(t, figures, c.figures)
			assert.DeepEqual(t, server.requests(), []string{"GET " + c.path + " Bearer k", "GET " + c.path + " Bearer k", "GET " + c.path + " Bearer k"})
		})
	}
}

// waitFor waits until the server has logged n answers. It logs an answer only after the client has
// read it.
func waitFor(t *testing.T, c *counting, n int) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if requests, _, _ := c.counts(); requests != n {
			return poll.Continue("the server has logged %d answers, and not %d", requests, n)
		}
		return poll.Success()
	}, poll.WithDelay(time.Millisecond), poll.WithTimeout(2*time.Minute))
}

// A noting is a testing.TB that keeps what is logged. It does not keep the message that a start
// takes long, which is normal on a busy machine.
type noting struct {
	testing.TB
	notes []string
}

func (n *noting) Log(args ...any) {
	if note := fmt.Sprint(args...); !strings.HasPrefix(note, "waiting for ") {
		n.notes = append(n.notes, note)
	}
}

// TestMissingCounters checks that a server without counters is measured, and that one line says
// what is missing. But if the user has given the address of the metrics, missing counters are an
// error.
func TestMissingCounters(t *testing.T) {
	for _, c := range []struct {
		name    string
		metrics http.HandlerFunc
		why     string
	}{
		{"none", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>\n<center>404</center>", http.StatusNotFound)
		}, "GET /metrics: status 404 Not Found"},
		{"forbidden", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no\nkey-of-the-user", http.StatusForbidden)
		}, "GET /metrics: status 403 Forbidden: no [redacted]"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/?"+strings.Repeat("x", 300), http.StatusFound)
		}, "GET /metrics: status 302 Found: redirects are not followed, and this one leads to https://elsewhere.example/?xx"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html>") }, "the answer is not in the Prometheus text format"},
		{"broken", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"of another program", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "go_goroutines 3") }, "these are not the metrics of a known server; known are TensorRT-LLM, vLLM, SGLang, llama.cpp, TGI, LMDeploy, MindIE, Dynamo, llm-d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, srv := newCounting(t, "", nil, c.metrics)
			env := []string{"LLMBENCH_URL=" + srv.URL, "LLMBENCH_API_KEY=key-of-the-user"}
			for start := range 2 {
				n := &noting{TB: t}
				target := fromEnv(t, env...).Start(n)
				assert.Assert(t, target.Observe == nil)
				assert.Equal(t, len(n.notes), 1-start, "%q", n.notes)
				for _, note := range n.notes {
					assert.Assert(t, strings.HasPrefix(note, "the server's own counters are not available: GET /metrics"), note)
					assert.Assert(t, strings.Contains(note, c.why), "%q does not contain %q", note, c.why)
					assert.Assert(t, len(note) < 350 && !strings.ContainsAny(note, "\r\n"), "%q", note)
				}
			}
			named := startError(t, fromEnv(t, append(env, "LLMBENCH_METRICS="+srv.URL+"/metrics")...))
			assert.Assert(t, strings.HasPrefix(named, "backends: url: metrics: GET /metrics") && strings.Contains(named, strings.TrimSuffix(c.why, "xx")), named)
			reset := startError(t, fromEnv(t, append(env, "LLMBENCH_RESET_CACHE=1")...))
			assert.Assert(t, strings.HasPrefix(reset, "backends: url: the prefix cache cannot be emptied, because the server is not recognised by its metrics: GET /metrics"), reset)
			assert.Assert(t, !strings.Contains(named+reset, "key-of-the-user"))
		})
	}
	_, srv := newCounting(t, "/metrics", vllmMetrics, http.NotFound)
	named := startError(t, fromEnv(t, "LLMBENCH_URL="+srv.URL, "LLMBENCH_METRICS=http://127.0.0.1:1"))
	assert.Equal(t, named, "backends: url: metrics: GET /metrics from 127.0.0.1:1: connection refused")
}

// TestMetricsAddress checks which servers are asked for metrics, and which credentials the requests
// carry.
func TestMetricsAddress(t *testing.T) {
	server, srv := newCounting(t, "/metrics", vllmMetrics, http.NotFound)
	other, otherSrv := newCounting(t, "/custom", vllmMetrics, http.NotFound)
	elsewhere := strings.Replace(otherSrv.URL, "127.0.0.1", "localhost", 1) // the client cannot know that this is the same host
	observe := func(env ...string) {
		target := fromEnv(t, append(env, "LLMBENCH_URL="+srv.URL, "LLMBENCH_HEADER=Authorization: secret")...).Start(t)
		o := target.Observe()
		assert.NilError(t, o.Before(t.Context()))
		_, err := o.After(t.Context())
		assert.NilError(t, err)
	}
	observe("LLMBENCH_METRICS=" + otherSrv.URL + "/custom?x=1")
	assert.DeepEqual(t, server.requests(), []string(nil))
	assert.DeepEqual(t, other.requests(), []string{"GET /custom?x=1 secret", "GET /custom?x=1 secret", "GET /custom?x=1 secret"})

	observe("LLMBENCH_METRICS=" + elsewhere + "/custom")
	assert.DeepEqual(t, other.requests(), []string{"GET /custom", "GET /custom", "GET /custom"})

	observe("LLMBENCH_METRICS=" + elsewhere + "/custom, " + srv.URL) // the addresses of two replicas
	assert.DeepEqual(t, other.requests(), []string{"GET /custom", "GET /custom", "GET /custom"})
	assert.DeepEqual(t, server.requests(), []string{"GET /prometheus/metrics secret", "GET /metrics secret", "GET /metrics secret", "GET /metrics secret"})

	target := fromEnv(t, "LLMBENCH_URL="+srv.URL, "LLMBENCH_METRICS=off").Start(t)
	assert.Assert(t, target.Observe == nil)
	assert.DeepEqual(t, server.requests(), []string(nil))
}

// TestResetCacheAtURL checks a server that may have other users. Its cache must be emptied only if
// the user asks for that. If the server then does not empty it, the benchmark must end.
func TestResetCacheAtURL(t *testing.T) {
	const reset = "POST /reset_prefix_cache"
	for _, c := range []struct {
		name    string
		env     string
		answer  http.HandlerFunc // the answer to the request to empty the cache
		asked   int
		wantErr string
	}{
		{"by default", "LLMBENCH_RESET_CACHE=0", nil, 0, ""},
		{"done", "LLMBENCH_RESET_CACHE=1", func(http.ResponseWriter, *http.Request) {}, 2, ""},
		{"done, as it says", "LLMBENCH_RESET_CACHE=1", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"success":true,"error":null}`) }, 2, ""},
		{"a page", "LLMBENCH_RESET_CACHE=1", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, 2, `empty the prefix cache: POST /reset_prefix_cache: the answer is not a JSON object: <html>`},
		{"not in development mode", "LLMBENCH_RESET_CACHE=1", http.NotFound, 2, "does not allow it: empty the prefix cache: POST /reset_prefix_cache: status 404 Not Found: 404 page not found; vLLM has this request only with VLLM_SERVER_DEV_MODE=1 in its environment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, srv := newCounting(t, "/metrics", vllmMetrics, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/reset_prefix_cache" {
					http.NotFound(w, r)
					return
				}
				c.answer(w, r)
			})
			o := fromEnv(t, "LLMBENCH_URL="+srv.URL, c.env).Start(t).Observe()
			for range 2 {
				err := o.Before(t.Context())
				if c.wantErr == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, c.wantErr)
				}
			}
			asked := 0
			for _, r := range server.requests() {
				if r == reset {
					asked++
				}
			}
			assert.Equal(t, asked, c.asked)
		})
	}
	_, srv := newCounting(t, "/metrics", func(int, int, int) string { return "tgi_request_success 1\n" }, http.NotFound)
	got := startError(t, fromEnv(t, "LLMBENCH_URL="+srv.URL, "LLMBENCH_RESET_CACHE=1"))
	assert.Equal(t, got, "backends: url: the prefix cache cannot be emptied: TGI has no request for that")
}
