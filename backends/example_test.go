package backends_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// In this example the simulated server starts in the parent benchmark. A real benchmark would
// measure the target in sub-benchmarks with llmbench.Run, instead of calling llmbench.Do.
func ExampleMock() {
	parent := func(b *testing.B) {
		target := backends.Mock{}.Start(b)
		s := llmbench.Do(context.Background(), target, llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: 8, FixedOutput: true}, true)
		fmt.Println(target.Config, s.Outcome, s.OutputTokens, "tokens")
	}
	runOnce(parent)
	// Output: map[backend:mock] ok 8 tokens
}

// This example uses a server that already runs. Here that is the simulated server. Its metrics have
// the names of vLLM's metrics.
func ExampleURL() {
	parent := func(b *testing.B) {
		running := backends.Mock{Model: "tiny"}.Start(b)
		target := backends.URL{
			URL:     running.URL,
			Name:    "gateway",
			Metrics: backends.VLLM{}.Metrics(),
		}.Start(b)
		s := llmbench.Do(context.Background(), target, llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: 8, FixedOutput: true}, true)
		fmt.Println(target.Config, s.Outcome, s.OutputTokens, "tokens")
	}
	runOnce(parent)
	// Output: map[backend:gateway model:tiny] ok 8 tokens
}

// This example prints the docker command for vLLM on two GPUs, with a model from the Hugging Face
// Hub. Package backends/container runs such commands.
func ExampleVLLM() {
	spec, err := backends.VLLM{
		Container:   backends.Container{Model: "Qwen/Qwen3-8B", GPUs: "0,1"},
		MaxModelLen: 8192,
	}.Spec()
	fmt.Printf("%v%v\n", spec, err)
	// Output:
	// docker run \
	//   --gpus \"device=0,1\" \
	//   --shm-size=17179869184 \
	//   -p 127.0.0.1::8000 \
	//   -v llmbench-huggingface:/root/.cache/huggingface \
	//   -e VLLM_SERVER_DEV_MODE=1 \
	//   -e HF_TOKEN \
	//   --entrypoint=vllm \
	//   vllm/vllm-openai:v0.31.0 \
	//   serve Qwen/Qwen3-8B --host 0.0.0.0 --port 8000 --served-model-name Qwen/Qwen3-8B --generation-config vllm --tensor-parallel-size 2 --max-model-len 8192
	// <nil>
}

// runOnce runs a parent benchmark once. It is not repeated, because a benchmark that is skipped
// runs only once.
func runOnce(parent func(b *testing.B)) {
	testing.Benchmark(func(b *testing.B) {
		parent(b)
		b.SkipNow()
	})
}
