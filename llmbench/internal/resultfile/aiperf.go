package resultfile

import (
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// aiperfFields are the metrics in the JSON and CSV exports of AIPerf and genai-perf, profile_export
// (https://github.com/ai-dynamo/aiperf/blob/main/src/aiperf/common/models/export_models.py). Times are in
// the unit that the file names. Statistics are over one value per request: inter_token_latency is (latency
// - TTFT) / (output tokens - 1), like mean-tpot-ns. The CSV has two decimals.
var aiperfFields = []field{
	{"output_token_throughput.avg", sample.OutputRate, 1, "tok/s"},
	{"total_token_throughput.avg", sample.TotalRate, 1, "tok/s"},
	{"request_throughput.avg", sample.RequestRate, 1, "req/s"},
	{"goodput.avg", sample.GoodRate, 1, "req/s"},
	{"time_to_first_token.{}", "{}-ttft-ns", 0, ""},
	{"inter_token_latency.{}", "{}-tpot-ns", 0, ""},
	{"inter_chunk_latency.{}", "{}-itl-ns", 0, ""},
	{"request_latency.{}", "{}-e2e-ns", 0, ""},
	{"input_sequence_length.avg", sample.PromptLength, 1, "tok/req"},
	{"output_sequence_length.avg", sample.OutputLength, 1, "tok/req"},
}

var averages = []statistic{{"mean", "avg"}, {"p50", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}

var aiperfFormats = []format{
	{tool: "AIPerf", base: "AIPerf", is: func(n *document.Node) bool { return n.Has("aiperf_version", "metadata.aggregation_type") },
		read: func(r *reading) {
			r.beside("statistics over several runs of AIPerf, each of which has its own profile_export_aiperf.json")
		}},
	{tool: "AIPerf", base: "AIPerf", is: func(n *document.Node) bool { return n.Has("aiperf_version", "summary.endpoints_configured") },
		read: func(r *reading) { r.beside("what AIPerf read from the server's metrics") }},
	{tool: "AIPerf", base: "AIPerf", read: readAIPerf, is: func(n *document.Node) bool {
		return n.Has("request_throughput.avg") || n.Has("request_latency.unit") || n.Has("aiperf_version")
	}},
	{tool: "AIPerf", base: "AIPerf", isTable: isAIPerfAggregate, readTable: func(r *reading, _ [][]string) {
		r.beside("statistics over several runs of AIPerf, each of which has its own profile_export_aiperf.csv")
	}},
	{tool: "AIPerf", base: "AIPerf", isTable: func(rows [][]string) bool {
		return len(rows) > 0 && len(rows[0]) > 2 && rows[0][0] == "Metric" && slices.Contains(rows[0], "p99")
	}, readTable: readAIPerfTable},
}

// aiperfApart are the keys of input_config that are no settings: where results go, what else is done with them, and how the
// run is shown.
var aiperfApart = []string{"artifacts", "output", "runtime.ui", "logging", "mlflow", "wandb", "otel", "tokenizer.cache_dir"}

// isAIPerfAggregate reports whether a CSV file has statistics over several runs.
func isAIPerfAggregate(rows [][]string) bool {
	return len(rows) > 0 && len(rows[0]) > 2 && rows[0][0] == "metric" && slices.Contains(rows[0], "ci_low")
}

// readAIPerf reads a JSON export.
func readAIPerf(r *reading) {
	n := r.node
	r.begin(r.at, n)
	if v := n.Get("schema_version").Text(); v != "" && v != "1" && !strings.HasPrefix(v, "1.") {
		r.failf("schema_version", "is %.20q: want 1.x, because the meaning of other versions' values is not known", v)
		return
	}
	if n.Get("was_cancelled").True() {
		r.failf("was_cancelled", "is true: want a whole run")
	}
	if n.Get("is_complete").False() {
		r.failf("is_complete", "is false: want a whole run")
	}
	r.when("start_time", "2006-01-02T15:04:05.999999", "2006-01-02T15:04:05.999999Z07:00")
	model := firstOf(n, "input_config.endpoint.model_names", "input_config.models.items", "input_config.model")
	if m := first(n.Get(model)); m.Object() {
		r.configOf("model", m.Get("name"))
	} else if m != nil {
		r.know(n.Get(model))
		r.configOf("model", m)
	} else {
		r.config("model", model)
	}
	r.aiperfLoad()
	r.aiperfSettings()
	r.aiperfFigures()
}

// aiperfSettings adds the settings. At the top of the file only texts, numbers and truths are settings, because objects are
// metrics.
func (r *reading) aiperfSettings() {
	r.stated(r.node.Get("input_config"), aiperfApart...)
	r.stated(r.node.Get("run_info.variation_values"))
	top := document.NewObject()
	for _, name := range r.node.Names() {
		if n := r.node.Get(name); !n.Object() && n.Len() == 0 {
			top.Set(name, n)
		}
	}
	r.stated(top, "schema_version", "was_cancelled", "is_complete")
}

// aiperfLoad adds to the result the load of the measured phase, or of the load generator in older schemas.
func (r *reading) aiperfLoad() {
	for i, phase := range r.node.Get("input_config.phases").Items() {
		if phase.Get("exclude_from_results").True() {
			continue
		}
		for _, key := range []string{"request_rate", "rate", "concurrency"} {
			r.know(phase.Get(key))
			if v := spell(phase.Get(key)); v != "" {
				r.loadIs(strings.TrimPrefix(key, "request_"), "input_config.phases["+itoa(i)+"]."+key, v)
			}
		}
	}
	for _, at := range []string{"input_config.loadgen.", "input_config.perf_analyzer.stimulus.", "input_config."} {
		if r.node.Has(at+"concurrency") || r.node.Has(at+"request_rate") {
			r.load("rate", at+"request_rate")
			r.load("concurrency", at+"concurrency")
			return
		}
	}
}

// aiperfFigures adds the metrics, and ends the result.
func (r *reading) aiperfFigures() {
	n := r.node
	const bad = "error_request_count.avg"
	lost := 0.0
	for _, e := range n.Get("error_summary").Items() {
		if v, ok := e.Get("count").Number(); ok {
			lost += v
		}
	}
	ok, _ := r.number("request_count.avg")
	switch {
	case n.Has("request_count") && ok == 0:
		r.failf("request_count.avg", "is 0: want a successful request")
	case n.Has(bad):
		r.requests("request_count.avg", bad, "")
	case n.Has("error_summary"):
		r.failures("error_summary", lost, lost+ok)
	case n.Has("completed_requests"): // since 0.13 the CSV has no row of errors if there were none
		all, _ := r.number("completed_requests.avg")
		r.failures("completed_requests.avg", max(0, all-ok), all)
	default:
		r.notef("the file does not say how many requests failed")
	}
	r.positive("output_token_throughput.avg", "output tokens")
	for _, f := range aiperfFields {
		if r.timed(&f, ".unit", false, "ns, us, ms or sec") {
			r.fields([]field{f}, averages)
		}
	}
	if v, _ := r.number("osl_mismatch_count.avg"); v > 0 {
		r.notef("osl_mismatch_count: %v of %v answers do not have the requested length", v, ok)
	}
	r.end()
}

// readAIPerfTable reads a CSV export: first metrics with statistics, then metrics with one value.
func readAIPerfTable(r *reading, rows [][]string) {
	top := document.NewObject()
	header := rows[0]
	for i, row := range rows[1:] {
		if len(row) > 2 && row[0] == "Endpoint" || len(row) < 2 {
			break // the table of GPUs follows
		}
		if row[0] == "Metric" {
			header = []string{"Metric", "avg"}
			continue
		}
		if len(row) < len(header) {
			r.failf("row "+itoa(i+1), "has %d of %d columns: was the file cut off?", len(row), len(header))
			return
		}
		name, unit, _ := strings.Cut(strings.TrimSuffix(row[0], ")"), " (")
		metric := document.Row(header, row)
		metric.Set("unit", document.NewText(unit))
		top.Set(strings.ReplaceAll(strings.ToLower(name), " ", "_"), metric)
	}
	r.begin(r.at, top)
	if !top.Has("request_throughput") {
		r.failf("request_throughput", "is missing, the last row: was the file cut off?")
	}
	r.notef("the CSV contains neither the load nor the model nor other settings")
	r.aiperfFigures()
}
