package scenarios

import (
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// openQA and codeQA are parts of study D: increasing numbers of users ask questions. Answers are not
// streamed. The timeouts are the same as in the study's tool. The answers of openQA end by themselves, or
// at 2,048 tokens. The answers of codeQA end at 400 tokens, which was the limit of the study's server.
var (
	openQA = study{
		name: "OpenQA", maxFail: failuresCount, fullUnits: latencyUnits,
		reduced: []cell{
			{data: random(40, 308), concurrency: 8, requests: 16, noStream: true},
			{data: random(40, 308), concurrency: 32, requests: 64, noStream: true},
		},
		published: slices.Concat(
			sweepCells(cell{experiment: "D1", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 128, 150, 200, 256, 300, 400, 512, 720),
			sweepCells(cell{experiment: "D3", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 128, 150, 200, 256, 512),
			sweepCells(cell{experiment: "D4", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 128, 150, 200, 256, 512),
			sweepCells(cell{experiment: "D7", data: openQAData, noStream: true, requests: 1000, timeout: 120 * time.Second}, 8, 16, 32, 64, 100, 128, 150, 200),
			sweepCells(cell{experiment: "D8", data: openQAData, noStream: true, requests: 1, timeout: 120 * time.Second}, 1),
			sweepCells(cell{experiment: "D8", data: openQAData, noStream: true, requests: 100, timeout: 120 * time.Second}, 16, 32, 64),
			sweepCells(cell{experiment: "D10", data: openQAData, noStream: true, requests: 1000, timeout: 30 * time.Second}, 8, 16, 32, 64, 100, 128, 150, 200, 300, 400, 500),
			sweepCells(cell{experiment: "D11", data: openQAData, noStream: true, requests: 1000, timeout: 30 * time.Second}, 8, 16, 32, 64, 100, 128, 150, 200, 300, 400, 500),
		),
	}
	codeQA = study{
		name: "CodeQA", maxFail: failuresCount, fullUnits: latencyUnits,
		reduced: []cell{
			{data: random(157, 400), concurrency: 8, requests: 16, noStream: true},
			{data: random(157, 400), concurrency: 32, requests: 32, noStream: true},
		},
		published: sweepCells(cell{experiment: "D6", data: codeQAData, noStream: true, requests: 1000, timeout: 30 * time.Second},
			8, 16, 32, 64, 128, 150, 200, 300, 400, 500, 600),
	}
	latencyUnits = []string{sample.MeanE2E, sample.P90E2E, sample.P99E2E}

	openQAData = questions("openqa", benchdata.OpenQA, "open_qa.jsonl",
		getByCurl("open_qa.jsonl", "https://modelscope.cn/datasets/AI-ModelScope/HC3-Chinese/resolve/master/open_qa.jsonl"), 40, 2048)
	codeQAData = questions("codefuse-evol", benchdata.Codefuse, "data.json",
		getByCurl("data.json", "https://modelscope.cn/datasets/Banksy235/Codefuse-Evol-Instruct-Clean/resolve/master/data.json"), 157, 400)
)

// longContext is part of study D: increasing numbers of users ask for a translation of the same long text.
// Answers are not streamed.
var longContext = study{
	name: "LongContext", maxFail: failuresCount, fullUnits: latencyUnits,
	reduced: []cell{
		{data: random(1614, 414), concurrency: 8, requests: 8, noStream: true},
	},
	published: slices.Concat(
		sweepCells(cell{experiment: "D12", data: longData, noStream: true, requests: 100, timeout: 120 * time.Second}, 4, 8, 12, 16, 20, 25, 30, 35, 40),
		sweepCells(cell{experiment: "D2", data: longData, noStream: true, requests: 200, timeout: 120 * time.Second}, 32, 64, 80, 100),
		sweepCells(cell{experiment: "D5", data: longerData, noStream: true, requests: 100, timeout: 600 * time.Second}, 8, 12, 20, 30, 40, 50),
	),
}

// The study names both of its files long.jsonl.
var (
	longData = questions("long-in1614", benchdata.Long, "long.jsonl",
		`it is written by hand: one line {"question": "an article of about 1,600 tokens in English, and: Translate to French."}`, 1614, 4096)
	longerData = questions("long-in6385", benchdata.Long, "long-in6385.jsonl",
		"as long.jsonl, with articles of about 6,400 tokens", 6385, 8192)
)
