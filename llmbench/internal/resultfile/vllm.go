package resultfile

import (
	"cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// vllmFields are the metrics of "vllm bench serve --save-result", which writes a JSON object for each run
// (https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py). Forks such as vLLM-Omni's have
// further metrics. TPOT is one value per request and excludes the TTFT, like mean-tpot-ns. Percentiles are
// interpolated linearly.
var vllmFields = []field{
	{"output_throughput", sample.OutputRate, 1, "tok/s"},
	{"total_token_throughput", sample.TotalRate, 1, "tok/s"},
	{"request_throughput", sample.RequestRate, 1, "req/s"},
	{"request_goodput", sample.GoodRate, 1, "req/s"},
	{"audio_throughput", sample.AudioRate, 1, "s/s"},
	{"{}_ttft_ms", "{}-ttft-ns", millisecond, "ms"},
	{"{}_tpot_ms", "{}-tpot-ns", millisecond, "ms"},
	{"{}_itl_ms", "{}-itl-ns", millisecond, "ms"},
	{"{}_e2el_ms", "{}-e2e-ns", millisecond, "ms"},
	{"spec_decode_acceptance_length", sample.AcceptLength, 1, "tok/step"},
}

// vllmImageFields are the metrics of vLLM-Omni's diffusion benchmarks, which write an array of objects
// (https://github.com/vllm-project/vllm-omni/blob/main/tests/dfx/perf/scripts/run_diffusion_benchmark.py).
var vllmImageFields = []field{
	{"result.throughput_qps", sample.RequestRate, 1, "req/s"},
	{"result.latency_{}", "{}-e2e-ns", second, "s"},
}

// vllmTableFields are the columns of benchmark_results.json, which vLLM's nightly benchmarks write
// (https://github.com/vllm-project/vllm/blob/main/.buildkite/performance-benchmarks/scripts/convert-results-json-to-markdown.py).
var vllmTableFields = []field{
	{"Output Tput (tok/s)", sample.OutputRate, 1, "tok/s"},
	{"Total Token Tput (tok/s)", sample.TotalRate, 1, "tok/s"},
	{"Tput (req/s)", sample.RequestRate, 1, "req/s"},
	{"{} TTFT (ms)", "{}-ttft-ns", millisecond, "ms"},
	{"Mean TPOT (ms)", sample.MeanTPOT, millisecond, "ms"},
	{"Median", sample.P50TPOT, millisecond, "ms"}, // the script gives these two columns such short names
	{"P99", sample.P99TPOT, millisecond, "ms"},
	{"{} ITL (ms)", "{}-itl-ns", millisecond, "ms"},
}

// vllmApart are the keys of results, and of the runs from which medians were computed. All other keys are settings,
// which the tool writes itself or takes from --metadata.
var vllmApart = []string{
	"completed", "failed", "duration", "total_input_*", "total_output_*", "total_token_throughput", "total_audio_*", "total_video_*", "total_image_*", "*_throughput", "request_goodput", "request_goodput:", // some releases wrote the colon, too
	"max_output_tokens_per_s", "max_concurrent_requests", "rtfx", "mean_*", "median_*", "std_*", "p[0-9]*_*", "percentiles_*", "audio_*",
	"probe_*", "spec_decode_acceptance_*", "spec_decode_num_drafts", "spec_decode_*_tokens", "spec_decode_per_position_*", "diffusion_*", "rps_change_events", "steady_state_*",
	"input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "queue_times", "generated_texts", "errors",
	"aggregation_method", "aggregated_repetitions", "individual_result_files",
}

// vllmTableApart are the columns with results of benchmark_results.json.
var vllmTableApart = []string{"*Tput*", "*TTFT*", "*TPOT*", "*ITL*", "*E2EL*", "*(ms)", "*(s)", "Mean", "Median", "P[0-9]*", "Std", "Successful*", "Failed*"}

var vllmFormats = []format{
	{tool: "vLLM", base: "VLLM", read: each(readVLLM), is: func(n *document.Node) bool {
		return n.Has("completed", "request_throughput", "num_prompts") && (n.Has("model_id") || n.Has("backend"))
	}},
	{tool: "vLLM", base: "VLLMImage", read: each(readVLLMImage), is: func(n *document.Node) bool {
		return first(n).Has("test_name", "result.throughput_qps")
	}},
	{tool: "vLLM", base: "VLLMTable", read: each(readVLLMTable), is: func(n *document.Node) bool { return first(n).Has("Test name") }},
	{tool: "vLLM", base: "VLLMTable", read: readVLLMColumns, is: func(n *document.Node) bool {
		return n.Get("Test name").Object() || n.Get("serving.Test name").Object()
	}},
	{tool: "vLLM", base: "VLLM", is: func(n *document.Node) bool {
		return first(n).Has("benchmark", "metric.name") || n.Has("benchmark.name", "metric.name")
	}, read: func(r *reading) { r.beside("vLLM's copy of its results for PyTorch's dashboard") }},
	{tool: "vLLM", base: "VLLM", is: func(n *document.Node) bool { return first(n).Has("completed", "request_throughput") },
		read: func(r *reading) { r.beside("the runs of a sweep, which have files of their own") }},
}

// readVLLM reads the JSON object of one run.
func readVLLM(r *reading) {
	n := r.node
	for i, v := range n.Get("individual_result_files").Items() {
		if i == 0 {
			r.notef("the %s runs used one server, so they count as one observation, the median of the runs", n.Get("aggregated_repetitions").Text())
		}
		r.file.sources = append(r.file.sources, v.Text())
	}
	r.when("date", "20060102-150405")
	r.config("model", "model_id")
	r.config("backend", "backend")
	r.config("num_prompts", "num_prompts")
	r.load("rate", "request_rate")
	r.load("concurrency", "max_concurrency")
	r.requests("completed", "failed", "num_prompts")
	speech, embeds := n.Has("audio_throughput"), !n.Has("output_throughput")
	if embeds {
		r.field(field{"input_sequence_throughput", sample.RequestRate, 1, "seq/s"})
		r.field(field{"total_token_throughput", sample.PromptRate, 1, "tok/s"})
	}
	if out, _ := r.number("total_output_tokens"); out == 0 && !speech && !embeds {
		r.failf("total_output_tokens", "is %s although %s requests are completed: want output tokens", cmp.Or(n.Get("total_output_tokens").Text(), "missing"), n.Get("completed").Text())
		return
	}
	if v, _ := r.number("audio_throughput"); speech && v == 0 {
		r.failf("audio_throughput", "is 0: want audio")
	}
	if lost := n.Get("errors").Filled(); lost > 0 && !n.Has("failed") {
		r.failures("errors", float64(lost), float64(n.Get("errors").Len()))
	}
	r.fields(vllmFields, medians)
	r.perCompleted(sample.PromptLength, "total_input_tokens")
	r.perCompleted(sample.OutputLength, "total_output_tokens")
	r.stated(n, vllmApart...)
}

// readVLLMImage reads the result of one diffusion benchmark.
func readVLLMImage(r *reading) {
	r.when("timestamp", "20060102-150405")
	r.config("model", "server_params.model")
	r.config("backend", "backend")
	r.config("num_prompts", "benchmark_params.num-prompts")
	r.load("test", "test_name")
	r.load("case", "benchmark_params.name")
	r.load("rate", "benchmark_params.request-rate")
	r.load("concurrency", "benchmark_params.max-concurrency")
	r.requests("result.completed_requests", "result.failed_requests", "benchmark_params.num-prompts")
	r.fields(vllmImageFields, medians)
	r.stated(r.node, "result", "timestamp", "benchmark_params.baseline") // results of another day
}

// readVLLMColumns reads the table of nightly results, if it is an object of columns, each of which is an
// object of rows.
func readVLLMColumns(r *reading) {
	table := r.node
	if serving := table.Get("serving"); serving.Object() {
		table = serving
	}
	for _, row := range table.Get("Test name").Names() {
		n := document.NewObject()
		for _, column := range table.Names() {
			if v := table.Get(column).Get(row); v != nil {
				n.Set(column, v)
			}
		}
		r.begin("row "+row+": ", n)
		readVLLMTable(r)
		r.end()
	}
}

// readVLLMTable reads one row of the table of nightly results.
func readVLLMTable(r *reading) {
	r.config("model", "Model")
	r.config("gpu", "GPU")
	r.config("dataset", "Dataset Name")
	r.config("tensor_parallel_size", "TP Size")
	r.load("test", "Test name")
	r.load("in", "Input Len")
	r.load("out", "Output Len")
	r.load("rate", "qps")
	r.load("concurrency", "# of max concurrency.")
	r.notef("%s does not say in this table how many requests failed", r.tool)
	r.positive("Output Tput (tok/s)", "output tokens")
	r.fields(vllmTableFields, []statistic{{"mean", "Mean"}, {"p50", "Median"}, {"p90", "P90"}, {"p95", "P95"}, {"p99", "P99"}})
	r.stated(r.node, vllmTableApart...)
}
