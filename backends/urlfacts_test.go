package backends_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// stating starts a simulated server that also answers what an engine would say about itself, by path.
func stating(t *testing.T, answers map[string]string) string {
	t.Helper()
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, known := answers[r.URL.Path]; known {
			fmt.Fprint(w, answer)
			return
		}
		mock.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// vllmFacts is what vLLM with a model, two names of it and an adapter says about itself.
func vllmFacts(version string) map[string]string {
	return map[string]string{
		"/v1/models": `{"data":[{"id":"sql","owned_by":"vllm","root":"/l","parent":"m","max_model_len":null},{"id":"m","owned_by":"vllm","root":"/models/m","parent":null,"max_model_len":4096},{"id":"alias","owned_by":"vllm","root":"/models/m","parent":null,"max_model_len":4096}]}`,
		"/version":   fmt.Sprintf(`{"version":%q}`, version),
	}
}

// TestURLFacts checks the configuration of a server at a URL: what the server says about itself, and nothing that it does not say.
func TestURLFacts(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers map[string]string
		want    map[string]string
		context int
	}{
		{"vLLM", vllmFacts("0.30.0"), map[string]string{"backend": "url", "model": "m", "server": "vLLM", "server-version": "0.30.0", "model-root": "/models/m", "context": "4096", "lora": "sql"}, 4096},
		{"another server", nil, map[string]string{"backend": "url", "model": "mock"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := fromEnv(t, "LLMBENCH_URL="+stating(t, c.answers), "LLMBENCH_METRICS=off").Start(t)
			assert.DeepEqual(t, target.Config, c.want)
			assert.Equal(t, target.Context, c.context)
		})
	}
}

// TestContext checks a benchmark that asks for outputs for which the server has no room.
func TestContext(t *testing.T) {
	target := fromEnv(t, "LLMBENCH_URL="+stating(t, vllmFacts("0.30.0")), "LLMBENCH_METRICS=off").Start(t)
	send := func(r llmbench.Request) error {
		result, err := llmbench.Pass(t.Context(), "pass", target, llmbench.Load{Requests: []llmbench.Request{r}, Concurrency: 1, ClientBound: llmbench.BoundReported})
		if err == nil {
			result.Close()
		}
		return err
	}
	assert.NilError(t, send(llmbench.Request{Prompt: "a", MaxTokens: 95}))
	const refused = " tokens, and %s refuses requests of more than 4096 tokens, prompt and output together: want a shorter output, or a server with a larger context"
	assert.Error(t, send(llmbench.Request{Prompt: "a", MaxTokens: 4096}), "request 0: an output of 4096"+fmt.Sprintf(refused, target.Where()))
	assert.Error(t, send(llmbench.Request{Prompt: "a", MaxTokens: 1, Then: []llmbench.Turn{{Prompt: "b", MaxTokens: 5000}}}), "request 0: turn 1: an output of 5000"+fmt.Sprintf(refused, target.Where()))
	target.Context = 4
	assert.ErrorContains(t, send(llmbench.Request{Prompt: "a", MaxTokens: 4, Model: target.Model}), "refuses requests of more than 4 tokens")
	err := send(llmbench.Request{Prompt: "a", MaxTokens: 4, Model: "another"}) // whose context is not known
	assert.Assert(t, err == nil || !strings.Contains(err.Error(), "refuses requests of more"), "%v", err)
}

// TestMetricsMap measures a server that nobody knows, by the names that its user gives.
func TestMetricsMap(t *testing.T) {
	const counters = "# TYPE req counter\nreq_total{ok=\"yes\"} 3\nreq_total{ok=\"no\"} 99\n# TYPE first_seconds histogram\nfirst_seconds_sum 1\nfirst_seconds_count 4\n"
	server := stating(t, map[string]string{"/stats": counters})
	const inline = `{"path":"/stats","requests":"req_total{ok=\"yes\"}","ttft":"first_seconds"}`
	file := filepath.Join(t.TempDir(), "map.json")
	assert.NilError(t, os.WriteFile(file, []byte(inline), 0o600))
	for _, value := range []string{inline, file} {
		n := &noting{TB: t}
		target := fromEnv(t, "LLMBENCH_URL="+server, "LLMBENCH_METRICS_MAP="+value).Start(n)
		assert.Equal(t, len(n.notes), 0, "%q", n.notes)
		o := target.Observe().(llmbench.Counter)
		assert.NilError(t, o.Before(t.Context()))
		counts, err := o.Counts(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, counts, llmbench.Counts{Requests: 0, PromptTokens: -1, OutputTokens: -1})
	}

	n := &noting{TB: t}
	fromEnv(t, "LLMBENCH_URL="+server, `LLMBENCH_METRICS_MAP={"path":"/stats","requests":["reqs_total","all_total"],"ttft":"first_seconds"}`).Start(n)
	assert.DeepEqual(t, n.notes, []string{"the server has no metric of these names, as in LLMBENCH_METRICS_MAP: requests reqs_total; what is computed from them is left out until it has"})

	for env, want := range map[string]string{
		`LLMBENCH_METRICS_MAP={"path":"/none","requests":"req_total"}`:   "backends: url: metrics: GET /none: status 404 Not Found",
		`LLMBENCH_METRICS_MAP={"path":"/stats","requests":"reqs_total"}`: "backends: url: metrics: GET /stats from ",
	} {
		got := startError(t, fromEnv(t, "LLMBENCH_URL="+server, env))
		assert.Assert(t, strings.HasPrefix(got, want), got)
	}

	for env, want := range map[string]string{
		`LLMBENCH_METRICS_MAP={"requests":7}`:                             "want the name of a metric, or a list of names",
		`LLMBENCH_METRICS_MAP={"reqs":"a"}`:                               `"reqs": want path, digits, requests, `,
		`LLMBENCH_METRICS_MAP=/no/such/file`:                              "LLMBENCH_METRICS_MAP=/no/such/file: want a JSON object like {",
		"LLMBENCH_METRICS=off\nLLMBENCH_METRICS_MAP={\"requests\":\"a\"}": "LLMBENCH_METRICS_MAP and LLMBENCH_METRICS=off: want at most one of them",
	} {
		_, err := backends.ParseConfig(append([]string{"LLMBENCH_URL=" + server}, strings.Split(env, "\n")...))
		assert.ErrorContains(t, err, want, env)
	}
	_, err := backends.ParseConfig([]string{"LLMBENCH_METRICS_MAP=" + inline})
	assert.ErrorContains(t, err, "LLMBENCH_METRICS_MAP: means nothing without LLMBENCH_URL")
}

