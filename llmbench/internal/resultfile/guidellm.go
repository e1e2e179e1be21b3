package resultfile

import (
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// guidellmFields are the metrics of the benchmarks in a report of "guidellm benchmark", which has one
// benchmark for each rate
// (https://github.com/vllm-project/guidellm/blob/main/src/guidellm/benchmark/schemas/metrics.py). Reports
// without metadata and with metadata versions 1 and 2 are known. Means of times per token are weighted by
// tokens. The time per output token begins with the request. Output tokens per second are computed over the
// time between the first and the last token. The medians of rates are over instants, and are not read. A
// percentile is the smallest value whose cumulative share reaches it.
var guidellmFields = []field{
	{"metrics.output_tokens_per_second.successful.mean", sample.OutputRate, 1, "tok/s"},
	{"metrics.tokens_per_second.successful.mean", sample.TotalRate, 1, "tok/s"},
	{"metrics.requests_per_second.successful.mean", sample.RequestRate, 1, "req/s"},
	{"metrics.time_to_first_token_ms.successful.{}", "{}-ttft-ns", millisecond, "ms"},
	{"metrics.inter_token_latency_ms.successful.{}", "{}-token-itl-ns", millisecond, "ms"},
	{"metrics.time_per_output_token_ms.successful.{}", "{}-tpot-incl-ttft-ns", millisecond, "ms"},
	{"metrics.request_latency.successful.{}", "{}-e2e-ns", second, "s"},
	{"metrics.prompt_token_count.successful.mean", sample.PromptLength, 1, "tok/req"},
	{"metrics.output_token_count.successful.mean", sample.OutputLength, 1, "tok/req"},
}

// guidellmTable are the CSV columns of the same metrics: the three rows of the header, joined by dots
// (https://github.com/vllm-project/guidellm/blob/main/src/guidellm/benchmark/outputs/csv.py).
var guidellmTable = []field{
	{"Token Throughput.Successful Output Tokens/Sec.Mean", sample.OutputRate, 1, "tok/s"},
	{"Token Throughput.Successful Total Tokens/Sec.Mean", sample.TotalRate, 1, "tok/s"},
	{"Server Throughput.Successful Requests/Sec.Mean", sample.RequestRate, 1, "req/s"},
	{"Time to First Token.Successful ms.{}", "{}-ttft-ns", millisecond, "ms"},
	{"Inter Token Latency.Successful ms.{}", "{}-token-itl-ns", millisecond, "ms"},
	{"Time per Output Token.Successful ms.{}", "{}-tpot-incl-ttft-ns", millisecond, "ms"},
	{"Request Latency.Successful Sec.{}", "{}-e2e-ns", second, "s"},
	{"Token Metrics.Successful Input Tokens.Mean", sample.PromptLength, 1, "tok/req"},
	{"Token Metrics.Successful Output Tokens.Mean", sample.OutputLength, 1, "tok/req"},
}

// guidellmApart are the keys that are no settings: the rates and streams of all benchmarks of a report, of which each benchmark
// has its own, and the numbers and the environment of a run.
var guidellmApart = []string{
	"run_index", "environment", "constraints.*.current_index", "profile.streams", "profile.rate", "profile.*rate", "profile.*rates", "profile.completed_strategies",
	"profile.measured_*", "rate", "outputs", "output_*", "overrides", "worker",
}

var guidellmStatistics = []statistic{{"mean", "mean"}, {"p50", "median"}, {"p90", "percentiles.p90"}, {"p95", "percentiles.p95"}, {"p99", "percentiles.p99"}}

var guidellmFormats = []format{
	{tool: "GuideLLM", base: "GuideLLM", read: readGuideLLM, is: func(n *document.Node) bool {
		b := first(n.Get("benchmarks"))
		return b.Has("metrics.requests_per_second") || n.Has("metadata.guidellm_version")
	}},
	{tool: "GuideLLM", base: "GuideLLM", isTable: func(rows [][]string) bool {
		return len(rows) > 0 && slices.Contains(rows[0], "Run Info") && slices.Contains(rows[0], "Token Throughput")
	}, readTable: readGuideLLMTable},
}

// readGuideLLM reads a report.
func readGuideLLM(r *reading) {
	top := r.node
	if v, ok := top.Get("metadata.version").Number(); ok && v > 2 {
		r.failf("metadata.version", "is %v: want 2 or lower, because the meaning of other versions' values is not known", v)
	}
	all := top.Get("benchmarks")
	if all.Len() == 0 {
		r.failf("benchmarks", "is empty or missing: want a benchmark")
	}
	for i, b := range all.Items() {
		r.begin("benchmarks["+itoa(i)+"].", b)
		r.whenUnix("start_time")
		for _, n := range []string{"config.spec.backend.model", "config.backend.model", "args.model"} {
			if top.Has(n) {
				r.configOf("model", top.Get(n))
				break
			}
		}
		strategy := firstOf(b, "config.strategy", "args.strategy", "scheduler.strategy")
		r.load("strategy", strategy+".type_")
		r.load("rate", strategy+".rate")
		r.load("streams", strategy+".streams")
		if !b.Has(strategy+".rate") && !b.Has(strategy+".streams") {
			r.load("concurrency", strategy+".max_concurrency")
		}
		counts := firstOf(b, "scheduler_metrics.requests_made", "run_stats.requests_made", "metrics.request_totals", "request_totals")
		r.requests(counts+".successful", counts+".errored", "")
		if cut, _ := r.number(counts + ".incomplete"); cut > 0 {
			r.notef("%v requests were incomplete when the time was over; they do not count as failed, and the metrics do not include them", cut)
		}
		if v, _ := r.number("metrics.output_token_count.successful.total_sum"); v == 0 {
			r.failf("metrics.output_token_count.successful.total_sum", "is 0 or missing: want output tokens")
		}
		r.fields(guidellmFields, guidellmStatistics)
		for _, at := range []string{"config", "args"} {
			r.stated(b.Get(at), guidellmApart...)
			r.stated(top.Get(at), slices.Concat(guidellmApart, []string{"spec", "benchmarks"})...)
		}
		r.stated(top.Get("config.spec"), guidellmApart...)
		r.stated(top.Get("metadata"), "version")
		r.end()
	}
}

// readGuideLLMTable reads a CSV report.
func readGuideLLMTable(r *reading, rows [][]string) {
	heads := 2
	if len(rows) < heads {
		r.failf("", "has one row of its header: was the file cut off?")
		return
	}
	if len(rows) > 2 && len(rows[2]) > 0 && rows[2][0] == "" {
		heads = 3
	}
	var header []string
	for i := range rows[0] {
		var parts []string
		for _, row := range rows[:heads] {
			if i < len(row) && row[i] != "" {
				parts = append(parts, row[i])
			}
		}
		header = append(header, strings.Join(parts, "."))
	}
	r.csvRows(header, rows[heads:], "benchmark", func(i int) {
		r.load("strategy", "Benchmark.Strategy")
		r.loadIs("index", "row", itoa(i))
		r.guidellmCells(header, rows[heads+i])
		r.notef("the CSV does not say at which rate each benchmark ran, so the first rows of both sides are compared with each other, then the second rows, and so on")
		counts := "Scheduler Metrics.Requests Made "
		if !r.node.Has(counts + "Successful") {
			counts = "Request Counts."
		}
		r.requests(counts+"Successful", counts+"Errored", "")
		r.fields(guidellmTable, []statistic{{"mean", "Mean"}, {"p50", "Median"}})
		if !r.has(sample.OutputRate) {
			r.failf(guidellmTable[0].key, "is 0 or missing: want output tokens")
		}
	})
}

// guidellmCells adds the settings of a row of the CSV, whose columns of the groups Run Info and Runtime Info are JSON texts.
func (r *reading) guidellmCells(header, row []string) {
	for i, name := range header {
		group, column, _ := strings.Cut(name, ".")
		if i >= len(row) || group != "Run Info" && group != "Runtime Info" && name != "Benchmark.Constraints" || !strings.HasPrefix(row[i], "{") {
			continue
		}
		document.JSON(strings.NewReader(row[i]), func(n *document.Node) error { // a text that is not JSON states nothing
			switch column {
			case "Backend":
				r.configOf("model", n.Get("model"))
			case "Metadata":
				r.stated(n, "version")
				return nil
			case "Arguments":
				r.know(n.Get("spec.backend.model"))
				r.stated(n.Get("spec"), guidellmApart...)
				r.stated(n, slices.Concat(guidellmApart, []string{"spec", "benchmarks"})...)
				return nil
			}
			settings := document.NewObject()
			settings.Set(strings.ToLower(column), n)
			r.stated(settings, guidellmApart...)
			return nil
		})
	}
}
