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
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// source returns a server whose metrics are the answers of handler. Requests do not use the
// network, so tests can run in a bubble of [testing/synctest].
func source(t *testing.T, names metrics.Names, handler http.HandlerFunc) metrics.Source {
	t.Helper()
	ln := memnet.Listen()
	srv := &http.Server{Handler: handler}
	go srv.Serve(ln)
	t.Cleanup(func() { assert.NilError(t, srv.Close()) })
	return metrics.Source{Names: names, Addresses: []metrics.Address{{Target: llmbench.Target{URL: "http://server", Dial: ln.Dial}}}}
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
		{"LMDeploy", backends.LMDeploy{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("lmdeploy:cached_tokens_total %d\nlmdeploy:prompt_tokens_total %d\nlmdeploy:gpu_cache_usage_perc 0.5\n", 20*pass, 100*pass)
		}, map[string]float64{"srv-prefix-hit-%": 20, "srv-kv-%": 50}},
		{"llama.cpp", backends.LlamaCPP{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total %d\n# TYPE llamacpp:prompt_tokens_cached_total counter\nllamacpp:prompt_tokens_cached_total %d\n", 30*pass, 10*pass)
		}, map[string]float64{"srv-prefix-hit-%": 25}},
		{"llama.cpp that does not count what it found", backends.LlamaCPP{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total %d\n", 30*pass)
		}, map[string]float64{}},
		{"vLLM that drafts", backends.VLLM{}.Metrics(), drafting("vllm"), map[string]float64{"srv-accept-len": 2.5, "srv-accept-%": 37.5}},
		{"llama.cpp that drafts", backends.LlamaCPP{}.Metrics(), drafting("llamacpp"), map[string]float64{"srv-accept-len": 2.5, "srv-accept-%": 37.5}},
		{"LMDeploy that drafts", backends.LMDeploy{}.Metrics(), drafting("lmdeploy"), map[string]float64{"srv-accept-len": 2.5, "srv-accept-%": 37.5}},
		{"vLLM with speculative decoding that drafted nothing", backends.VLLM{}.Metrics(), func(int) string {
			return "vllm:spec_decode_num_drafts_total 5\nvllm:spec_decode_num_draft_tokens_total 20\nvllm:spec_decode_num_accepted_tokens_total 7\n"
		}, map[string]float64{}},
		{"llama.cpp, whose counters are rounded", backends.LlamaCPP{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("llamacpp:spec_decode_num_drafts_total %.6g\nllamacpp:spec_decode_num_draft_tokens_total %.6[2]g\nllamacpp:spec_decode_num_accepted_tokens_total %.6[2]g\n", 9e6+100*float64(pass), 9e6+200*float64(pass))
		}, map[string]float64{}},
		{"SGLang that drafts", backends.SGLang{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("# TYPE sglang:spec_accept_length gauge\nsglang:spec_accept_length{tp_rank=\"0\"} %d\n", 1+pass)
		}, map[string]float64{"srv-accept-len": 3}},
		{"SGLang that does not draft", backends.SGLang{}.Metrics(), func(int) string { return "# TYPE sglang:spec_accept_length gauge\nsglang:spec_accept_length 0\n" }, map[string]float64{}},
		{"TGI that drafts", backends.TGI{}.Metrics(), func(pass int) string { // ten requests in each pass, with 11 steps including the prefill
			return fmt.Sprintf("tgi_request_success %d\n# TYPE tgi_request_skipped_tokens histogram\ntgi_request_skipped_tokens_sum %d\ntgi_request_skipped_tokens_count %d\n", 10*pass, 150*pass, 110*pass)
		}, map[string]float64{"srv-accept-len": 2.5}},
		{"TGI that does not draft", backends.TGI{}.Metrics(), func(pass int) string {
			return fmt.Sprintf("tgi_request_success %d\n# TYPE tgi_request_skipped_tokens histogram\ntgi_request_skipped_tokens_sum 0\ntgi_request_skipped_tokens_count %d\n", 10*pass, 110*pass)
		}, map[string]float64{}},
		{"values that mean nothing", backends.VLLM{}.Metrics(), func(int) string {
			return "vllm:prefix_cache_queries_total NaN\nvllm:prefix_cache_hits_total 1\nvllm:kv_cache_usage_perc +Inf\nvllm:num_preemptions_total -5\n"
		}, map[string]float64{}},
		{"nothing of interest", backends.TGI{}.Metrics(), func(int) string { return "other 1\n" }, map[string]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in the bubble no reading can fall into a pass by chance
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

// drafting returns the counters of two engines. In each pass there are 100 drafts of 4 tokens, of
// which 1.5 are accepted on average.
func drafting(prefix string) func(pass int) string {
	return func(pass int) string {
		text := ""
		for i := range 2 {
			for name, v := range map[string]int{"drafts": 50, "draft_tokens": 200, "accepted_tokens": 75} {
				text += fmt.Sprintf("%s:spec_decode_num_%s_total{engine=\"%d\"} %d\n", prefix, name, i, 1000+v*pass)
			}
		}
		return text
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

// TestDuringPass checks that the server is asked for nothing during a pass, unless the peak of the
// KV cache is wanted.
func TestDuringPass(t *testing.T) {
	for _, c := range []struct {
		watchGauges bool
		scrapes     int64
		want        map[string]float64
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
			}), c.watchGauges)
			assert.NilError(t, o.Before(t.Context()))
			time.Sleep(11 * time.Second) // the duration of a pass, on the fake clock
			got, err := o.After(t.Context())
			assert.NilError(t, err)
			assert.DeepEqual(t, got, c.want)
			assert.Equal(t, scrapes.Load(), c.scrapes)
		})
	}
}