// TestRouted reads the metrics of front ends and routers.
func TestRouted(t *testing.T) {
	histogram := func(name string, count int, sum float64) string {
		return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_count{model=\"m\"} %[2]d\n%[1]s_sum{model=\"m\"} %[3]g\n", name, count, sum)
	}
	for _, c := range []struct {
		name, path string
		metrics    func(requests, prompt, output int) string
		want       map[string]float64
	}{
		{"Dynamo", "/metrics", func(requests, prompt, output int) string {
			return histogram("dynamo_frontend_input_sequence_tokens", requests, float64(prompt)) + histogram("dynamo_frontend_cached_tokens", requests, float64(prompt)/4) +
				histogram("dynamo_frontend_time_to_first_token_seconds", requests, 0.25*float64(requests)) +
				fmt.Sprintf("# TYPE dynamo_frontend_requests_total counter\ndynamo_frontend_requests_total{status=\"success\"} %d\ndynamo_frontend_requests_total{status=\"error\"} %d\n# TYPE dynamo_frontend_output_tokens_total counter\ndynamo_frontend_output_tokens_total %d\n", requests, 7*requests, output)
		}, map[string]float64{"srv-prefix-hit-%": 25, "srv-ttft-ns": 250e6}},
		{"llm-d", "/metrics", func(requests, prompt, output int) string {
			return histogram("llm_d_epp_request_input_tokens", requests, float64(prompt)) + histogram("llm_d_epp_request_output_tokens", requests, float64(output)) +
				histogram("llm_d_epp_request_streaming_itl_seconds", output, 0.125*float64(output)) + fmt.Sprintf("inference_objective_request_total %d\n", 9*requests)
		}, map[string]float64{"srv-itl-ns": 125e6}},
		{"an inference gateway of 2025", "/metrics", func(requests, prompt, output int) string {
			return histogram("inference_objective_input_tokens", requests, float64(prompt)) + histogram("inference_objective_output_tokens", requests, float64(output)) +
				histogram("inference_objective_request_duration_seconds", requests, 0.5*float64(requests))
		}, map[string]float64{"srv-e2e-ns": 500e6}},
		{"SGLang's router", "/engine_metrics", func(requests, prompt, output int) string {
			return fmt.Sprintf("# TYPE sglang_num_requests_total counter\nsglang_num_requests_total{worker_addr=\"a\"} %d\nsglang_prompt_tokens_total{worker_addr=\"a\"} %d\nsglang_generation_tokens_total{worker_addr=\"b\"} %d\nsglang_cached_tokens_total 0\n", requests, prompt, output)
		}, map[string]float64{"srv-prefix-hit-%": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, srv := newCounting(t, c.path, c.metrics, http.NotFound)
			target := fromEnv(t, "LLMBENCH_URL="+srv.URL, "LLMBENCH_API_KEY=k").Start(t)
			o := target.Observe().(llmbench.Counter)
			waitFor(t, server, 1)
			assert.NilError(t, o.Before(t.Context()))
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c d", MaxTokens: 8, FixedOutput: true}, true)
			assert.NilError(t, s.Err)
			waitFor(t, server, 2)
			counts, err := o.Counts(t.Context())
			assert.NilError(t, err)
			assert.Equal(t, counts, llmbench.Counts{Requests: 1, PromptTokens: 4, OutputTokens: 8})
			figures, err := o.After(t.Context())
			assert.NilError(t, err)
			for _, unit := range []string{"srv-preempt/op", "srv-computed-%"} {
				delete(figures, unit)
			}
			assert.DeepEqual(t, figures, c.want)
		})
	}
}
