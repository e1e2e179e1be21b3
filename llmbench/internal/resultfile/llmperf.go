package resultfile

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// llmperfFields are the metrics in LLMPerf's summary
// (https://github.com/ray-project/llmperf/blob/main/token_benchmark_ray.py, metrics_summary). Times are in
// seconds. The inter-token latency is the whole latency divided by the number of tokens, so it includes the
// TTFT. Tokens are counted by the same tokenizer for all models.
var llmperfFields = []field{
	{"results_mean_output_throughput_token_per_s", sample.OutputRate, 1, "tok/s"},
	{"results_num_completed_requests_per_min", sample.RequestRate, 1.0 / 60, "req/min"},
	{"results_ttft_s_{}", "{}-ttft-ns", second, "s"},
	{"results_inter_token_latency_s_{}", "{}-tpot-incl-ttft-ns", second, "s"},
	{"results_end_to_end_latency_s_{}", "{}-e2e-ns", second, "s"},
	{"results_number_input_tokens_mean", sample.PromptLength, 1, "tok/req"},
	{"results_number_output_tokens_mean", sample.OutputLength, 1, "tok/req"},
}

var quantiles = []statistic{{"mean", "mean"}, {"p50", "quantiles_p50"}, {"p90", "quantiles_p90"}, {"p95", "quantiles_p95"}, {"p99", "quantiles_p99"}}

var llmperfFormats = []format{{tool: "LLMPerf", base: "LLMPerf", read: each(readLLMPerf), is: func(n *document.Node) bool {
	return n.Has("results_num_requests_started") || n.Has("results_num_completed_requests", "num_concurrent_requests")
}}}

// readLLMPerf reads the summary of one run.
func readLLMPerf(r *reading) {
	r.whenUnix("timestamp")
	r.config("model", "model")
	r.load("in", "mean_input_tokens")
	r.load("out", "mean_output_tokens")
	r.load("concurrency", "num_concurrent_requests")
	r.requests("results_num_completed_requests", "results_number_errors", "results_num_requests_started")
	if v, ok := r.number("results_mean_output_throughput_token_per_s"); !ok || v == 0 {
		r.failf("results_mean_output_throughput_token_per_s", "is 0 or missing: want output tokens")
	}
	r.fields(llmperfFields, quantiles)
	r.stated(r.node, "results_*", "name") // the name is made of the model, the lengths and the time
}
