package backends

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// TensorRTLLM is TensorRT-LLM's trtllm-serve
// (https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html) with its
// PyTorch engine, which reads models in Hugging Face's format. Quantization is a
// property of the model and not an option. The server refuses requests with fields
// that it does not know. Its prefix cache cannot be emptied.
type TensorRTLLM struct {
	Container
	TensorParallel     int     // GPUs that share each layer; all that GPUs names by id
	PipelineParallel   int     // groups of GPUs that share the layers
	MaxBatchSize       int     // requests in a batch
	MaxNumTokens       int     // tokens in a step
	MaxSeqLen          int     // tokens of a request, prompt and output together
	FreeGPUMemory      float64 // share of free memory for the KV cache; 0.9
	BlockReuse         Toggle  // prefix cache; on
	KVCacheDType       string  // auto or fp8
	ChunkedPrefill     Toggle
	PostprocessWorkers int // processes that turn tokens into text
}

// Spec describes how the server is launched; the error names each invalid field.
func (t TensorRTLLM) Spec() (launch.Spec, error) {
	b := newBuilder(t.Container, "tensorrtllm", "nvcr.io/nvidia/tensorrt-llm/release:1.2.1", 8000)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.Ulimits = []launch.Ulimit{{Name: "memlock", Soft: -1, Hard: -1}, {Name: "stack", Soft: 64 << 20, Hard: 64 << 20}}
	b.downloadTo("huggingface", "/root/.cache/huggingface", "HF_TOKEN")
	const settings = "/llmbench/config.yml"
	b.args("trtllm-serve", b.path, "--host", "0.0.0.0", "--port", "8000", "--config", settings)
	b.parallelOptions(
		parallelism{"TensorParallel", "--tp_size", t.TensorParallel, []string{"--tp"}},
		parallelism{"PipelineParallel", "--pp_size", t.PipelineParallel, []string{"--pp"}},
	)
	b.intOption("MaxBatchSize", "--max_batch_size", t.MaxBatchSize)
	b.intOption("MaxNumTokens", "--max_num_tokens", t.MaxNumTokens)
	b.intOption("MaxSeqLen", "--max_seq_len", t.MaxSeqLen)
	b.shareOption("FreeGPUMemory", "--kv_cache_free_gpu_memory_fraction", t.FreeGPUMemory)
	b.intOption("PostprocessWorkers", "--num_postprocess_workers", t.PostprocessWorkers)
	yml := "enable_iter_perf_stats: true\nreturn_perf_metrics: true\n"
	cache := ""
	if b.isOneOf("BlockReuse", string(t.BlockReuse), string(On), string(Off)) {
		cache += fmt.Sprintf("  enable_block_reuse: %t\n", t.BlockReuse == On)
	}
	if b.isOneOf("KVCacheDType", t.KVCacheDType, "auto", "fp8") {
		cache += "  dtype: " + t.KVCacheDType + "\n"
	}
	if cache != "" {
		yml += "kv_cache_config:\n" + cache
	}
	if b.isOneOf("ChunkedPrefill", string(t.ChunkedPrefill), string(On), string(Off)) {
		yml += fmt.Sprintf("enable_chunked_prefill: %t\n", t.ChunkedPrefill == On)
	}
	b.Files = []launch.File{{Path: settings, Content: yml}}
	b.Config["settings"] = strings.ReplaceAll(strings.TrimSpace(yml), "\n", "; ")
	b.ListedModel = "" // the server lists the folder's name instead of the path
	b.Version = probe.Field{Path: "/version", Name: "version"}
	b.Metrics = t.Metrics()
	b.Failures = append([]launch.Failure{
		{Log: `is not supported on this GPU`, Advice: "this GPU lacks what the model or its quantization needs: take another model"},
		{Log: `Executor worker died during initialization|Executor worker returned error`, Advice: "the engine did not start: the cause is in the lines above"},
	}, torchFailures...)
	return b.finish()
}

// Metrics returns the names of TensorRT-LLM's metrics
// (https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html).
func (TensorRTLLM) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/prometheus/metrics",
		CacheHitRate: metrics.Alternatives{"trtllm_kv_cache_hit_rate"},
		KVUsage:      metrics.Alternatives{"trtllm_kv_cache_utilization"},
		QueueTime:    metrics.Alternatives{"trtllm_request_queue_time_seconds"},
	}
}
