package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/memnet"
)

// source returns a server whose metrics are the answers of handler. Requests do
// not use the network, so that tests can run in a bubble of [testing/synctest].
func source(t *testing.T, names metrics.Names, handler http.HandlerFunc) metrics.Source {
	t.Helper()
	ln := memnet.Listen()
	srv := &http.Server{Handler: handler}
	go srv.Serve(ln)
	t.Cleanup(func() { assert.NilError(t, srv.Close()) })
	return metrics.Source{Names: names, Target: llmbench.Target{URL: "http://server", Dial: ln.Dial, NoProxy: true}}
}

// TestFigures reads metrics in the servers' own formats, before and after two
// passes.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		name    string
		names   metrics.Names
		metrics func(pass int) string
		want    map[string]float64
	}{
		{"vLLM", backends.VLLM{}.Metrics(), func(pass int) string {
			return fmt.Sprintf(`# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} %d.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} %d.0
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m"} %d.0
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="m"} %d.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
# TYPE vllm:request_queue_time_seconds histogram
vllm:request_queue_time_seconds_bucket{le="0.3",model_name="m"} %d.0
vllm:request_queue_time_seconds_bucket{le="+Inf",model_name="m"} %[5]d.0
vllm:request_queue_time_seconds_count{model_name="m"} %[5]d.0
vllm:request_queue_time_seconds_sum{model_name="m"} %g
`, 1000+500*pass, 500*pass, 100*pass, 7+3*pass, 10*pass, 0.5*float64(pass))
		}, map[string]float64{"srv-prefix-hit-%": 10, "srv-preempt/op": 3, "srv-kv-%": 50, "srv-queue-ns": 5e7}},
		{"vLLM of 2024", backends.VLLM{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc{model_name=\"m\"} 0.125\n# TYPE vllm:gpu_prefix_cache_queries counter\nvllm:gpu_prefix_cache_queries_total %d\n# TYPE vllm:gpu_prefix_cache_hits counter\nvllm:gpu_prefix_cache_hits_total %d\n", 10*pass, 5*pass)
		}, map[string]float64{"srv-kv-%": 12.5, "srv-prefix-hit-%": 50}},
		{"SGLang", backends.SGLang{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("# TYPE sglang:prompt_tokens_total counter\nsglang:prompt_tokens_total{tp_rank=\"0\"} %d\n# TYPE sglang:cached_tokens_total counter\nsglang:cached_tokens_total %d\n# TYPE sglang:token_usage gauge\nsglang:token_usage 0.5\n", 200*pass, 0)
		}, map[string]float64{"srv-prefix-hit-%": 0, "srv-kv-%": 50}},
		{"TGI, whose queue was empty", backends.TGI{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("# TYPE tgi_request_queue_duration summary\ntgi_request_queue_duration{quantile=\"0.5\"} 0\ntgi_request_queue_duration_sum 0\ntgi_request_queue_duration_count %d", 4*pass)
		}, map[string]float64{}},
		{"LMDeploy", backends.LMDeploy{}.Metrics(), func(int) string {
			return "lmdeploy:prefix_cache_hit_rate 0.2\nlmdeploy:gpu_cache_usage_perc 0.5\n"
		}, map[string]float64{"srv-prefix-hit-%": 20, "srv-kv-%": 50}},
		{"nothing of interest", backends.TGI{}.Metrics(), func(int) string { return "other 1\n" }, map[string]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no reading falls into a pass by chance
				scrapes := 0
				o := metrics.NewObserver(source(t, c.names, func(w http.ResponseWriter, r *http.Request) {
					assert.Equal(t, r.Method+" "+r.URL.Path, "GET /metrics")
					pass := (scrapes + 1) / 2 // metrics are read before and after each pass
					scrapes++
					fmt.Fprint(w, c.metrics(pass))
				}), true)
				var got map[string]float64
				for range 2 {
					assert.NilError(t, o.Before(t.Context()))
					var err error
					got, err = o.After(t.Context())
					assert.NilError(t, err)
				}
				assert.DeepEqual(t, got, c.want)
			})
		})
	}
}

// TestReset checks which errors of Reset end the benchmark.
func TestReset(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct {
		name   string
		reset  error
		want   error
		logged int
	}{
		{"a server that has it", nil, nil, 0},
		{"an old server", fmt.Errorf("status 404: %w", errors.ErrUnsupported), nil, 2},
		{"a server that refuses", refused, refused, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			resets, logged := 0, 0
			s := source(t, metrics.Names{}, nil)
			s.Reset = func(context.Context) error { resets++; return c.reset }
			s.Logf = func(string, ...any) { logged++ }
			o := s.Observe()
			for range 2 {
				assert.ErrorIs(t, o.Before(t.Context()), c.want)
			}
			assert.Equal(t, resets, 2)
			assert.Equal(t, logged, c.logged)
		})
	}
}

