// Package columns says where people see which units, and under which titles: in the table at the end of a run, and in the
// tables, plots and sentences of reports. A new column is a line of one of the lists. Package sample says what the units
// mean.
package columns

import "github.com/seed-2b9cec6d/llmbench/llmbench/sample"

// These lists have the units of one quantity. The first that a result has is shown, and compared. llmbench reports the
// first of each list; results of other tools and of published studies may have only a later one.
var (
	Output     = []string{sample.OutputRate, sample.TokenRate}
	Throughput = []string{sample.OutputRate, sample.TokenRate, sample.RequestRate}
	FirstToken = []string{sample.P50TTFT, sample.MeanTTFT}
	Latency    = []string{sample.P50E2E, sample.MeanE2E}
)

// A Column shows a unit of results: in a column of a table, in a plot, or in a sentence.
type Column struct {
	// Title is the heading. Loads needs none: a heading there is the name of the unit that is shown, by [Name].
	Title string
	Units []string // the first that a result has is shown
	// With and Without are "", or a unit. The column is left out if a result lacks With or has Without. In the table at the
	// end of a run that is about the results of all rows.
	With, Without string
	// Weight is the importance of a column of the table at the end of a run. If the table is too wide, the columns with the
	// smallest weight are omitted first. A line below the table lists omitted columns, except columns of weight 0.
	Weight int
	Truth  bool // the values come from the log of a simulated server
}

// Terminal has the columns of the table at the end of a run.
var Terminal = []Column{
	{Title: "tok/s", Units: []string{sample.OutputRate}, Weight: 12},
	{Title: "offered/s", Units: []string{sample.OfferedRate}, Weight: 11, With: sample.ShedShare},
	{Title: "served/s", Units: []string{sample.RequestRate}, Weight: 11, With: sample.ShedShare},
	{Title: "req/s", Units: []string{sample.RequestRate}, Weight: 4, Without: sample.ShedShare},
	{Title: "good/s", Units: []string{sample.GoodRate}, Weight: 11},
	{Title: "shed %", Units: []string{sample.ShedShare}, Weight: 11},
	{Title: "price/Mtok", Units: []string{sample.TokenPrice}, Weight: 10},
	{Title: "TTFT p50", Units: []string{sample.P50TTFT}, Weight: 10},
	{Title: "true", Units: []string{sample.P50TTFT}, Weight: 7, Truth: true},
	{Title: "p99", Units: []string{sample.P99TTFT}, Weight: 3},
	{Title: "TPOT", Units: []string{sample.MeanTPOT}, Weight: 9},
	{Title: "true", Units: []string{sample.MeanTPOT}, Weight: 6, Truth: true},
	{Title: "p99", Units: []string{sample.P99TPOT}},
	{Title: "ITL p50", Units: []string{sample.P50ITL}},
	{Title: "ITL p99", Units: []string{sample.P99ITL}, Weight: 2},
	{Title: "E2E p50", Units: []string{sample.P50E2E}, Weight: 8},
	{Title: "true", Units: []string{sample.P50E2E}, Weight: 5, Truth: true},
	{Title: "p99", Units: []string{sample.P99E2E}},
}

// Benchmarks has the columns of reports' tables with a row for each benchmark, and Beside the general units that the
// last column of these tables has beside the units of single benchmarks. Loads has the columns of tables with a row for
// each load.
var (
	Benchmarks = []Column{{Title: "output", Units: Output}, {Title: "TTFT", Units: FirstToken}, {Title: "TPOT", Units: []string{sample.MeanTPOT}}, {Title: "latency", Units: Latency}}
	Beside     = []string{sample.TokenPrice, sample.P50TTFO, sample.Accuracy, sample.CachedShare, sample.FailShare, sample.ShedShare}
	Loads      = append(Benchmarks[:4:4], Column{Units: []string{sample.TokenPrice}}, Column{Units: []string{sample.RequestRate}}, Column{Units: []string{sample.GoodRate}}, Column{Units: []string{sample.FailShare}}, Column{Units: []string{sample.ShedShare}})
)

// Sentence has what a report's sentence about a result says, and Users what it says that users see at a load.
var (
	Sentence = []Column{
		{Units: Output},
		{Units: []string{sample.RequestRate}},
		{Title: "TTFT", Units: FirstToken},
		{Title: "TTFT p99", Units: []string{sample.P99TTFT}},
		{Title: "time per token", Units: []string{sample.MeanTPOT}},
		{Title: "latency", Units: Latency},
		{Title: "price of a million output tokens", Units: []string{sample.TokenPrice}},
		{Title: "failed", Units: []string{sample.FailShare}},
		{Title: "shed", Units: []string{sample.ShedShare}},
		{Title: "SLO kept up to", Units: []string{sample.SLORate}},
		{Title: "SLO kept up to a concurrency of", Units: []string{sample.SLOUsers}},
		{Title: "knee at a concurrency of", Units: []string{sample.KneeUsers}},
	}
	Users = []Column{
		{Title: "TTFT", Units: FirstToken},
		{Title: "time per token", Units: []string{sample.MeanTPOT}},
		{Title: "latency", Units: Latency},
	}
)