// TestBrokenMetrics checks that an answer without metrics gives an error, and that this error is
// returned only once.
func TestBrokenMetrics(t *testing.T) {
	asked := 0
	o := source(t, backends.VLLM{}.Metrics(), func(w http.ResponseWriter, _ *http.Request) { asked++; fmt.Fprint(w, "<html>") }).Observe().(llmbench.Counter)
	for pass := range 2 {
		assert.NilError(t, o.Before(t.Context()))
		figures, err := o.After(t.Context())
		assert.Equal(t, len(figures), 0)
		if pass == 0 {
			assert.ErrorContains(t, err, "GET /metrics from server: the answer is not in the Prometheus text format: ")
		} else {
			assert.NilError(t, err)
		}
		counts, err := o.Counts(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, counts, llmbench.Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1})
	}
	assert.Equal(t, asked, 1)
}

// TestHangingMetrics checks that a server that no longer answers delays a benchmark only once.
func TestHangingMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := 0
		o := source(t, backends.VLLM{}.Metrics(), func(w http.ResponseWriter, r *http.Request) {
			if answers++; answers > 2 {
				<-r.Context().Done()
				return
			}
			fmt.Fprintln(w, "vllm:num_preemptions_total 1")
		}).Observe().(llmbench.Counter)
		start := time.Now()
		for pass := range 4 {
			assert.NilError(t, o.Before(t.Context()))
			figures, err := o.After(t.Context())
			if pass == 1 {
				assert.Error(t, err, "GET /metrics from server: no answer in 10s")
			} else {
				assert.NilError(t, err)
			}
			assert.Equal(t, len(figures) > 0, pass == 0)
		}
		assert.Equal(t, time.Since(start), 10*time.Second)
	})
}

// TestPartialMetrics checks that a counter may appear during a pass. It also checks that a failure
// in one pass removes the values of all later passes. The error is returned after the pass in which
// the failure occurred.
func TestPartialMetrics(t *testing.T) {
	const restarted = ": the server was restarted, or several servers answer at this address in turn"
	for _, c := range []struct {
		name    string
		metrics []string // for before and after each pass: the value of a counter, "" for status 500, or other metrics
		failed  int      // the number of the pass that fails, from 1; 0 means none
		want    string   // its error
	}{
		{"a scrape before the second pass fails", []string{"1", "2", "", "", "5", "6"}, 2, "GET /metrics: status 500 Internal Server Error: "},
		{"a scrape after the first pass fails", []string{"1", "", "3", "4", "5", "6"}, 1, "GET /metrics: status 500 Internal Server Error: "},
		{"the server is restarted in the first pass", []string{"10", "9", "11", "12", "13", "14"}, 1, "a counter fell from 10 to 9" + restarted},
		{"the counter is lost", []string{"1", "2", "2", "other", "13", "14"}, 2, "a counter fell from 2 to 0" + restarted},
		{"another process answers", []string{"1\nprocess_start_time_seconds 5", "2\nprocess_start_time_seconds 6", "3", "4", "5", "6"}, 1, "process_start_time_seconds has changed" + restarted},
		{"the counter appears in the second pass", []string{"other", "other", "other", "2", "2", "6"}, 0, ""},
		{"the same process answers", []string{"1\nprocess_start_time_seconds 5", "2\nprocess_start_time_seconds 5", "3", "4", "5", "8"}, 0, ""},
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
			for pass := 1; pass <= 3; pass++ {
				next = 2 * (pass - 1)
				assert.NilError(t, o.Before(t.Context()))
				next++
				var err error
				got, err = o.After(t.Context())
				if pass == c.failed {
					assert.Error(t, err, c.want)
				} else {
					assert.NilError(t, err)
				}
				assert.Equal(t, len(got) > 0, pass < c.failed || c.failed == 0 && c.metrics[2*pass-1] != "other", "pass %d: %v", pass, got)
			}
			if c.failed == 0 {
				assert.Equal(t, len(got), 1)
				assert.Equal(t, got["srv-preempt/op"], map[string]float64{"other": 2, "1\nprocess_start_time_seconds 5": 5.0 / 3}[c.metrics[0]])
			}
		})
	}
}