// TestDuringPass checks that nothing is asked of the server during a pass, unless
// the peak of the KV cache is wanted.
func TestDuringPass(t *testing.T) {
	for _, c := range []struct {
		watchKV bool
		scrapes int64
		want    map[string]float64
	}{
		{false, 2, map[string]float64{}},
		{true, 2 + 5, map[string]float64{"srv-kv-%": 75}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var scrapes atomic.Int64
			o := metrics.NewObserver(source(t, backends.VLLM{}.Metrics(), func(w http.ResponseWriter, _ *http.Request) {
				usage := 0.25
				if scrapes.Add(1) == 4 { // in the middle of the pass
					usage = 0.75
				}
				fmt.Fprintf(w, "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc %g\n", usage)
			}), c.watchKV)
			assert.NilError(t, o.Before(t.Context()))
			time.Sleep(11 * time.Second) // a pass, on the fake clock
			got, err := o.After(t.Context())
			assert.NilError(t, err)
			assert.DeepEqual(t, got, c.want)
			assert.Equal(t, scrapes.Load(), c.scrapes)
		})
	}
}

// TestBrokenMetrics checks what an answer without metrics leads to.
func TestBrokenMetrics(t *testing.T) {
	o := source(t, backends.VLLM{}.Metrics(), func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }).Observe()
	assert.NilError(t, o.Before(t.Context()))
	_, err := o.After(t.Context())
	assert.ErrorContains(t, err, "/metrics: ")
}

// TestPartialMetrics checks that a counter may appear during a pass, and that a
// failure in one pass removes the figures of all later passes.
func TestPartialMetrics(t *testing.T) {
	for _, c := range []struct {
		name    string
		metrics []string // before and after each pass: the value of a counter, "" for status 500, or other metrics
		want    string   // in the last error
	}{
		{"a scrape before the second pass fails", []string{"1", "2", "", "", "5", "6"}, "status 500"},
		{"a scrape after the first pass fails", []string{"1", "", "3", "4", "5", "6"}, "pass 1: GET /metrics: status 500"},
		{"the server is restarted in the first pass", []string{"10", "9", "11", "12", "13", "14"}, "pass 1: a counter fell from 10 to 9: the server was restarted"},
		{"the counter is lost", []string{"1", "2", "2", "other", "13", "14"}, "a counter fell from 2 to 0"},
		{"the counter appears in the second pass", []string{"other", "other", "other", "2", "2", "6"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := 0
			o := source(t, backends.VLLM{}.Metrics(), func(w http.ResponseWriter, _ *http.Request) {
				switch text := c.metrics[next]; text {
				case "":
					w.WriteHeader(http.StatusInternalServerError)
				case "other":
					fmt.Fprintln(w, "other 1")
				default:
					fmt.Fprintf(w, "# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total %s\n", text)
				}
			}).Observe()
			var got map[string]float64
			var err error
			for pass := range 3 {
				next = 2 * pass
				assert.NilError(t, o.Before(t.Context()))
				next++
				got, err = o.After(t.Context())
			}
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			assert.NilError(t, err)
			assert.DeepEqual(t, got, map[string]float64{"srv-preempt/op": 2})
		})
	}
}

// TestCounts reads counters in the servers' own formats. Counters that a server
// does not have are -1.
func TestCounts(t *testing.T) {
	vllm, sglang := backends.VLLM{}.Metrics(), backends.SGLang{}.Metrics()
	for _, c := range []struct {
		names   metrics.Names
		metrics string // with numbers that grow by 1, 10 and 100 from one answer to the next
		want    llmbench.Counts
	}{
		{vllm, "# TYPE vllm:request_success_total counter\nvllm:request_success_total{finished_reason=\"stop\"} %[1]d\nvllm:request_success_total{finished_reason=\"length\"} %[1]d\n" +
			"# TYPE vllm:prompt_tokens_total counter\nvllm:prompt_tokens_total{engine=\"0\"} %[2]d\n# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{engine=\"0\"} %[3]d\n",
			llmbench.Counts{Requests: 2, PromptTokens: 10, OutputTokens: 100}},
		{sglang, "# TYPE sglang:prompt_tokens_total counter\nsglang:prompt_tokens_total %[2]d\n# TYPE sglang:generation_tokens_total counter\nsglang:generation_tokens_total %[3]d\n",
			llmbench.Counts{Requests: -1, PromptTokens: 10, OutputTokens: 100}},
		{vllm, "# TYPE other counter\nother %[1]d\n", llmbench.Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1}},
	} {
		answers := 0
		o := metrics.NewObserver(source(t, c.names, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, c.metrics, 7+answers, 70+10*answers, 700+100*answers)
			answers++
		}), false)
		assert.NilError(t, o.Before(t.Context()))
		got, err := o.Counts(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, got, c.want)
	}
}
