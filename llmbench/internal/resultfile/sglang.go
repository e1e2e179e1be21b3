package resultfile

import (
	"cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// sglangFields are the metrics of SGLang's bench_serving. It appends a JSON object for each run to a file,
// one per line (https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py). Lines
// written in 2024 have fewer metrics. The request rate is Infinity or "trace" for loads without a rate. The
// tool does not report how many requests were sent or how many failed.
var sglangFields = []field{
	{"output_throughput", sample.OutputRate, 1, "tok/s"},
	{"total_throughput", sample.TotalRate, 1, "tok/s"},
	{"input_throughput", sample.PromptRate, 1, "tok/s"},
	{"request_throughput", sample.RequestRate, 1, "req/s"},
	{"{}_ttft_ms", "{}-ttft-ns", millisecond, "ms"},
	{"{}_tpot_ms", "{}-tpot-ns", millisecond, "ms"},
	{"{}_itl_ms", "{}-itl-ns", millisecond, "ms"},
	{"{}_e2e_latency_ms", "{}-e2e-ns", millisecond, "ms"},
	{"accept_length", sample.AcceptLength, 1, "tok/step"},
}

// sglangApart are the keys of results.
var sglangApart = []string{
	"completed", "duration", "concurrency", "accept_length", "total_*", "*_throughput", "mean_*", "median_*", "std_*", "p[0-9]*_*", "cache_report",
	"max_output_tokens_per_s", "max_concurrent_requests", "input_lens", "output_lens", "ttfts", "itls", "latencies", "generated_texts", "errors", "server_info",
}

// sglangServerApart are the keys of server_info that are no settings: the server's state, what it computed from the
// memory that was free at its start, and the version, which is what is measured.
var sglangServerApart = []string{"internal_states", "max_total_num_tokens", "max_req_input_len", "available_gpu_mem*", "status", "load", "version", "kv_events_*", "*_cpu_mask"}

var sglangFormats = []format{{tool: "SGLang", base: "SGLang", read: each(readSGLang), is: func(n *document.Node) bool {
	return n.Has("completed", "output_throughput") && (n.Has("total_output_tokens_retokenized") || n.Has("dataset_name", "backend")) && !n.Has("num_prompts")
}}}

// readSGLang reads the line of one run.
func readSGLang(r *reading) {
	n := r.node
	r.config("backend", "backend")
	r.config("model", "server_info.model_path")
	r.config("random_range_ratio", "random_range_ratio")
	r.load("dataset", "dataset_name")
	r.load("in", "random_input_len")
	r.load("out", firstOf(n, "sharegpt_output_len", "random_output_len"))
	r.load("rate", "request_rate")
	r.load("concurrency", "max_concurrency")
	if c, _ := r.number("completed"); c == 0 {
		r.failf("completed", "is %s: want a successful request", cmp.Or(n.Get("completed").Text(), "missing"))
	}
	if lost := n.Get("errors"); lost.Len() > 0 {
		r.failures("errors", float64(lost.Filled()), float64(lost.Len()))
	} else {
		r.notef("SGLang does not say how many requests failed (only --output-details does)")
	}
	if v, ok := r.number("total_output_tokens_retokenized"); ok && v == 0 {
		r.failf("total_output_tokens_retokenized", "is 0, which means that no answer had text: was every request refused?")
	}
	if v, ok := r.number("total_output_tokens"); ok && v == 0 {
		r.failf("total_output_tokens", "is 0 although %s requests are completed: want output tokens", n.Get("completed").Text())
	}
	r.fields(sglangFields, medians)
	r.perCompleted(sample.PromptLength, "total_input_tokens")
	r.perCompleted(sample.OutputLength, "total_output_tokens")
	r.stated(n, sglangApart...)
	r.stated(n.Get("server_info"), sglangServerApart...)
}
