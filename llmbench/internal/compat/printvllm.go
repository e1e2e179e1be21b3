package compat

import "slices"

// A vllmMetric is a latency that can have a section in vLLM's block.
type vllmMetric struct {
	key, name, title string
	of               func(f Figures) Latency
}

// vllmMetrics lists the latencies in the order of the sections.
var vllmMetrics = []vllmMetric{
	{"ttft", "TTFT", "Time to First Token", func(f Figures) Latency { return f.TTFT }},
	{"tpot", "TPOT", "Time per Output Token (excl. 1st token)", func(f Figures) Latency { return f.TPOT }},
	{"itl", "ITL", "Inter-token Latency", func(f Figures) Latency { return f.ITL }},
	{"e2el", "E2EL", "End-to-end Latency", func(f Figures) Latency { return f.E2E }},
}

// vllmSections returns the sections that s selects.
func vllmSections(s selection, f Figures) (all []section) {
	for _, m := range vllmMetrics {
		if slices.Contains(s.metrics, m.key) {
			all = append(all, section{m.key, m.title, m.name, m.of(f)})
		}
	}
	return all
}

// block writes vLLM's block. It omits the sections about speculative decoding and diffusion, which vLLM
// computes from the server's metrics: records do not contain these metrics.
func (v vllm) block(b *block, p Pass, f Figures) {
	b.title(" Serving Benchmark Result ", "=")
	b.line("Successful requests:", f.Completed, 0)
	if v.failedLine {
		b.line("Failed requests:", f.Failed, 0)
	}
	if p.Head.Concurrency > 0 {
		b.line("Maximum request concurrency:", exact(float64(p.Head.Concurrency)), 0)
	} else {
		b.line("Request rate configured (RPS):", requestRate(p), 2)
	}
	b.line("Benchmark duration (s):", f.Duration, 2)
	b.line("Total input tokens:", f.InputTokens, 0)
	b.line("Total generated tokens:", f.OutputTokens, 0)
	b.line("Request throughput (req/s):", f.Requests, 2)
	b.line("Request goodput (req/s):", f.Good, 2)
	b.line("Output token throughput (tok/s):", f.Output, 2)
	b.line("Peak output token throughput (tok/s):", f.PeakOutput, 2)
	b.line("Peak concurrent requests:", f.PeakRequests, 2)
	b.line(v.totalLabel, f.Total, 2)
	b.latencies(vllmSections(b.selection, f), b.percentiles...)
	b.title("", "=")
}
