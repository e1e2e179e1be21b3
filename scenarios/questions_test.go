package scenarios

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
)

// Sweeps of the number of users over questions, not streamed; the timeouts are the
// tool's. The answers of openQA end by themselves, and at 2,048 tokens at the
// latest; those of codeQA at 400 tokens, by the server's limit.
var (
	openQA = study{
		name: "OpenQA", maxFail: counted, fullUnits: sweepUnits,
		reduced: []cell{
			{data: random(40, 308), concurrency: 8, requests: 16, noStream: true},
			{data: random(40, 308), concurrency: 32, requests: 64, noStream: true},
		},
		published: slices.Concat(
			sweep(cell{experiment: "D1", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 128, 150, 200, 256, 300, 400, 512, 720),
			sweep(cell{experiment: "D3", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 128, 150, 200, 256, 512),
			sweep(cell{experiment: "D4", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 128, 150, 200, 256, 512),
			sweep(cell{experiment: "D7", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 100, 128, 150, 200),
			sweep(cell{experiment: "D8", data: openQAData, noStream: true, requests: 1, timeout: 120 * time.Second}, 1),
			sweep(cell{experiment: "D8", data: openQAData, noStream: true, requests: 100, timeout: 120 * time.Second}, 16, 32, 64),
			sweep(cell{experiment: "D10", data: openQAData, noStream: true, requests: 1000, timeout: 30 * time.Second}, 8, 16, 32, 64, 100, 128, 150, 200, 300, 400, 500),
			sweep(cell{experiment: "D11", data: openQAData, noStream: true, requests: 1000, timeout: 30 * time.Second}, 8, 16, 32, 64, 100, 128, 150, 200, 300, 400, 500),
		),
	}
	codeQA = study{
		name: "CodeQA", maxFail: counted, fullUnits: sweepUnits,
		reduced: []cell{
			{data: random(157, 400), concurrency: 8, requests: 16, noStream: true},
			{data: random(157, 400), concurrency: 32, requests: 32, noStream: true},
		},
		published: sweep(cell{experiment: "D6", data: codeQAData, noStream: true, requests: 1000, timeout: 30 * time.Second},
			8, 16, 32, 64, 128, 150, 200, 300, 400, 500, 600),
	}
	sweepUnits = []string{"mean-e2e-ns", "p90-e2e-ns", "p99-e2e-ns"}

	openQAData = questions("openqa", benchdata.OpenQA, "open_qa.jsonl",
		curl("open_qa.jsonl", "https://modelscope.cn/datasets/AI-ModelScope/HC3-Chinese/resolve/master/open_qa.jsonl"), 40, 2048)
	codeQAData = questions("codefuse-evol", benchdata.Codefuse, "data.json",
		curl("data.json", "https://modelscope.cn/datasets/Banksy235/Codefuse-Evol-Instruct-Clean/resolve/master/data.json"), 157, 400)
)

// BenchmarkOpenQA sweeps the number of users over short questions in Chinese.
func BenchmarkOpenQA(b *testing.B) { openQA.bench(b) }

// BenchmarkCodeQA sweeps the number of users over programming tasks.
func BenchmarkCodeQA(b *testing.B) { codeQA.bench(b) }
