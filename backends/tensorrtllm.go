package backends

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TensorRTLLM is TensorRT-LLM's trtllm-serve
// (https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html) with its
// PyTorch engine, which reads models in Hugging Face's format; Quantization is
// what the model is, and no flag. It takes no request with a field that it does
// not know. Its prefix cache cannot be emptied.
type TensorRTLLM struct {
	Container
	TensorParallel     int     // GPUs that share each layer; all whose ids are given
	PipelineParallel   int     // groups of GPUs that share the layers
	MaxBatchSize       int     // requests in a batch
	MaxNumTokens       int     // tokens in a step
	MaxSeqLen          int     // tokens of a request, prompt and output together
	FreeGPUMemory      float64 // share of free memory for the KV cache; 0.9
	BlockReuse         Toggle  // prefix cache; on
	KVCacheDType       string  // auto or fp8
	ChunkedPrefill     Toggle
	PostprocessWorkers int // processes that make text of tokens
}

// Start returns the server as a target, once it is ready.
func (t TensorRTLLM) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, t) }

func (t TensorRTLLM) spec() (spec, error) {
	m := t.make("tensorrtllm", "nvcr.io/nvidia/tensorrt-llm/release:1.2.1", 8000)
	m.accelerators(nvidia)
	m.shared()
	m.ulimits = []ulimit{{"memlock", -1, -1}, {"stack", 64 << 20, 64 << 20}}
	m.download("huggingface", "/root/.cache/huggingface", "HF_TOKEN")
	const settings = "/llmbench/config.yml"
	m.words("trtllm-serve", m.path, "--host", "0.0.0.0", "--port", "8000", "--config", settings)
	m.spread(
		split{"TensorParallel", "--tp_size", t.TensorParallel, []string{"--tp"}},
		split{"PipelineParallel", "--pp_size", t.PipelineParallel, []string{"--pp"}},
	)
	m.count("MaxBatchSize", "--max_batch_size", t.MaxBatchSize)
	m.count("MaxNumTokens", "--max_num_tokens", t.MaxNumTokens)
	m.count("MaxSeqLen", "--max_seq_len", t.MaxSeqLen)
	m.share("FreeGPUMemory", "--kv_cache_free_gpu_memory_fraction", t.FreeGPUMemory)
	m.count("PostprocessWorkers", "--num_postprocess_workers", t.PostprocessWorkers)
	yml := "enable_iter_perf_stats: true\nreturn_perf_metrics: true\n"
	cache := ""
	if m.oneOf("BlockReuse", string(t.BlockReuse), string(On), string(Off)) {
		cache += fmt.Sprintf("  enable_block_reuse: %t\n", t.BlockReuse == On)
	}
	if m.oneOf("KVCacheDType", t.KVCacheDType, "auto", "fp8") {
		cache += "  dtype: " + t.KVCacheDType + "\n"
	}
	if cache != "" {
		yml += "kv_cache_config:\n" + cache
	}
	if m.oneOf("ChunkedPrefill", string(t.ChunkedPrefill), string(On), string(Off)) {
		yml += fmt.Sprintf("enable_chunked_prefill: %t\n", t.ChunkedPrefill == On)
	}
	m.files = []file{{settings, yml}}
	m.config["settings"] = strings.ReplaceAll(strings.TrimSpace(yml), "\n", "; ")
	m.listed = "" // the folder's name, not the path it was given
	m.version = place{"/version", "version"}
	m.stats = stats{
		path:    "/prometheus/metrics",
		hitRate: names{"trtllm_kv_cache_hit_rate"},
		kv:      names{"trtllm_kv_cache_utilization"},
		queue:   names{"trtllm_request_queue_time_seconds"},
	}
	m.known = append([]known{
		{log: `is not supported on this GPU`, advice: "this GPU lacks what the model or its quantization needs: take another model"},
		{log: `Executor worker died during initialization|Executor worker returned error`, advice: "the engine did not start: its own error is in the lines above"},
	}, torchKnown...)
	return m.end()
}
