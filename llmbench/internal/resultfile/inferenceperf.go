package resultfile

import (
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// inferenceperfFields are the metrics of a stage of inference-perf, in stage_N_lifecycle_metrics.json
// (https://github.com/kubernetes-sigs/inference-perf/blob/main/inference_perf/reportgen/base.py,
// summarize_requests). Times are in seconds. The client counts output tokens, unless the tool is configured
// otherwise. The ITL of tokens in the same message is 0. The normalized time per output token begins with the
// request; without streaming it is the only time per token. Since August 2026, prompt_tokens replaces prompt_len.
var inferenceperfFields = []field{
	{"successes.throughput.output_tokens_per_sec", sample.OutputRate, 1, "tok/s"},
	{"successes.throughput.total_tokens_per_sec", sample.TotalRate, 1, "tok/s"},
	{"successes.throughput.input_tokens_per_sec", sample.PromptRate, 1, "tok/s"},
	{"successes.throughput.requests_per_sec", sample.RequestRate, 1, "req/s"},
	{"successes.latency.time_to_first_token.{}", "{}-ttft-ns", second, "s"},
	{"successes.latency.time_per_output_token.{}", "{}-tpot-ns", second, "s"},
	{"successes.latency.inter_token_latency.{}", "{}-itl-ns", second, "s"},
	{"successes.latency.normalized_time_per_output_token.{}", "{}-tpot-incl-ttft-ns", second, "s"},
	{"successes.latency.request_latency.{}", "{}-e2e-ns", second, "s"},
	{"successes.prompt_len.mean", sample.PromptLength, 1, "tok/req"},
	{"successes.prompt_tokens.mean", sample.PromptLength, 1, "tok/req"},
	{"successes.output_len.mean", sample.OutputLength, 1, "tok/req"},
}

// inferenceperfConfig is the file with the settings of all stages
// (https://github.com/kubernetes-sigs/inference-perf/blob/main/inference_perf/config.py).
const inferenceperfConfig = "config.yaml"

// inferenceperfConfigApart are the keys that are no settings: the loads, which the file of each stage has too, and where results go.
var inferenceperfConfigApart = []string{"load.stages", "storage", "report", "*metadata"}

var inferenceperfFormats = []format{{tool: "inference-perf", base: "InferencePerf", read: each(readInferencePerf), is: func(n *document.Node) bool {
	return n.Has("load_summary", "successes", "failures")
}}}

// readInferencePerf reads the file of one stage.
func readInferencePerf(r *reading) {
	name := filepath.Base(r.file.Path)
	switch {
	case !r.node.Has("load_summary.requested_rate") && !r.node.Has("load_summary.concurrency"):
		r.beside("load_summary has no requested_rate, so the figures are of several loads in one: want stage_N_lifecycle_metrics.json")
		return
	case strings.HasPrefix(name, "adapter_"):
		r.beside("the requests of one adapter")
		return
	}
	r.load("rate", "load_summary.requested_rate")
	r.load("concurrency", "load_summary.concurrency")
	r.requests("successes.count", "failures.count", "load_summary.count")
	r.fields(inferenceperfFields, medians)
	if !r.has(sample.OutputRate) {
		r.failf("successes.throughput.output_tokens_per_sec", "is 0 or missing: want output tokens")
	}
	if v, _ := r.number("successes.token_count_mismatches"); v > 0 {
		r.notef("successes.token_count_mismatches: in %v requests the client's token count differs from the server's", v)
	}
	r.stated(r.node, "load_summary.count", "load_summary.*duration*", "load_summary.achieved_*", "load_summary.*delay*", "successes", "failures", "benchmark_time_seconds", "by_label*", "*goodput*")
	if about := r.sibling(inferenceperfConfig, "the model and the server are not known"); about != nil {
		r.configOf("model", about.Get("server.model_name"))
		r.stated(about, inferenceperfConfigApart...)
	}
}
