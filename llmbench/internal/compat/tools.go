package compat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// A Tool is a tool whose output can be computed.
type Tool struct {
	Name    string // name in commands and in Find, such as "vllm"
	Title   string
	URL     string // source of the formulas
	Figures func(Pass) Figures
	// Differs summarizes, in one line, how the tool's definitions differ from llmbench's.
	Differs string
	// Versions are the ranges of releases that differ, newest first. A Tool computes and prints as the
	// newest range, or as the range that was chosen by the name passed to Find.
	Versions []Version

	selection
	print  func(b *block, p Pass, f Figures) // nil if what the tool prints is not imitated; see Printed
	result func(selection, Pass) ([]byte, error)
}

// Tools lists all tools, in their newest releases.
var Tools = []Tool{
	newest(Tool{Name: "vllm", Title: "vLLM bench serve", URL: "https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py",
		Differs:  "TTFT ends at the first message with a choice, even if it has only a role; ITL and E2E end at the finish reason; a stream that ends early without a connection error, or that carries an error, is a success.",
		Versions: vllmVersions, selection: selection{[]string{"ttft", "tpot", "itl"}, []float64{99}}}),
	{Name: "sglang", Title: "SGLang bench_serving", URL: "https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py", Figures: SGLang,
		Differs: "E2E and TPOT end at [DONE]; rates are over a time that ends when /server_info has answered; an answer without text has a TTFT of 0.", print: printSGLang},
	newest(Tool{Name: "evalscope", Title: "EvalScope perf", URL: "https://github.com/modelscope/evalscope/tree/main/evalscope/perf",
		Differs:  "TTFT is as in vLLM; latency and TPOT end at usage; the TPOT of one token is 0; the p99 of 100 values is the largest, and latencies are rounded to 10 ms.",
		Versions: evalscopeVersions}),
	{Name: "evalscope-2024", Title: "EvalScope perf (2024)", URL: "https://github.com/modelscope/evalscope/blob/v0.5.5/evalscope/perf/http_client.py", Figures: EvalScope2024,
		Differs: "Only for runs without streaming: TTFT is the latency, and the time per token is 1 / throughput; req/s and tok/s are over different times.", print: printEvalScope2024},
	{Name: "fw-ai", Title: "fw-ai llm_bench", URL: "https://github.com/fw-ai/benchmark/blob/main/llm_bench/load_test.py", Figures: FwAI,
		Differs: "The latency ends at the end of the stream; the latency per token is divided by N, not N-1; percentiles have two digits; a broken stream is not counted.", print: printFwAI},
	{Name: "guidellm", Title: "GuideLLM", URL: "https://github.com/vllm-project/guidellm/blob/main/src/guidellm/schemas/request_stats.py", Figures: GuideLLM,
		Differs: "TPOT includes the TTFT; ITL is one value per request; means weigh requests by their tokens; without usage, each message counts as a token."},
	{Name: "aiperf", Title: "AIPerf", URL: "https://github.com/ai-dynamo/aiperf/blob/main/docs/metrics-reference.md", Figures: AIPerf,
		Differs: "Its ITL is one value per request, which others call TPOT; durations end at the last text."},
	{Name: "llama-bench", Title: "llama-bench", URL: "https://github.com/ggml-org/llama.cpp/tree/master/tools/llama-bench", Figures: LlamaBench,
		Differs: "It measures no server: the nearest values are the processing times that a server reports.", print: printLlamaBench},
}

// newest returns t in its newest version.
func newest(t Tool) Tool { return t.as(t.Versions[0]) }

// Find returns the tool with the given name, such as "vllm" or "vllm@0.20". The text after the @ is a
// release. Without it, Find returns the tool in its newest range of releases.
func Find(name string) (Tool, error) {
	name, release, chosen := strings.Cut(name, "@")
	for _, t := range Tools {
		if t.Name == name && chosen {
			return t.at(release)
		}
		if t.Name == name {
			return t, nil
		}
	}
	return Tool{}, fmt.Errorf("%q: want one of %s", name, strings.Join(printed(), ", "))
}

