package resultfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// llmdFields are the metrics in llm-d's Benchmark Report 0.1, 0.2 and 0.2.1, one file for each load, in
// YAML or JSON
// (https://github.com/llm-d/llm-d-benchmark/blob/main/llmdbenchmark/analysis/benchmark_report/schema_v0_2.py).
// Times are in the units that the report names. A metric has the definition of the tool that wrote the results, so
// the tool decides which unit of llmbench it gets (https://github.com/llm-d/llm-d-benchmark/blob/main/llmdbenchmark/analysis/benchmark_report/native_to_br0_2.py):
// GuideLLM's time per output token begins with the request, and its ITL is weighted by tokens; the ITL of AIPerf is a
// time per output token.
var llmdFields = []field{
	{"throughput.output_token_rate.mean", sample.OutputRate, 1, "tok/s"},
	{"throughput.total_token_rate.mean", sample.TotalRate, 1, "tok/s"},
	{"throughput.input_token_rate.mean", sample.PromptRate, 1, "tok/s"},
	{"throughput.request_rate.mean", sample.RequestRate, 1, "req/s"},
	{"latency.time_to_first_token.{}", "{}-ttft-ns", 0, ""},
	{"latency.time_per_output_token.{}", "{}-tpot-ns", 0, ""},
	{"latency.inter_token_latency.{}", "{}-itl-ns", 0, ""},
	{"latency.normalized_time_per_output_token.{}", "{}-tpot-incl-ttft-ns", 0, ""},
	{"latency.request_latency.{}", "{}-e2e-ns", 0, ""},
	{"requests.input_length.mean", sample.PromptLength, 1, "tok/req"},
	{"requests.output_length.mean", sample.OutputLength, 1, "tok/req"},
	// version 0.1
	{"throughput.output_tokens_per_sec", sample.OutputRate, 1, "tok/s"},
	{"throughput.total_tokens_per_sec", sample.TotalRate, 1, "tok/s"},
	{"throughput.input_tokens_per_sec", sample.PromptRate, 1, "tok/s"},
	{"throughput.requests_per_sec", sample.RequestRate, 1, "req/s"},
}

// llmdApart are the keys of a report's scenario that name the experiment, and that say where its output went. Environment
// variables may hold secrets.
var llmdApart = []string{"description", "*metadata", "*.envars", "*.env", "*storage", "*report*", "*.cfg_id", "load.native.config.load.stages"}

// llmdVersions are the known versions of the report.
var llmdVersions = []string{"0.1", "0.2", "0.2.1"}

var llmdFormats = []format{{tool: "llm-d Benchmark Report", base: "LLMDReport", read: readLLMD, is: func(n *document.Node) bool {
	return n.Has("results.request_performance") || n.Has("metrics.latency.inter_token_latency.units") || n.Has("metrics.latency.time_to_first_token.units") ||
		n.Has("version") && (n.Has("metrics.requests") || n.Has("scenario.load"))
}}}

// readLLMD reads a report.
func readLLMD(r *reading) {
	top := r.node
	switch v := top.Get("version").Text(); {
	case v == "":
		r.failf("version", "is missing, the last key of a report: was the file cut off?")
		return
	case !slices.Contains(llmdVersions, v):
		r.failf("version", "is %.20q: want %s, because the meaning of other versions' values is not known", v, strings.Join(llmdVersions, ", "))
		return
	}
	at := firstOf(top, "results.request_performance.aggregate", "metrics")
	r.begin("", top)
	r.when("run.time.start", "2006-01-02T15:04:05Z07:00")
	for i, part := range top.Get("scenario.stack").Items() {
		if part.Has("standardized.model.name") && i < 64 {
			r.configOf("model", part.Get("standardized.model.name"))
			r.configOf("gpu", part.Get("standardized.accelerator.model"))
			break
		}
	}
	r.config("model", "scenario.model.name")
	const load = "scenario.load.standardized."
	tool := firstOf(top, load+"tool", "scenario.load.name")
	r.config("load_tool", tool)
	r.load("stage", load+"stage")
	r.load("rate", firstOf(top, load+"rate_qps", "scenario.load.args.qps_values"))
	r.load("concurrency", load+"concurrency")
	r.stated(top.Get("scenario"), llmdApart...)
	r.at, r.node = at+".", top.Get(at)
	r.llmdFigures(strings.ToLower(top.Get(tool).Text()))
}

// llmdUnits maps tools to the metrics that they define differently from the report, and these to units of llmbench.
var llmdUnits = map[string]map[string]string{
	"guidellm": {"latency.time_per_output_token.{}": "{}-tpot-incl-ttft-ns", "latency.inter_token_latency.{}": "{}-token-itl-ns"},
	"aiperf":   {"latency.inter_token_latency.{}": "{}-tpot-ns"},
}

// llmdFigures adds the metrics, and ends the result. tool is the tool that wrote the results, in lower case.
func (r *reading) llmdFigures(tool string) {
	n := r.node
	total, hasTotal := r.number("requests.total")
	bad, hasBad := r.number("requests.failures")
	if cut, _ := r.number("requests.incomplete"); cut > 0 && cut <= total {
		r.notef("%v requests were incomplete; they do not count as failed, and the metrics do not include them", cut)
		total -= cut
	}
	switch {
	case hasTotal && total-bad <= 0:
		r.failf("requests.total", "is %v, and %v failed: want a successful request", total, bad)
	case hasTotal && hasBad:
		r.failures("requests.failures", bad, total)
	default:
		r.notef("the report does not say how many requests failed")
	}
	for _, f := range llmdFields {
		f.unit = cmp.Or(llmdUnits[tool][f.key], f.unit)
		if r.timed(&f, ".units", true, "s, ms, us or ns, or one of them a token") {
			r.fields([]field{f}, plainStatistics)
		}
	}
	if !r.has(sample.OutputRate) && n.Has("throughput.output_token_rate") {
		r.failf("throughput.output_token_rate.mean", "is 0: want output tokens")
	}
	r.end()
}
