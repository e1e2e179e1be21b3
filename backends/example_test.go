package backends_test

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// vLLM on two GPUs, with a model from the Hub. The server starts in the parent
// benchmark, and the leaves measure it.
func ExampleVLLM() {
	requests := []llmbench.Request{{Prompt: "Tell me about the sea.", MaxTokens: 128, FixedOutput: true}}
	benchmark := func(b *testing.B) {
		target := backends.VLLM{
			Container:      backends.Container{Model: "Qwen/Qwen3-8B", GPUs: "0,1"},
			TensorParallel: 2,
			MaxModelLen:    8192,
		}.Start(b)
		b.Run("concurrency=1", func(b *testing.B) {
			llmbench.Run(b, target, llmbench.Load{Requests: requests, Concurrency: 1})
		})
	}
	_ = benchmark // func BenchmarkServing(b *testing.B)
}
