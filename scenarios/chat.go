package scenarios

import (
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// chat is study A: one user and four users of chat servers. As in the study, the answers to one user are
// streamed and those to four users are not, and every load is sent twice; the first time is the warm-up.
// The number of requests is the number that the study's fastest server answered in 30 seconds.
var chat = study{
	name: "Chat",
	reduced: []cell{
		{data: random(512, 200), concurrency: 1, requests: 8, warmup: 1},
		{data: random(512, 200), concurrency: 4, requests: 24, warmup: 4, noStream: true},
		{data: random(512, 200), concurrency: 4, requests: 24, warmup: 4},
	},
	fullUnits: []string{sample.MeanTTFT, sample.MeanE2E},
	published: []cell{
		{experiment: "A", data: letters("chat", chatEndpoint), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A", data: letters("chat", chatEndpoint), concurrency: 4, requests: 48, warmup: 48, noStream: true},
		{experiment: "A", data: letters("raw", completionEndpoint), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A", data: letters("raw", completionEndpoint), concurrency: 4, requests: 48, warmup: 48, noStream: true},
		{experiment: "A0", data: letters("chat", chatEndpoint), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A0", data: letters("chat", chatEndpoint), concurrency: 1, requests: 14, warmup: 14, noStream: true},
		{experiment: "A0", data: letters("chat", chatEndpoint), concurrency: 4, requests: 48, warmup: 48, noStream: true},
		{experiment: "A0", data: letters("raw", completionEndpoint), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A0", data: letters("raw", completionEndpoint), concurrency: 4, requests: 48, warmup: 48, noStream: true},
	},
}

// letters returns the study's prompts: ten random letters, which defeat prefix caches, filler words up to
// 512 tokens, and a fixed question. The template of a chat endpoint comes on top of the 512 tokens.
func letters(kind string, e endpoint) data {
	return data{
		name: "random-512x200-" + kind, endpoint: e, in: 512, limit: 200,
		draw: func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.Filler{Input: 512, Output: 200, Seed: seed, Salt: s.salt, Tokenizer: s.tokens}.Requests(n))
		},
	}
}