// printed returns the names of the tools whose output is imitated.
func printed() (names []string) {
	for _, t := range Tools {
		if t.print != nil {
			names = append(names, t.Name)
		}
	}
	return names
}

// Printed returns an error if only the tool's figures are known here, and not what it prints. Its methods Summary
// and Block then print nothing.
func (t Tool) Printed() error {
	if t.print != nil {
		return nil
	}
	return fmt.Errorf("%q: what %s prints is not imitated: want one of %s, or a report without -as, which has the figures of %s beside llmbench's",
		t.Name, t.Title, strings.Join(printed(), ", "), t.Title)
}

// at returns the tool in the given release.
func (t Tool) at(release string) (Tool, error) {
	wanted := "v" + strings.TrimPrefix(release, "v")
	if len(t.Versions) == 0 {
		return t, fmt.Errorf("%q: want no release, because only one is known", t.Name+"@"+release)
	}
	oldest := t.Versions[len(t.Versions)-1].Since
	if !semver.IsValid(wanted) || semver.Compare(wanted, "v"+oldest) < 0 {
		return t, fmt.Errorf("%q: want release %s or a later one, such as %s", t.Name+"@"+release, oldest, t.Versions[0].Since)
	}
	for _, v := range t.Versions {
		if semver.Compare(wanted, "v"+v.Since) >= 0 {
			return t.as(v), nil
		}
	}
	panic("unreachable: the release is at least the oldest one")
}

// as returns the tool in version v.
func (t Tool) as(v Version) Tool {
	t.Figures, t.print, t.result = v.figures, v.print, v.result
	return t
}

// Summary returns the block that the tool prints at its end, and the notes of [Tool.Block] as lines after it.
func (t Tool) Summary(p Pass) string {
	text, notes := t.Block(p)
	for _, n := range notes {
		text += n + "\n"
	}
	return text
}

// Block returns the block that the tool prints at its end. Unknown values are printed as "?". Notes give the
// reasons, and what else the tool would not have said.
func (t Tool) Block(p Pass) (text string, notes []string) {
	b := &block{format: "%-40s %-10s", selection: t.selection}
	if t.print != nil {
		t.print(b, p, t.Figures(p))
	}
	b.because()
	return b.String(), b.notes
}

// Result returns the result file that the tool writes, on one line.
func (t Tool) Result(p Pass) ([]byte, error) {
	if t.result == nil {
		return nil, fmt.Errorf("the format of the result file of %s is not known here: want vllm", t.Name)
	}
	return t.result(t.selection, p)
}

// List describes, for a person, the tools whose output is imitated, and their releases that differ.
func List() string {
	var b strings.Builder
	for _, t := range Tools {
		if t.print == nil {
			continue
		}
		fmt.Fprintf(&b, "%-16s %s (%s)\n", t.Name, t.Title, t.URL)
		for _, v := range t.Versions {
			fmt.Fprintf(&b, "  %-14s %s\n", t.Name+"@"+v.Since, v.About)
		}
	}
	return b.String()
}

// Select sets the metrics and the percentiles, as vLLM's flags --percentile-metrics and
// --metric-percentiles do. Both are comma-separated lists. An empty list means the flag's default.
func (t *Tool) Select(metrics, percentiles string) error {
	if metrics == "" && percentiles == "" {
		return nil
	}
	if t.Name != "vllm" {
		return fmt.Errorf("%s: want no selection of metrics and percentiles; only vllm has flags for that", t.Name)
	}
	if metrics != "" {
		t.metrics = strings.Split(metrics, ",")
	}
	for _, key := range t.metrics {
		if !slices.ContainsFunc(vllmMetrics, func(m vllmMetric) bool { return m.key == key }) {
			return fmt.Errorf("metric %q: want ttft, tpot, itl or e2el", key)
		}
	}
	if percentiles != "" {
		t.percentiles = nil
		for text := range strings.SplitSeq(percentiles, ",") {
			p, err := strconv.ParseFloat(text, 64)
			if err != nil || !(p >= 0 && p <= 100) {
				return fmt.Errorf("percentile %q: want a number of 0 to 100", text)
			}
			t.percentiles = append(t.percentiles, p)
		}
	}
	return nil
}
