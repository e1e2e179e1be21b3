package sample_test

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func ExampleSummarize() {
	const ms = time.Millisecond
	samples := []sample.Sample{
		{
			Due: 0, Start: 0, First: 200 * ms, Last: 1000 * ms, Gaps: []time.Duration{400 * ms, 400 * ms}, End: 1010 * ms,
			Streamed: true, Deltas: 3, PromptTokens: 12, OutputTokens: 3, TokenSource: sample.FromUsage, Outcome: sample.OK,
		},
		{
			Due: 0, Start: 0, First: 400 * ms, Last: 1990 * ms, Gaps: []time.Duration{1590 * ms}, End: 2000 * ms,
			Streamed: true, Deltas: 2, PromptTokens: 12, OutputTokens: 2, TokenSource: sample.FromUsage, Outcome: sample.OK,
		},
		{Due: 0, Start: 0, End: 500 * ms, Streamed: true, Outcome: sample.HTTP, Status: 503},
	}
	s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{TTFT: 300 * ms})
	for _, unit := range []string{"output-tok/s", "good-req/s", "p50-ttft-ns", "p99-ttft-ns", "fail-%"} {
		v, known := s.Metrics[unit]
		fmt.Printf("%s %.4g %t\n", unit, v, known)
	}
	// Output:
	// output-tok/s 2.5 true
	// good-req/s 0.5 true
	// p50-ttft-ns 3e+08 true
	// p99-ttft-ns 0 false
	// fail-% 33.33 true
}
