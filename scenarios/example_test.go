package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/scenarios"
)

// This example is a benchmark of a gateway that uses a scenario of the catalogue. In a module of
// your own it would be a function in a _test.go file.
func ExampleOptions_Chat() {
	BenchmarkGateway := func(b *testing.B) {
		target := backends.URL{URL: "http://127.0.0.1:8000"}.Start(b)
		scenarios.Options{}.Chat(b, target)
	}
	_ = BenchmarkGateway
}

// This example runs the same scenario with other concurrencies and with fewer requests.
func ExampleOptions() {
	BenchmarkGateway := func(b *testing.B) {
		target := backends.URL{URL: "http://127.0.0.1:8000"}.Start(b)
		scenarios.Options{Concurrencies: []int{1, 16}, Requests: 32}.Chat(b, target)
	}
	_ = BenchmarkGateway
}

// This example runs the whole catalogue, with each scenario in a separate sub-benchmark.
func ExampleScenario_Run() {
	BenchmarkGateway := func(b *testing.B) {
		target := backends.URL{URL: "http://127.0.0.1:8000"}.Start(b)
		for _, s := range scenarios.Scenarios() {
			b.Run(s.Name, func(b *testing.B) { s.Run(b, target, scenarios.Options{}) })
		}
	}
	_ = BenchmarkGateway
}

func ExampleScenarios() {
	for _, s := range scenarios.Scenarios() {
		fmt.Println(s.Name)
	}
	// Output:
	// Accuracy
	// Agent
	// Agreement
	// Chat
	// CodeQA
	// Concurrency
	// Decode
	// Embeddings
	// Fairness
	// Interference
	// LengthGrid
	// LongContext
	// MixedLoad
	// MultiTurn
	// OpenQA
	// Prefill
	// PrefixCache
	// Reasoning
	// Rerank
	// Routing
	// SLO
	// Serve
	// ShareGPT
	// Shedding
	// StructuredOutput
	// Sweep
	// ToolCalls
	// Trace
}

// This example checks whether a scenario can run, before a server is started.
func ExampleScenario_Check() {
	for _, s := range scenarios.Scenarios() {
		if s.Name == "OpenQA" {
			fmt.Println(s.Check(scenarios.Options{Full: "A0"}))
		}
	}
	// Output:
	// nothing to measure: OpenQA has no part in LLMBENCH_FULL=A0
}
