package resultfile

import (
	"cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// genaibenchFields are the metrics of a run of genai-bench, which writes one file for each load
// (https://github.com/sgl-project/genai-bench/blob/main/genai_bench/metrics/aggregated_metrics_collector.py).
// Times are in the unit given by "_time_unit", or in seconds. error_rate is not read, because it is always
// 0: the tool computes it from a number that is still 0 at that point (same file, aggregate_metrics_data).
var genaibenchFields = []field{
	{"mean_output_throughput_tokens_per_s", sample.OutputRate, 1, "tok/s"},
	{"mean_total_tokens_throughput_tokens_per_s", sample.TotalRate, 1, "tok/s"},
	{"mean_total_throughput_tokens_per_s", sample.TotalRate, 1, "tok/s"},
	{"mean_input_throughput_tokens_per_s", sample.PromptRate, 1, "tok/s"},
	{"requests_per_second", sample.RequestRate, 1, "req/s"},
	{"requests_per_minute", sample.RequestRate, 1.0 / 60, "req/min"},
	{"stats.num_input_tokens.mean", sample.PromptLength, 1, "tok/req"},
	{"stats.num_output_tokens.mean", sample.OutputLength, 1, "tok/req"},
}

// genaibenchApart are the keys of results in aggregated_metrics.
var genaibenchApart = []string{"run_duration", "mean_*", "requests_per_*", "error_*", "num_requests", "num_*_requests", "stats"}

// genaibenchMetadata is the file with the settings of all loads of an experiment
// (https://github.com/sgl-project/genai-bench/blob/main/genai_bench/protocol.py, ExperimentMetadata).
const genaibenchMetadata = "experiment_metadata.json"

// genaibenchMetadataApart are the keys that are no settings: the loads, which the file of each load has too, the name of the
// experiment, the unit in which times are written, and the version of the server, which is what is measured.
var genaibenchMetadataApart = []string{"num_concurrency", "batch_size", "traffic_scenario", "experiment_*", "metrics_time_unit", "server_version"}

// genaibenchTimes are the latencies, which are in seconds or in milliseconds.
func genaibenchTimes(unit string) []field {
	return []field{
		{"stats.ttft.{}", "{}-ttft-ns", times[unit], unit},
		{"stats.tpot.{}", "{}-tpot-ns", times[unit], unit},
		{"stats.e2e_latency.{}", "{}-e2e-ns", times[unit], unit},
	}
}

var plainStatistics = []statistic{{"mean", "mean"}, {"p50", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}

var genaibenchFormats = []format{
	{tool: "genai-bench", base: "GenAIBench", read: readGenAIBench, is: func(n *document.Node) bool {
		return n.Has("aggregated_metrics") && n.Get("aggregated_metrics.stats").Object()
	}},
	{tool: "genai-bench", base: "GenAIBench", is: func(n *document.Node) bool { return n.Has("benchmark_version", "traffic_scenario", "cmd") },
		read: func(r *reading) { r.beside("genai-bench's settings, which are read with the file of each load") }},
}

// readGenAIBench reads the file of one load.
func readGenAIBench(r *reading) {
	top := r.node
	r.begin(r.at+"aggregated_metrics.", top.Get("aggregated_metrics"))
	r.load("scenario", "scenario")
	r.load("batch", "batch_size")
	r.load("concurrency", "num_concurrency")
	r.requests("num_completed_requests", "num_error_requests", "num_requests")
	r.fields(genaibenchFields, nil)
	unit := cmp.Or(top.Get("_time_unit").Text(), "s")
	if unit != "s" && unit != "ms" {
		r.failf("_time_unit", "is %.20q: want s or ms", unit)
	}
	if !r.has(sample.OutputRate) && r.node.Has("stats.ttft") {
		r.failf("mean_output_throughput_tokens_per_s", "is 0 or missing: want output tokens")
	}
	r.fields(genaibenchTimes(unit), plainStatistics)
	r.stated(r.node, genaibenchApart...)
	if about := r.sibling(genaibenchMetadata, "the model and the server are not known"); about != nil {
		r.configOf("model", about.Get("model"))
		r.stated(about, genaibenchMetadataApart...)
	}
	r.end()
}
