package resultfile

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// mlperfFields are the metrics in result_summary.json of MLPerf Endpoints
// (https://github.com/mlcommons/endpoints/blob/main/src/inference_endpoint/metrics/report.py). Times are in
// nanoseconds. Percentiles come from the bins of a histogram.
var mlperfFields = []field{
	{"tps", sample.OutputRate, 1, "tok/s"},
	{"qps", sample.RequestRate, 1, "req/s"},
	{"ttft.{}", "{}-ttft-ns", nanosecond, "ns"},
	{"tpot.{}", "{}-tpot-ns", nanosecond, "ns"},
	{"latency.{}", "{}-e2e-ns", nanosecond, "ns"},
	{"input_sequence_lengths.avg", sample.PromptLength, 1, "tok/req"},
	{"output_sequence_lengths.avg", sample.OutputLength, 1, "tok/req"},
}

var mlperfStatistics = []statistic{{"mean", "avg"}, {"p50", "median"}, {"p90", "percentiles.90"}, {"p95", "percentiles.95"}, {"p99", "percentiles.99"}}

var mlperfFormats = []format{{tool: "MLPerf Endpoints", base: "MLPerf", read: each(readMLPerf), is: func(n *document.Node) bool {
	return n.Has("n_samples_issued") && (n.Has("n_samples_completed") || n.Has("qps"))
}}}

// readMLPerf reads the summary of one run.
func readMLPerf(r *reading) {
	if r.node.Get("complete").False() {
		r.failf("complete", "is false: want a whole run")
	}
	if s := r.node.Get("state").Text(); s == "interrupted" {
		r.failf("state", "is %s: want a whole run", s)
	}
	r.config("model", "run_config.model")
	r.load("samples", "n_samples_issued")
	r.load("rate", "run_config.target_qps")
	r.load("concurrency", "run_config.concurrency")
	window := "issued"
	if r.node.Has("legacy_loadgen_window_duration_ns") {
		window = "completed" // qps is then (completed - 1) / this window
	}
	r.configIs("qps_window", window)
	r.requests("n_samples_completed", "n_samples_failed", "n_samples_issued")
	r.positive("tps", "output tokens")
	r.notef("percentiles are approximate: they come from the bins of a histogram")
	r.fields(mlperfFields, mlperfStatistics)
	r.stated(r.node.Get("run_config"))
	r.stated(r.node, "run_config", "n_samples_*", "*duration_ns", "state", "complete", "ttft", "tpot", "latency", "*_sequence_lengths", "legacy_*", "qps", "tps", "finish_reason_counts")
}