// Headline has the plots over the load beside a report's answer.
var Headline = []Column{
	{Title: "throughput", Units: Throughput},
	{Title: "time to first token, p50", Units: []string{sample.P50TTFT}},
	{Title: "time to first token, mean", Units: []string{sample.MeanTTFT}, Without: sample.P50TTFT},
	{Title: "latency, p50", Units: []string{sample.P50E2E}, Without: sample.P50TTFT},
	{Title: "latency, mean", Units: []string{sample.MeanE2E}, Without: sample.P50E2E},
}

// Sweep has the plots over the load. The first six are those that published studies show over the concurrency.
var Sweep = []Column{
	{Title: "run time", Units: []string{sample.RunTime}},
	{Title: "requests per second", Units: []string{sample.RequestRate}},
	{Title: "latency, mean", Units: []string{sample.MeanE2E}},
	{Title: "output tokens per second", Units: Output},
	{Title: "latency, p50", Units: []string{sample.P50E2E}},
	{Title: "latency, p90", Units: []string{sample.P90E2E}},
	{Title: "time to first token, p50", Units: []string{sample.P50TTFT}},
	{Title: "time to first token, mean", Units: []string{sample.MeanTTFT}, Without: sample.P50TTFT},
	{Title: "time to first token, p99", Units: []string{sample.P99TTFT}},
	{Title: "time per output token, mean", Units: []string{sample.MeanTPOT}},
	{Title: "inter-token latency, p99", Units: []string{sample.P99ITL}},
	{Title: "requests within the SLO per second", Units: []string{sample.GoodRate}},
	{Title: "failed requests", Units: []string{sample.FailShare, "failed-req"}},
	{Title: "shed requests", Units: []string{sample.ShedShare}},
}

// Relative has the plots that show systems as multiples of one system.
var Relative = []Column{
	{Title: "output tokens per second", Units: Output},
	{Title: "requests per second", Units: []string{sample.RequestRate}, Without: sample.OutputRate},
	{Title: "latency", Units: Latency},
	{Title: "time to first token", Units: FirstToken},
	{Title: "time per output token", Units: []string{sample.MeanTPOT}},
}

// Titles has the names by which reports show units whose names are no words.
var Titles = map[string]string{
	sample.OutputRate: "output", sample.TokenRate: "tokens", sample.TotalRate: "prompts and output", sample.PromptRate: "prompts", sample.RequestRate: "requests", sample.GoodRate: "within the SLO",
	sample.UserRate: "for each user", sample.SteadyRate: "output, steady part", sample.OfferedRate: "offered",
	sample.PromptLength: "prompt tokens", sample.OutputLength: "answer tokens", sample.AskedPromptLength: "prompt tokens asked", sample.AskedOutputLength: "answer tokens asked",
	sample.FailShare: "failed", sample.ShedShare: "shed", sample.ClientError: "client's share of error", sample.CachedShare: "prompts from a cache", sample.Accuracy: "right answers", "valid-%": "valid answers", "agree-%": "equal answers",
	sample.CheckedRequests: "answers checked", sample.TokenPrice: "price of a million output tokens", "implied-hit-%": "repeated prefixes", sample.ServerHitShare: "prefix hits, by the server",
	sample.SLORate: "SLO kept up to", sample.SLOUsers: "SLO kept up to users", "slo-missed-req/s": "SLO missed at", "slo-missed-concurrency": "SLO missed at users",
	sample.SLOUncertifiedRate: "SLO kept up to, not certain", sample.SLOUncertifiedUsers: "SLO kept up to users, not certain",
	sample.KneeUsers: "knee at users", "knee-output-tok/s": "output at the knee", "agree-prefix-tok/req": "equal tokens at the beginning",
	"tail-req/s": "rate within the bound", "tail-missed-req/s": "bound missed at", "max-streams": "streams at once",
	"gw-kB/stream": "memory of a stream (kB)", "gw-cpu-%/stream": "CPU of a stream (%)", "gw-idle-MB": "memory, idle (MB)", "gw-idle-cpu-%": "CPU, idle", "gw-open-MB": "memory, streams open (MB)", "gw-after-MB": "memory, afterwards (MB)",
	"gw-growth-MB/Mreq": "growth of memory (MB per million requests)",
	"added-ttft-ms":     "added to the first token", "added-itl-ms": "added to each next token", "added-e2e-ms": "added to an answer", "added-whole-ms": "added to an answer that is not streamed",
	"added-p99-ttft-ms": "added to the first token, p99", "added-p99-e2e-ms": "added to an answer, p99", "added-p99-whole-ms": "added to an answer that is not streamed, p99",
	sample.P99ReadLag: "read late by, p99",
	sample.RunTime:    "run time", "start-to-ready-ns": "start until ready", "start-to-first-token-ns": "start until the first token",
}
