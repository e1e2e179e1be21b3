package resultfile

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// k6Fields are the metrics in a summary of k6: written by --summary-export, by handleSummary or by
// --new-machine-readable-summary (https://github.com/grafana/k6/blob/master/internal/js/summary-wrapper.js,
// https://github.com/grafana/k6/blob/master/internal/lib/summary/machinereadable/types_gen.go). Metrics
// whose names begin with llm_ come from this project's extension of k6. Times are in milliseconds.
var k6Fields = []field{
	{"llm_output_tokens.rate", sample.OutputRate, 1, "tok/s"},
	{"llm_ttft.{}", "{}-ttft-ns", millisecond, "ms"},
	{"llm_tpot.{}", "{}-tpot-ns", millisecond, "ms"},
	{"llm_itl.{}", "{}-itl-ns", millisecond, "ms"},
	{"llm_e2e.{}", "{}-e2e-ns", millisecond, "ms"},
	{"llm_requests.rate", sample.RequestRate, 1, "req/s"},
	{"http_reqs.rate", sample.RequestRate, 1, "req/s"},
	{"http_req_duration.{}", "{}-e2e-ns", millisecond, "ms"},
}

var k6Statistics = []statistic{{"mean", "avg"}, {"p50", "med"}, {"p90", "p(90)"}, {"p95", "p(95)"}, {"p99", "p(99)"}}

var k6Formats = []format{{tool: "k6", base: "K6", read: readK6, is: func(n *document.Node) bool {
	return n.Get("metrics").Object() && (n.Has("root_group") || n.Has("metrics.iterations") || n.Has("metrics.http_reqs") || n.Has("metrics.llm_requests")) ||
		n.Has("version", "results.metrics") && (n.Has("metadata.k6Version") || n.Has("metadata.k6_version"))
}}}

// readK6 reads a summary.
func readK6(r *reading) {
	top := r.node
	at := "metrics."
	metrics := document.NewObject()
	if list := top.Get("results.metrics"); list != nil {
		if v := top.Get("version").Text(); !strings.HasPrefix(v, "1.") {
			r.failf("version", "is %.20q: want 1.x, because the meaning of other versions' values is not known", v)
			return
		}
		at = "results.metrics."
		for _, m := range list.Items() {
			metrics.Set(m.Get("name").Text(), m.Get("values"))
		}
	} else {
		for _, name := range top.Get("metrics").Names() {
			m := top.Get("metrics").Get(name)
			if m.Get("values").Object() {
				m = m.Get("values")
			}
			metrics.Set(name, m)
		}
	}
	r.begin(at, metrics)
	r.notef("the summary does not contain the load")
	r.when("metadata.generatedAt", "2006-01-02T15:04:05.999999999Z07:00")
	r.k6Failures("llm_failed", "llm_requests.count")
	r.k6Failures("http_req_failed", "http_reqs.count")
	r.positive("llm_output_tokens.count", "output tokens")
	if v, _ := r.number("dropped_iterations.count"); v > 0 {
		r.notef("dropped_iterations.count: %v requests were not sent because no VU was free, and are in no metric", v)
	}
	r.fields(k6Fields, k6Statistics)
	r.know(top.Get("metadata.generatedAt"))
	r.stated(top.Get("config"), "duration") // of the run, which k6 measured
	r.stated(top, "config", "metrics", "results", "root_group", "state", "setup_data", "version")
	r.end()
}

// k6Failures checks the rate of failures. The metric's value counts failed requests.
func (r *reading) k6Failures(metric, count string) {
	n, ok := r.number(count)
	if !ok {
		return
	}
	if n == 0 {
		r.failf(count, "is 0: want a request")
		return
	}
	rate, ok := r.number(firstOf(r.node, metric+".rate", metric+".value"))
	if !ok {
		r.notef("the summary has no %s, so the failed requests are not known", metric)
		return
	}
	if rate >= 1 {
		r.failf(metric, "is %v: want a successful request", rate)
	}
	r.failures(metric, float64(int64(rate*n+0.5)), n)
}
