package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/scenarios"
)

// A benchmark of a gateway, with a scenario of the catalogue. In a module of your own
// it is a function of a _test.go file.
func ExampleOptions_Chat() {
	BenchmarkGateway := func(b *testing.B) {
		target := backends.URL{URL: "http://127.0.0.1:8000"}.Start(b)
		scenarios.Options{}.Chat(b, target)
	}
	_ = BenchmarkGateway
}

// The same scenario with other concurrencies and fewer requests.
func ExampleOptions() {
	BenchmarkGateway := func(b *testing.B) {
		target := backends.URL{URL: "http://127.0.0.1:8000"}.Start(b)
		scenarios.Options{Concurrencies: []int{1, 16}, Requests: 32}.Chat(b, target)
	}
	_ = BenchmarkGateway
}

// The whole catalogue, each scenario in a sub-benchmark of its own.
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
	// Agreement
	// Chat
	// CodeQA
	// Concurrency
	// Decode
	// Interference
	// LengthGrid
	// LongContext
	// MultiTurn
	// OpenQA
	// Prefill
	// PrefixCache
	// Reasoning
	// SLO
	// Serve
	// ShareGPT
	// StructuredOutput
	// Sweep
	// ToolCalls
	// Trace
}

// Whether a scenario can run is known before a server is started.
func ExampleScenario_Check() {
	for _, s := range scenarios.Scenarios() {
		if s.Name == "OpenQA" {
			fmt.Println(s.Check(scenarios.Options{Full: "A0"}))
		}
	}
	// Output:
	// nothing to measure: OpenQA has no part in LLMBENCH_FULL=A0
}
