package rowname

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		of                     []Benchmark
		common, shared, in     string
		row, rest, onlyTheLoad string // of the first benchmark
	}{
		{nil, "", "", "", "", "", ""},
		{[]Benchmark{{"p", "Chat/backend=vllm/concurrency=8-2"}},
			"Chat/backend=vllm/concurrency=8", "/backend=vllm/concurrency=8", "p", "U, Chat", "Chat-2", ""},
		{[]Benchmark{{"p", "Chat/backend=vllm/concurrency=8-2"}, {"p", "Chat/backend=vllm/concurrency=1-2"}},
			"Chat/backend=vllm", "/backend=vllm", "p", "U at 8 users", "Chat/concurrency=8-2", "8 users"},
		{[]Benchmark{{"p", "Chat/input=512/rate=0.5"}, {"p", "Code/input=256/rate=2"}},
			"", "", "p", "U, Chat, input=512, at 0.5 req/s", "Chat/input=512/rate=0.5", "Chat, input=512, 0.5 req/s"},
		{[]Benchmark{{"p", "Chat/concurrency=8"}, {"q", "Chat/concurrency=8"}},
			"/concurrency=8", "/concurrency=8", "", "U, p.Chat", "p.Chat", "p.Chat"},
		{[]Benchmark{{"p", "Serve/stages=1..8_15s/concurrency=8"}, {"p", "Serve/stages=1_5s/concurrency=1"}},
			"Serve", "", "p", "U, stages=1..8_15s, at up to 8 users", "Serve/stages=1..8_15s/concurrency=8", "stages=1..8_15s, up to 8 users"},
		{[]Benchmark{{"p", "Serve/stages=1..3_15s/rate=2"}, {"p", "Serve/stages=1_5s/rate=1"}},
			"Serve", "", "p", "U, stages=1..3_15s, at a mean of 2 req/s", "Serve/stages=1..3_15s/rate=2", "stages=1..3_15s, a mean of 2 req/s"},
		{[]Benchmark{{"", "A-2"}, {"", "A-8"}}, "A", "", "", "U, -2", "A-2", "-2"},
		{[]Benchmark{{"", "A/text"}, {"", "A/concurrency=x"}}, "A", "", "", "U, text", "A/text", "text"},
	} {
		n := Of(c.of)
		assert.Equal(t, n.Common(), c.common)
		assert.Equal(t, n.Shared(), c.shared)
		assert.Equal(t, n.Package(), c.in)
		if len(c.of) > 0 {
			assert.Equal(t, n.Of("U", c.of[0]), c.row)
			assert.Equal(t, n.Row(c.of[0], "ns/op"), c.rest+" ns/op")
			assert.Equal(t, n.Row(c.of[0], "req/s"), "requests per second"+strings.TrimPrefix(c.row, "U"))
			assert.Equal(t, n.Rest(c.of[0]), c.rest)
			assert.Equal(t, n.Benchmark(c.of[0]), c.onlyTheLoad)
		}
	}
}

func TestUnit(t *testing.T) {
	for unit, want := range map[string]string{
		"output-tok/s":  "output tokens per second",
		"mean-tpot-ns":  "time per output token, mean",
		"p50-tpot-ns":   "TPOT p50",
		"accuracy-%":    "right answers (%)",
		"fail-%":        "failed requests (%)",
		"ns/op":         "ns/op",
		"own-tok/s":     "own-tok/s",
		"added-ttft-ms": "added to the first token",
	} {
		assert.Equal(t, Unit(unit), want)
	}
}

func TestCompare(t *testing.T) {
	sorted := []Benchmark{
		{"a", "Z"}, {"b", "A"}, {"b", "A/n=1e0-2"}, {"b", "A/n=8-2"}, {"b", "A/n=16-2"}, {"b", "A/n=9x"}, {"b", "A/text"}, {"b", "B"},
	}
	mixed := slices.Clone(sorted)
	slices.Reverse(mixed)
	slices.SortFunc(mixed, Compare)
	assert.DeepEqual(t, mixed, sorted)
}
