package container_test

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/container"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// This example runs vLLM on two GPUs, with a model from the Hugging Face Hub. The server starts in
// the parent benchmark, and sub-benchmarks measure it.
func ExampleStart() {
	requests := []llmbench.Request{{Prompt: "Tell me about the sea.", MaxTokens: 128, FixedOutput: true}}
	benchmark := func(b *testing.B) {
		target := container.Start(b, backends.VLLM{
			Container:      backends.Container{Model: "Qwen/Qwen3-8B", GPUs: "0,1"},
			TensorParallel: 2,
			MaxModelLen:    8192,
		})
		b.Run("concurrency=1", func(b *testing.B) {
			llmbench.Run(b, target, llmbench.Load{Requests: requests, Concurrency: 1})
		})
	}
	_ = benchmark // func BenchmarkServing(b *testing.B)
}

// This example lists servers that environments select; os.Environ returns the environment of the
// process. Each server's method Start returns a target.
func ExampleNew() {
	cfg, err := backends.ParseConfig([]string{"LLMBENCH_BACKEND=mock,vllm", "LLMBENCH_MODEL=Qwen/Qwen3-8B"})
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := backends.FromConfig(cfg, container.New)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, backend := range all {
		_, inContainer := backend.Backend.(container.Backend)
		fmt.Println(backend.Name, inContainer)
	}
	// Output:
	// mock false
	// vllm true
}
