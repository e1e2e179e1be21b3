package backends

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// served returns a server of s that is a function.
func served(t *testing.T, s spec, h http.HandlerFunc) *running {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &running{spec: s, log: &serverlog.Log{}, logf: t.Logf, target: llmbench.Target{URL: srv.URL, Model: s.model}}
}

// TestObserver reads metrics as servers write them, before and after two passes.
func TestObserver(t *testing.T) {
	vllm, err := VLLM{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	sglang, err := SGLang{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	tgi, err := TGI{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	lmdeploy, err := LMDeploy{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	for _, c := range []struct {
		name    string
		spec    spec
		metrics func(pass int) string
		resets  string
		want    map[string]float64
	}{
		{"vLLM", vllm, func(pass int) string {
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
		}, "POST /reset_prefix_cache", map[string]float64{"srv-prefix-hit-%": 10, "srv-preempt/op": 3, "srv-kv-%": 50, "srv-queue-ns": 5e7}},
		{"vLLM of 2024", vllm, func(pass int) string {
			return fmt.Sprintf("# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc{model_name=\"m\"} 0.125\n# TYPE vllm:gpu_prefix_cache_queries counter\nvllm:gpu_prefix_cache_queries_total %d\n# TYPE vllm:gpu_prefix_cache_hits counter\nvllm:gpu_prefix_cache_hits_total %d\n", 10*pass, 5*pass)
		}, "POST /reset_prefix_cache", map[string]float64{"srv-kv-%": 12.5, "srv-prefix-hit-%": 50}},
		{"SGLang", sglang, func(pass int) string {
			return fmt.Sprintf("# TYPE sglang:prompt_tokens_total counter\nsglang:prompt_tokens_total{tp_rank=\"0\"} %d\n# TYPE sglang:cached_tokens_total counter\nsglang:cached_tokens_total %d\n# TYPE sglang:token_usage gauge\nsglang:token_usage 0.5\n", 200*pass, 0)
		}, "POST /flush_cache?timeout=30", map[string]float64{"srv-prefix-hit-%": 0, "srv-kv-%": 50}},
		{"TGI, whose queue was empty", tgi, func(pass int) string {
			return fmt.Sprintf("# TYPE tgi_request_queue_duration summary\ntgi_request_queue_duration{quantile=\"0.5\"} 0\ntgi_request_queue_duration_sum 0\ntgi_request_queue_duration_count %d", 4*pass)
		}, "", map[string]float64{}},
		{"LMDeploy", lmdeploy, func(int) string {
			return "lmdeploy:prefix_cache_hit_rate 0.2\nlmdeploy:gpu_cache_usage_perc 0.5\n"
		}, "", map[string]float64{"srv-prefix-hit-%": 20, "srv-kv-%": 50}},
		{"nothing of interest", tgi, func(int) string { return "other 1\n" }, "", map[string]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var scrapes atomic.Int64
			var resets []string
			r := served(t, c.spec, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					resets = append(resets, r.Method+" "+r.URL.String())
					return
				}
				assert.Equal(t, r.URL.Path, "/metrics")
				pass := int(scrapes.Load()+1) / 2 // before and after each
				scrapes.Add(1)
				fmt.Fprint(w, c.metrics(pass))
			})
			o := &observer{server: r, looks: true}
			var got map[string]float64
			for range 2 {
				assert.NilError(t, o.Before(t.Context()))
				var err error
				got, err = o.After(t.Context())
				assert.NilError(t, err)
			}
			assert.DeepEqual(t, got, c.want)
			want := []string{}
			if c.resets != "" {
				want = []string{c.resets, c.resets}
			}
			assert.Equal(t, strings.Join(resets, ","), strings.Join(want, ","))
		})
	}
}

// TestObserverFails checks what is an error and what only takes the figures.
func TestObserverFails(t *testing.T) {
	s, err := VLLM{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	for _, c := range []struct {
		name          string
		reset         int
		metrics       string
		before, after string
	}{
		{"an old server", http.StatusNotFound, "a 1\n", "", ""},
		{"a reset that fails", http.StatusInternalServerError, "a 1\n", "empty the prefix cache: POST /reset_prefix_cache: status 500 Internal Server Error", ""},
		{"no metrics", http.StatusOK, "<html>", "", "/metrics: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := served(t, s, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					w.WriteHeader(c.reset)
					return
				}
				fmt.Fprint(w, c.metrics)
			})
			o := r.observe()
			err := o.Before(t.Context())
			if c.before != "" {
				assert.ErrorContains(t, err, c.before)
				return
			}
			assert.NilError(t, err)
			_, err = o.After(t.Context())
			if c.after != "" {
				assert.ErrorContains(t, err, c.after)
				return
			}
			assert.NilError(t, err)
		})
	}
}

// TestObserverLooks checks that nothing is asked of the server during a pass,
// nor said of its KV cache, unless all units are wanted.
func TestObserverLooks(t *testing.T) {
	s, err := VLLM{Container: Container{Model: "m"}, PrefixCaching: Off}.spec()
	assert.NilError(t, err)
	o := served(t, s, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.5\n")
	}).observe().(*observer)
	assert.NilError(t, o.Before(t.Context()))
	assert.Assert(t, o.look == nil, "it looks during a pass")
	got, err := o.After(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, got, map[string]float64{})
}

// TestObserverPartial checks that what one pass lacks takes the figures of all,
// and that a counter may begin in a pass.
func TestObserverPartial(t *testing.T) {
	s, err := VLLM{Container: Container{Model: "m"}, PrefixCaching: Off}.spec()
	assert.NilError(t, err)
	for _, c := range []struct {
		name    string
		metrics []string // before and after each pass; "" is a failure
		want    string   // in the last error
	}{
		{"a scrape before the second pass fails", []string{"1", "2", "", "", "5", "6"}, "status 500"},
		{"a scrape after the first pass fails", []string{"1", "", "3", "4", "5", "6"}, "pass 1: GET /metrics: status 500"},
		{"the server starts anew in the first pass", []string{"10", "9", "11", "12", "13", "14"}, "pass 1: a counter fell from 10 to 9: the server has started anew"},
		{"the counter is lost", []string{"1", "2", "2", "other", "13", "14"}, "a counter fell from 2 to 0"},
		{"it begins in the second pass", []string{"other", "other", "other", "2", "2", "6"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := 0
			o := served(t, s, func(w http.ResponseWriter, _ *http.Request) {
				switch text := c.metrics[next]; text {
				case "":
					w.WriteHeader(http.StatusInternalServerError)
				case "other":
					fmt.Fprintln(w, "other 1")
				default:
					fmt.Fprintf(w, "# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total %s\n", text)
				}
			}).observe()
			var got map[string]float64
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
