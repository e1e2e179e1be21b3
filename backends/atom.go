package backends

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// ATOM is AMD's engine for its Instinct GPUs (https://github.com/ROCm/ATOM). GPUs without a vendor prefix
// are taken to be AMD's. The server opens its port after it has loaded and compiled the model; the first
// start with a model may take ten minutes longer than later ones.
//
// The server reads the quantization from the model's files. The default image is only known to run on
// MI355X. The only metric that is read is the use of the KV cache: the server's counters are copies that it
// refreshes from time to time, so they cannot be assigned to one pass of a benchmark. The prefix cache is
// not emptied between passes. A revision cannot be chosen.
type ATOM struct {
	Container
	TensorParallel       int     `gpus:"--tensor-parallel-size"`   // GPUs that share each layer; by default all GPUs listed by id
	MaxModelLen          int     `flag:"--max-model-len"`          // tokens of a request, prompt and output together
	MaxNumSeqs           int     `flag:"--max-num-seqs"`           // requests in a batch; default 512
	MaxNumBatchedTokens  int     `flag:"--max-num-batched-tokens"` // tokens in a step; default 16384
	GPUMemoryUtilization float64 `flag:"--gpu-memory-utilization"` // share of each GPU's memory; default 0.9
	KVCacheDType         string  `flag:"--kv_cache_dtype" values:"bf16 fp8"`
	PrefixCaching        Toggle  `flag:"--enable_prefix_caching" off:"--no-enable_prefix_caching"` // default on
	EnforceEager         bool    `flag:"--enforce-eager"`                                          // no CUDA graphs
}

// Spec describes how the server is launched; the error names each invalid field.
func (a ATOM) Spec() (launch.Spec, error) {
	b := newBuilder(a.Container, "atom", "rocm/atom-dev:v0.1.7-rc0", 8000)
	b.grantGPUs(launch.AMD)
	if b.Devices.Vendor != launch.AMD {
		b.invalid("GPUs", "%q: want ids of AMD GPUs, like 0,1, or all", string(a.GPUs))
	}
	b.enlargeShm()
	b.Ulimits = []launch.Ulimit{{Name: "memlock", Soft: -1, Hard: -1}, {Name: "stack", Soft: 67108864, Hard: 67108864}}
	b.Entrypoint = []string{"python3", "-m", "atom.entrypoints.openai_server"} // the image runs a shell
	b.args("--model", b.path, "--served-model-name", b.Model, "--host", "0.0.0.0", "--server-port", fmt.Sprint(b.Port))
	b.withHub("huggingface", "/root/.cache/huggingface", "", "--chat-template", "--trust-remote-code")
	if a.Quantization != "" {
		b.invalid("Quantization", "%q: want none, because the server finds it in the model's files", a.Quantization)
	}
	b.fields(a, "-tp", "--pipeline-parallel-size", "-pp", "--data-parallel-size", "-dp", "--prefill-context-parallel-size", "-pcp")
	b.Metrics = a.Metrics()
	b.Failures = append([]launch.Failure{
		{Log: `Not enough memory for KV cache`, Advice: "raise GPUMemoryUtilization, lower MaxNumSeqs or MaxModelLen, or spread the model over more GPUs with TensorParallel"},
		{Log: `Some processes failed to start, shutting down all`, Advice: "the engine did not start: the cause is in the lines above"},
	}, torchFailures...)
	if a.PrefixCaching != Off {
		b.keepsPrompts()
	}
	return b.finish()
}

// Metrics returns the names of the ATOM metrics that benchmarks read
// (https://github.com/ROCm/ATOM/blob/main/atom/entrypoints/openai/metrics.py).
func (ATOM) Metrics() metrics.Names {
	return metrics.Names{Path: "/metrics", KVUsage: metrics.Alternatives{"atom:kv_cache_usage_ratio"}}
}
