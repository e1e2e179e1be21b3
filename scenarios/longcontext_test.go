package scenarios

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
)

// longContext sweeps the number of users over one long text, which is to be
// translated, again and again; not streamed.
var longContext = study{
	name: "LongContext", maxFail: counted, fullUnits: sweepUnits,
	reduced: []cell{
		{data: random(1614, 1654), concurrency: 8, requests: 8, noStream: true},
	},
	published: slices.Concat(
		sweep(cell{experiment: "D12", data: longData, noStream: true, requests: 100, timeout: 120 * time.Second}, 4, 8, 12, 16, 20, 25, 30, 35, 40),
		sweep(cell{experiment: "D2", data: longData, noStream: true, requests: 200, timeout: 120 * time.Second}, 32, 64, 80, 100),
		sweep(cell{experiment: "D5", data: longerData, noStream: true, requests: 100, timeout: 600 * time.Second}, 8, 12, 20, 30, 40, 50),
	),
}

// The study calls both of its files long.jsonl.
var (
	longData = questions("long-in1614", benchdata.Long, "long.jsonl",
		`it is written by hand: one line {"question": "an article of about 1,600 tokens in English, and: Translate to French."}`, 1614, 4096)
	longerData = questions("long-in6385", benchdata.Long, "long-in6385.jsonl",
		"as long.jsonl, with articles of about 6,400 tokens", 6385, 8192)
)

// BenchmarkLongContext sweeps the number of users over one long text.
func BenchmarkLongContext(b *testing.B) { longContext.bench(b) }
