package scenarios

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// shareGPT is real conversations: 64 prompts in a closed loop, and 1,000 prompts in
// an open loop of 32 a second, which was 27 times what the server could do.
var shareGPT = study{
	name:      "ShareGPT",
	maxFail:   counted, // a server may refuse prompts that are too long for it
	fullUnits: []string{"total-tok/s", "mean-ttft-ns", "p50-tpot-ns", "p99-tpot-ns", "mean-itl-ns", "p50-itl-ns", "mean-e2e-ns"},
	reduced: []cell{
		{data: random(278, 174), concurrency: 1, requests: 4, warmup: 1},
		{data: random(278, 174), concurrency: 8, requests: 16, warmup: 1},
		{data: random(278, 174), rate: 32, requests: 48, warmup: 1, noStream: true},
	},
	published: slices.Concat(
		// The tool sends one request first. Whoever overloads a server waits: the
		// tool's limit is six hours.
		sweep(cell{experiment: "C", data: shareGPTData("sharegpt-64", 278, false), requests: 64, warmup: 1, timeout: 6 * time.Hour}, 1, 8, 16),
		[]cell{{experiment: "B2", data: shareGPTData("sharegpt", 278, true), rate: 32, requests: 1000, noStream: true, timeout: 6 * time.Hour}},
	),
}

// shareGPTData is sampled by vLLM's rules, with answers as long as the reference
// answers: at most, or exactly. As published, every load and every pass has the
// same prompts, and the first of them is the warm-up.
func shareGPTData(name string, in int, fixed bool) data {
	const file = "ShareGPT_V3_unfiltered_cleaned_split.json"
	return data{
		name: name, endpoint: toComplete,
		file: file,
		get:  curl(file, "https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered/resolve/main/"+file),
		in:   in, limit: 1024,
		draw: func(s server, path string, n int, _ uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.ShareGPT{Path: path, FixedOutput: fixed, Seed: s.cfg.Serve.Seed, Tokenizer: s.tokens}.Requests(n))
		},
	}
}

// BenchmarkShareGPT is real conversations, in a closed and in an open loop.
func BenchmarkShareGPT(b *testing.B) { shareGPT.bench(b) }
