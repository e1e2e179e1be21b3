package resultfile

import (
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// evalscopeFields are the metrics in benchmark_summary.json of "evalscope perf". The first ones are for
// releases since 1.8, the others for earlier releases, which have times in seconds
// (https://github.com/modelscope/evalscope/blob/main/evalscope/perf/utils/perf_constants.py and db_util.py
// beside it). An average is -1 if no request succeeded. The mean TPOT includes answers of one token, as 0.
var evalscopeFields = []field{
	{"Output Throughput (tok/s)", sample.OutputRate, 1, "tok/s"},
	{"Total Throughput (tok/s)", sample.TotalRate, 1, "tok/s"},
	{"Input Throughput (tok/s)", sample.PromptRate, 1, "tok/s"},
	{"Req Throughput (req/s)", sample.RequestRate, 1, "req/s"},
	{"Avg Latency (s)", sample.MeanE2E, second, "s"},
	{"Avg Input Tokens", sample.PromptLength, 1, "tok/req"},
	{"Avg Output Tokens", sample.OutputLength, 1, "tok/req"},
	{"Output token throughput (tok/s)", sample.OutputRate, 1, "tok/s"},
	{"Total token throughput (tok/s)", sample.TotalRate, 1, "tok/s"},
	{"Request throughput (req/s)", sample.RequestRate, 1, "req/s"},
	{"Average latency (s)", sample.MeanE2E, second, "s"},
	{"Average input tokens per request", sample.PromptLength, 1, "tok/req"},
	{"Average output tokens per request", sample.OutputLength, 1, "tok/req"},
}

// evalscopeStreamed are the metrics of streamed answers. Answers that are not streamed have no TTFT.
var evalscopeStreamed = []field{
	{"Avg TTFT (ms)", sample.MeanTTFT, millisecond, "ms"},
	{"Avg TPOT (ms)", sample.MeanTPOT, millisecond, "ms"},
	{"Avg ITL (ms)", sample.MeanITL, millisecond, "ms"},
	{"TTFT (ms)", sample.MeanTTFT, millisecond, "ms"},
	{"TPOT (ms)", sample.MeanTPOT, millisecond, "ms"},
	{"ITL (ms)", sample.MeanITL, millisecond, "ms"},
	{"Average time to first token (s)", sample.MeanTTFT, second, "s"},
	{"Average time per output token (s)", sample.MeanTPOT, second, "s"},
	{"Average inter-token latency (s)", sample.MeanITL, second, "s"},
}

// evalscopePercentiles are the columns of benchmark_percentile.json, which has a row for each percentile.
// Percentiles are values of the sample, rounded to 0.01 of the unit.
var evalscopePercentiles = []field{
	{"TTFT (ms)", "{}-ttft-ns", millisecond, "ms"},
	{"TPOT (ms)", "{}-tpot-ns", millisecond, "ms"},
	{"ITL (ms)", "{}-itl-ns", millisecond, "ms"},
	{"TTFT (s)", "{}-ttft-ns", second, "s"},
	{"TPOT (s)", "{}-tpot-ns", second, "s"},
	{"ITL (s)", "{}-itl-ns", second, "s"},
	{"Latency (s)", "{}-e2e-ns", second, "s"},
}

const (
	evalscopeSummary    = "benchmark_summary.json"
	evalscopePercentile = "benchmark_percentile.json"
	evalscopeArgs       = "benchmark_args.json"
)

// evalscopeArgsApart are the keys of benchmark_args.json that are no settings: the load, which the summary has too, and
// names under which results are shown (https://github.com/modelscope/evalscope/blob/main/evalscope/perf/arguments.py).
var evalscopeArgsApart = []string{"parallel", "rate", "name", "alias", "visualizer", "debug", "no_timestamp", "log_every_n_query", "enable_progress_tracker"}

var evalscopeFormats = []format{
	{tool: "EvalScope", base: "EvalScope", read: each(readEvalscope), is: func(n *document.Node) bool {
		return n.Has("Test Duration (s)") && (n.Has("Total Requests") || n.Has("Success Requests")) || n.Has("Time taken for tests (s)")
	}},
	{tool: "EvalScope", base: "EvalScope", is: func(n *document.Node) bool { return n.Has("model", "parallel", "number", "api", "outputs_dir") },
		read: func(r *reading) { r.beside("EvalScope's settings, which are read with %s", evalscopeSummary) }},
	{tool: "EvalScope", base: "EvalScope", read: readEvalscopePercentiles, is: func(n *document.Node) bool {
		return first(n).Has("Percentiles")
	}},
}

// readEvalscope reads a summary, and the file with the percentiles in the same folder.
func readEvalscope(r *reading) {
	summary := r.node
	if rate := firstOf(summary, "Request Rate (req/s)", "Request rate (req/s)"); summary.Get(rate).Text() != "-1" { // -1 means no rate
		r.load("rate", rate)
	}
	if concurrency := firstOf(summary, "Concurrency", "Number of concurrency"); summary.Get(concurrency).Text() != "-1" { // -1 means an open loop
		r.load("concurrency", concurrency)
	}
	ok, asked := firstOf(summary, "Success Requests", "Succeed requests"), firstOf(summary, "Total Requests", "Total requests")
	r.requests(ok, firstOf(summary, "Failed Requests", "Failed requests"), asked)
	streamed := !summary.Has("Stream Requests") || summary.Get("Stream Requests").Text() != "0"
	r.fields(evalscopeFields, nil)
	if streamed {
		r.fields(evalscopeStreamed, nil)
	}
	if !r.has(sample.OutputRate) && !r.has(sample.PromptRate) {
		r.failf(firstOf(summary, "Output Throughput (tok/s)", "Output token throughput (tok/s)"), "is 0 or missing: want output tokens")
	}
	if about := r.sibling(evalscopeArgs, "the model and the settings are not known"); about != nil {
		r.configOf("model", about.Get("model"))
		r.stated(about, evalscopeArgsApart...)
	}
	if streamed && r.err == nil {
		r.percentiles(filepath.Join(filepath.Dir(r.file.Path), evalscopePercentile))
	}
}

// percentiles adds the percentiles in a file to the result, if the file exists.
func (r *reading) percentiles(path string) {
	in, err := os.Open(path)
	if err != nil {
		r.notef("there is no %s beside the file, so the medians are not known", evalscopePercentile)
		return
	}
	defer in.Close()
	err = document.JSON(in, func(n *document.Node) error {
		r.rows(n, evalscopePercentile+" ")
		return nil
	})
	if err != nil {
		r.err = &Error{Path: path, Text: err.Error()}
	}
}

// rows adds the percentiles of a table to the result.
func (r *reading) rows(table *document.Node, at string) {
	names := map[string]string{"50%": "p50", "90%": "p90", "95%": "p95", "99%": "p99"}
	before := r.at
	for _, row := range table.Items() {
		if s := names[row.Get("Percentiles").Text()]; s != "" {
			r.at, r.node = before+at+row.Get("Percentiles").Text()+" ", row
			r.fields(evalscopePercentiles, []statistic{{s, ""}})
		}
	}
	r.at = before
}

// readEvalscopePercentiles reads a file with percentiles if there is no summary in the same folder.
func readEvalscopePercentiles(r *reading) {
	if _, err := os.Stat(filepath.Join(filepath.Dir(r.file.Path), evalscopeSummary)); err == nil {
		r.beside("read with %s", evalscopeSummary)
		return
	}
	table := r.node
	r.begin(r.at, table)
	r.notef("there is no %s beside the file, so the throughput, the load and the failed requests are not known", evalscopeSummary)
	r.rows(table, "")
	r.end()
}
