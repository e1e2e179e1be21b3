package scenarios

import (
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// shareGPT consists of parts of studies B and C, which send real conversations: 64 prompts in a closed
// loop, and 1,000 prompts in an open loop of 32 per second. That rate was 27 times as high as the published
// server could serve.
var shareGPT = study{
	name:      "ShareGPT",
	maxFail:   failuresCount, // a server may refuse prompts that are too long
	fullUnits: []string{sample.TotalRate, sample.MeanTTFT, sample.P50TPOT, sample.P99TPOT, sample.MeanITL, sample.P50ITL, sample.MeanE2E},
	reduced: []cell{
		{data: random(278, 174), concurrency: 1, requests: 4, warmup: 1},
		{data: random(278, 174), concurrency: 8, requests: 16, warmup: 1},
		{data: random(278, 174), rate: 32, requests: 48, warmup: 1, noStream: true},
	},
	published: slices.Concat(
		// The study's tool first sends one request, and its timeout is six hours.
		sweepCells(cell{experiment: "C", data: shareGPTData("sharegpt-64", 278, false), requests: 64, warmup: 1, timeout: 6 * time.Hour}, 1, 8, 16),
		[]cell{{experiment: "B2", data: shareGPTData("sharegpt", 278, true), rate: 32, requests: 1000, noStream: true, timeout: 6 * time.Hour}},
	),
}

// shareGPTData returns prompts that are sampled by vLLM's rules. Answers are at most as long as the
// reference answers, or exactly as long if fixed is true. As in the studies, all loads and all passes have
// the same prompts, and the first prompt is the warm-up. With a salt, their first two words differ.
func shareGPTData(name string, in int, fixed bool) data {
	const file = "ShareGPT_V3_unfiltered_cleaned_split.json"
	return data{
		name: name, endpoint: completionEndpoint,
		file: file,
		get:  getByCurl(file, "https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered/resolve/main/"+file),
		in:   in, limit: 1024,
		draw: func(s server, path string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.ShareGPT{Path: path, FixedOutput: fixed, Seed: s.options.Seed, Salt: s.target.Salt(seed), Tokenizer: s.tokens}.Requests(n))
		},
	}
}
