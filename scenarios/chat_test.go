package scenarios

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// chat is the comparison of chat servers by a single user and by four: prompts of
// 512 tokens, answers of 200 at most. As published, a single user's answers are
// streamed and four users' are not, and everything is sent twice, of which the
// first is warm-up.
var chat = study{
	name: "Chat",
	reduced: []cell{
		{data: random(512, 200), concurrency: 1, requests: 8, warmup: 1},
		{data: random(512, 200), concurrency: 4, requests: 24, warmup: 4, noStream: true},
		{data: random(512, 200), concurrency: 4, requests: 24, warmup: 4},
	},
	fullUnits: []string{"mean-ttft-ns", "mean-e2e-ns"},
	published: []cell{
		// What the fastest server answered in the study's 30 seconds.
		{experiment: "A", data: letters("chat", toChat), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A", data: letters("chat", toChat), concurrency: 4, requests: 48, warmup: 48, noStream: true},
		{experiment: "A", data: letters("raw", toComplete), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A", data: letters("raw", toComplete), concurrency: 4, requests: 48, warmup: 48, noStream: true},
		{experiment: "A0", data: letters("chat", toChat), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A0", data: letters("chat", toChat), concurrency: 1, requests: 14, warmup: 14, noStream: true},
		{experiment: "A0", data: letters("chat", toChat), concurrency: 4, requests: 48, warmup: 48, noStream: true},
		{experiment: "A0", data: letters("raw", toComplete), concurrency: 1, requests: 14, warmup: 14},
		{experiment: "A0", data: letters("raw", toComplete), concurrency: 4, requests: 48, warmup: 48, noStream: true},
	},
}

// letters is the study's prompt, whose first letters differ, for one kind of
// endpoint. To a chat it is 512 tokens too, but there the template comes on top.
func letters(kind string, e endpoint) data {
	return data{
		name: "random-512x200-" + kind, endpoint: e, in: 512, limit: 200,
		draw: func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.Filler{Input: 512, Output: 200, Seed: seed, Tokenizer: s.tokens}.Requests(n))
		},
	}
}

// BenchmarkChat is the comparison of chat servers by a single user and by four.
func BenchmarkChat(b *testing.B) { chat.bench(b) }
