package compat

import (
	"fmt"
	"slices"
	"strings"
)

// A Tool is a tool whose figures can be computed.
type Tool struct {
	Name    string // name in commands, such as "vllm"
	Title   string
	URL     string // source of the formulas
	Figures func(Pass) Figures
	// Differs is a line about how the figures differ from llmbench's.
	Differs string

	print func(b *block, p Pass, f Figures)
}

// Tools are all tools.
var Tools = []Tool{
	{"vllm", "vLLM bench serve", "https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py", VLLM,
		"TTFT ends at the first message with a choice, even a role's; ITL and E2E go on to the finish reason; a stream that is cut cleanly or carries an error is a success.", printVLLM},
	{"sglang", "SGLang bench_serving", "https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py", SGLang,
		"E2E and TPOT go on to [DONE]; the time of its rates until /server_info has answered; an answer without text has a TTFT of 0.", printSGLang},
	{"evalscope", "EvalScope perf", "https://github.com/modelscope/evalscope/tree/main/evalscope/perf", EvalScope,
		"TTFT as vLLM's; latency and TPOT go on to usage; a TPOT of 0 for one token; of 100 values the p99 is the largest, and latencies are rounded to 10 ms.", printEvalScope},
	{"evalscope-2024", "EvalScope perf (2024)", "https://github.com/modelscope/evalscope/blob/v0.5.5/evalscope/perf/http_client.py", EvalScope2024,
		"Without streaming alone: TTFT is the latency, the time per token the inverse of throughput; req/s and tok/s have different clocks.", printEvalScope2024},
	{"fw-ai", "fw-ai llm_bench", "https://github.com/fw-ai/benchmark/blob/main/llm_bench/load_test.py", FwAI,
		"The latency goes on to the end of the stream; per token it is divided by N, not N-1; percentiles have two digits; a broken stream is counted nowhere.", printFwAI},
	{"guidellm", "GuideLLM", "https://github.com/vllm-project/guidellm/blob/main/src/guidellm/schemas/request_stats.py", GuideLLM,
		"TPOT has the TTFT in it; ITL is one value a request; means weigh requests by their tokens; without usage a message is a token.", printGuideLLM},
	{"aiperf", "AIPerf", "https://github.com/ai-dynamo/aiperf/blob/main/docs/metrics-reference.md", AIPerf,
		"Its ITL is one value a request, what others call TPOT; durations end at the last text.", printAIPerf},
	{"llama-bench", "llama-bench", "https://github.com/ggml-org/llama.cpp/tree/master/tools/llama-bench", LlamaBench,
		"It measures no server: only what the server states of its own work comes near.", printLlamaBench},
}

// Find returns the tool of a name.
func Find(name string) (Tool, error) {
	var names []string
	for _, t := range Tools {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Tool{}, fmt.Errorf("%q: want one of %s", name, strings.Join(names, ", "))
}

// Summary returns the block that the tool prints at its end. An unknown figure is "?", and
// lines after the block have the reasons.
func (t Tool) Summary(p Pass) string {
	b := &block{format: "%-40s %-10s"}
	t.print(b, p, t.Figures(p))
	return b.String()
}

// A block is lines with a label and a value.
type block struct {
	strings.Builder
	format  string
	unknown []string // labels
	why     []string
}

func (b *block) line(label string, v Value, decimals int) {
	if v.Bound == Absent {
		return
	}
	b.text(label, v.Text(decimals))
	if v.Bound != CannotTell {
		return
	}
	label = strings.TrimRight(strings.TrimSpace(label), ":")
	if i := slices.Index(b.why, v.Why); i >= 0 {
		b.unknown[i] += ", " + label
		return
	}
	b.why, b.unknown = append(b.why, v.Why), append(b.unknown, label)
}

func (b *block) text(label, value string) {
	b.WriteString(strings.TrimRight(fmt.Sprintf(b.format, label, value), " ") + "\n")
}

// title writes a line of 50 characters.
func (b *block) title(text, fill string) {
	pad := 50 - len(text)
	b.WriteString(strings.Repeat(fill, pad/2) + text + strings.Repeat(fill, pad-pad/2) + "\n")
}

// because writes why figures are unknown.
func (b *block) because() {
	for i, why := range b.why {
		fmt.Fprintf(b, "cannot tell: %s: %s\n", b.unknown[i], why)
	}
}

// ms returns nanoseconds in milliseconds.
func ms(v Value) Value { return v.times(1e-6) }

// secs returns nanoseconds in seconds.
func secs(v Value) Value { return v.times(1e-9) }