// TestReplicas checks that the counters of several addresses are added up, and how uneven they are.
func TestReplicas(t *testing.T) {
	both := source(t, backends.VLLM{}.Metrics(), replica(100))
	both.Addresses = append(both.Addresses, source(t, metrics.Names{}, replica(1000)).Addresses...)
	both.Addresses[1].Path = "/other"
	o := both.Observe().(llmbench.Counter)
	assert.NilError(t, o.Before(t.Context()))
	counts, err := o.Counts(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, counts, llmbench.Counts{Requests: 1100, PromptTokens: -1, OutputTokens: -1})
	figures, err := o.After(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, figures, map[string]float64{"srv-prefix-hit-%": 50, "srv-imbalance": 2000 * 2 / 2200.})

	broken := source(t, metrics.Names{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	both.Addresses = append(both.Addresses, broken.Addresses...)
	o = both.Observe().(llmbench.Counter)
	assert.NilError(t, o.Before(t.Context()))
	_, err = o.After(t.Context())
	assert.ErrorContains(t, err, "GET /metrics: status 403 Forbidden")
}

// replica returns a server whose counters increase from one answer to the next.
func replica(by int) http.HandlerFunc {
	answers := 0
	return func(w http.ResponseWriter, _ *http.Request) {
		answers++
		fmt.Fprintf(w, "process_start_time_seconds %d\nvllm:request_success_total %d\nvllm:prefix_cache_queries_total %[2]d\nvllm:prefix_cache_hits_total %d\n", by, by*answers, by*answers/2)
	}
}

// TestRounded checks that counters are no longer used when the server prints too few of their
// digits.
func TestRounded(t *testing.T) {
	unknown := llmbench.Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1}
	for _, c := range []struct {
		name     string
		from, by float64 // the values of the counters before a pass, and by how much they increase
		figures  map[string]float64
		err      string
		counts   llmbench.Counts
		countErr string
	}{
		{"small", 1e5, 1000, map[string]float64{"srv-prefix-hit-%": 50}, "", llmbench.Counts{Requests: -1, PromptTokens: 2000, OutputTokens: 1000}, ""},
		{"large", 12e6, 5e5, map[string]float64{"srv-prefix-hit-%": 50}, "", unknown, "they are not compared: the server prints 6 digits of a counter that is at 1.25e+07"},
		{"too large", 12e6, 5e4, nil, "the server prints 6 digits of its counters, which are too large by now: restart it", unknown, ""},
	} {
		now := c.from
		o := source(t, backends.LlamaCPP{}.Metrics(), func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "llamacpp:prompt_tokens_cached_total %.6g\nllamacpp:prompt_tokens_total %[1]g\nllamacpp:tokens_predicted_total %[1]g\n", now)
		}).Observe().(llmbench.Counter)
		assert.NilError(t, o.Before(t.Context()))
		now += c.by
		figures, err := o.After(t.Context())
		assert.DeepEqual(t, figures, c.figures)
		assert.Equal(t, text(err), c.err, c.name)
		for i := range 2 {
			counts, err := o.Counts(t.Context())
			assert.Equal(t, counts, c.counts, c.name)
			if i == 0 {
				assert.Equal(t, text(err), c.countErr, c.name)
			} else {
				assert.NilError(t, err)
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCounts reads counters in the servers' own formats. A counter that a server does not have is
// -1.
func TestCounts(t *testing.T) {
	vllm, sglang := backends.VLLM{}.Metrics(), backends.SGLang{}.Metrics()
	for _, c := range []struct {
		names   metrics.Names
		metrics string // the numbers increase by 1, 10 and 100 from one answer to the next
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
