package metrics_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// histogram returns the lines of a histogram without buckets.
func histogram(name, labels string, count int, sum float64) string {
	return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{le=\"+Inf\"%[2]s} %[3]d\n%[1]s_count{%[4]s} %[3]d\n%[1]s_sum{%[4]s} %[5]g\n", name, comma(labels), count, labels, sum)
}

func comma(labels string) string {
	if labels == "" {
		return ""
	}
	return "," + labels
}

// TestTimes reads what servers say about times and about where prompt tokens came from, before and after a pass. Before it, each
// server has served other requests.
func TestTimes(t *testing.T) {
	vllm := func(pass int, cached, transferred int) string {
		p := float64(pass)
		return histogram("vllm:time_to_first_token_seconds", `engine="0"`, 3+10*pass, 0.9+0.5*p) + histogram("vllm:inter_token_latency_seconds", `engine="0"`, 30+100*pass, 0.3+0.4*p) +
			histogram("vllm:e2e_request_latency_seconds", `engine="0"`, 2+10*pass, 1+2*p) + histogram("vllm:request_prefill_time_seconds", `engine="0"`, 2+10*pass, 0.1+0.25*p) +
			histogram("vllm:request_prefill_kv_computed_tokens", `engine="0"`, 2+10*pass, 26+1000*p) +
			fmt.Sprintf("# TYPE vllm:prompt_tokens_by_source counter\nvllm:prompt_tokens_by_source_total{source=\"local_compute\"} %d\nvllm:prompt_tokens_by_source_total{source=\"local_cache_hit\"} %d\nvllm:prompt_tokens_by_source_total{source=\"external_kv_transfer\"} %d\n", 26+1000*pass, cached*pass, transferred*pass)
	}
	const ttft, itl, e2e, prefill, computed, transferred = "srv-ttft-ns", "srv-itl-ns", "srv-e2e-ns", "srv-prefill-tok/s", "srv-computed-%", "srv-transferred-%"
	for _, c := range []struct {
		name    string
		names   metrics.Names
		metrics func(pass int) string
		want    map[string]float64
	}{
		{"vLLM", backends.VLLM{}.Metrics(), func(pass int) string { return vllm(pass, 0, 0) },
			map[string]float64{ttft: 50e6, itl: 4e6, e2e: 200e6, prefill: 4000, computed: 100, transferred: 0}},
		{"vLLM with two kinds of caches", backends.VLLM{}.Metrics(), func(pass int) string { return vllm(pass, 500, 500) },
			map[string]float64{ttft: 50e6, itl: 4e6, e2e: 200e6, prefill: 4000, computed: 50, transferred: 25}},
		{"vLLM of 2025", backends.VLLM{}.Metrics(), func(pass int) string {
			return histogram("vllm:time_per_output_token_seconds", "", 5+10*pass, 0.1*float64(pass))
		}, map[string]float64{itl: 10e6}},
		{"SGLang, two engines", backends.SGLang{}.Metrics(), func(pass int) string {
			return "# TYPE sglang:time_to_first_token_seconds histogram\n" +
				fmt.Sprintf("sglang:time_to_first_token_seconds_sum{e=\"a\"} %g\nsglang:time_to_first_token_seconds_count{e=\"a\"} %d\nsglang:time_to_first_token_seconds_sum{e=\"b\"} %g\nsglang:time_to_first_token_seconds_count{e=\"b\"} %d\n", float64(pass), 10*pass, 3*float64(pass), 10*pass)
		}, map[string]float64{ttft: 200e6}},
		{"llama.cpp", backends.LlamaCPP{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("llamacpp:prompt_tokens_total %d\nllamacpp:prompt_seconds_total %.6g\n", 26+1000*pass, 0.002648+0.25*float64(pass))
		}, map[string]float64{prefill: 4000}},
		{"llama.cpp, whose time is rounded", backends.LlamaCPP{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("llamacpp:prompt_tokens_total %d\nllamacpp:prompt_seconds_total %.6g\n", 26+1000*pass, 1234.002648+0.25*float64(pass))
		}, map[string]float64{}},
		{"llama.cpp, whose tokens are rounded", backends.LlamaCPP{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("llamacpp:prompt_tokens_total %.6g\nllamacpp:prompt_seconds_total %.6g\n", 26e6+1000*float64(pass), 0.25*float64(pass))
		}, map[string]float64{}},
		{"nothing happened", backends.VLLM{}.Metrics(), func(int) string { return vllm(0, 0, 0) }, map[string]float64{}},
		{"times of 0", backends.SGLang{}.Metrics(), func(pass int) string {
			return histogram("sglang:time_to_first_token_seconds", "", 10*pass, 0)
		}, map[string]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass := 0
				o := metrics.NewObserver(source(t, c.names, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.metrics(pass)) }), false)
				assert.NilError(t, o.Before(t.Context()))
				pass++
				got, err := o.After(t.Context())
				assert.NilError(t, err)
				for unit, want := range c.want {
					assert.Assert(t, got[unit] > want*0.999999 && got[unit] < want*1.000001 || got[unit] == want, "%s: %v, want %v", unit, got[unit], want)
				}
				for _, unit := range []string{ttft, itl, e2e, prefill, computed, transferred} {
					_, has := got[unit]
					_, wanted := c.want[unit]
					assert.Equal(t, has, wanted, unit)
				}
			})
		})
	}
}

// TestQueue checks that the queue is only known from readings during a pass: before and after it nothing waits.
func TestQueue(t *testing.T) {
	for length, want := range map[time.Duration]map[string]float64{
		time.Second:     {},
		5 * time.Second: {"srv-max-queue-req": 12}, // read after 2 s and 4 s
	} {
		synctest.Test(t, func(t *testing.T) {
			var waiting atomic.Int64
			o := metrics.NewObserver(source(t, backends.VLLM{}.Metrics(), func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{engine=\"0\"} %d\nvllm:num_requests_waiting{engine=\"1\"} %d\n", waiting.Load(), 2*waiting.Load())
			}), true)
			assert.NilError(t, o.Before(t.Context()))
			time.Sleep(length / 2)
			waiting.Store(4)
			time.Sleep(length / 2)
			waiting.Store(0)
			got, err := o.After(t.Context())
			assert.NilError(t, err)
			assert.DeepEqual(t, got, want)
		})
	}
}
