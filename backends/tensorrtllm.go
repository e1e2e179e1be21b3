package backends

import (
	"encoding/json"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// TensorRTLLM is TensorRT-LLM's trtllm-serve
// (https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html) with its PyTorch engine, which reads
// models in Hugging Face's format. Quantization is a property of the model and not an option. The server
// refuses requests that contain fields it does not know. Its prefix cache cannot be emptied. The use of its
// KV cache can be read from version 1.3.0rc5 on.
type TensorRTLLM struct {
	Container
	TensorParallel     int     `gpus:"--tp_size"`        // GPUs that share each layer; by default all GPUs listed by id
	PipelineParallel   int     `gpus:"--pp_size"`        // groups of GPUs that share the layers
	MaxBatchSize       int     `flag:"--max_batch_size"` // requests in a batch
	MaxNumTokens       int     `flag:"--max_num_tokens"` // tokens in a step
	MaxSeqLen          int     `flag:"--max_seq_len"`    // tokens of a request, prompt and output together
	FreeGPUMemory      float64 // share of free memory for the KV cache; default 0.9
	BlockReuse         Toggle  // prefix cache; default on
	KVCacheDType       string  // auto or fp8
	ChunkedPrefill     Toggle
	PostprocessWorkers int `flag:"--num_postprocess_workers"` // processes that turn tokens into text
}

// Spec describes how the server is launched; the error names each invalid field.
func (t TensorRTLLM) Spec() (launch.Spec, error) {
	b := newBuilder(t.Container, "tensorrtllm", "nvcr.io/nvidia/tensorrt-llm/release:1.2.1", 8000)
	b.grantGPUs(launch.NVIDIA)
	b.imageFor(map[string]string{launch.NVIDIA: b.Image})
	b.enlargeShm()
	b.Ulimits = []launch.Ulimit{{Name: "memlock", Soft: -1, Hard: -1}, {Name: "stack", Soft: 64 << 20, Hard: 64 << 20}}
	const settings = "/llmbench/config.yml"
	b.args("trtllm-serve", b.path, "--host", "0.0.0.0", "--port", "8000", "--config", settings)
	b.withHub("huggingface", "/root/.cache/huggingface", "", "--chat_template", "")
	b.fields(t, "--tensor_parallel_size", "--pipeline_parallel_size")
	text := t.settings(b)
	b.Files = []launch.File{{Path: settings, Content: text + "\n"}}
	b.Config["settings"] = strings.Join(strings.Fields(text), " ")
	if t.BlockReuse != Off {
		b.keepsPrompts()
	}
	b.ListedModel = "" // the server lists the name of the model's folder, not its path
	b.Version = probe.Field{Path: "/version", Name: "version"}
	b.Metrics = t.Metrics()
	if v := tagVersion(b.Image); v != "" && semver.Compare(v, "v1.3.0-rc.5") < 0 {
		b.Metrics.KVUsage = nil // https://github.com/NVIDIA/TensorRT-LLM/pull/11243
	}
	b.Failures = append([]launch.Failure{
		{Log: `Executor worker died during initialization|Executor worker returned error`, Advice: "the engine did not start: the cause is in the lines above"},
	}, torchFailures...)
	return b.finish()
}

// settings returns the server's configuration file. It is JSON, which is also YAML. It holds the memory of
// the KV cache, which could also be an option: in some versions, kv_cache_config in the file replaces all
// options that concern the cache.
func (t TensorRTLLM) settings(b *builder) string {
	type object = map[string]any
	all, cache := object{"enable_iter_perf_stats": true, "return_perf_metrics": true}, object{}
	if b.isSet("BlockReuse", t.BlockReuse) {
		cache["enable_block_reuse"] = t.BlockReuse == On
	}
	if b.isOneOf("KVCacheDType", t.KVCacheDType, "auto", "fp8") {
		cache["dtype"] = t.KVCacheDType
	}
	if b.isShare("FreeGPUMemory", t.FreeGPUMemory) {
		cache["free_gpu_memory_fraction"] = t.FreeGPUMemory
	}
	if len(cache) > 0 {
		all["kv_cache_config"] = cache
	}
	if b.isSet("ChunkedPrefill", t.ChunkedPrefill) {
		all["enable_chunked_prefill"] = t.ChunkedPrefill == On
	}
	if r := b.revision(); r != "" {
		all["revision"] = r
	}
	b.taken = append(b.taken, "TrustRemoteCode")
	if t.TrustRemoteCode {
		all["trust_remote_code"] = true
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // all is made of numbers, strings and booleans: this cannot happen
	}
	return string(text)
}

// Metrics returns the names of TensorRT-LLM's metrics
// (https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html).
func (TensorRTLLM) Metrics() metrics.Names {
	return metrics.Names{
		Path:      "/prometheus/metrics",
		KVUsage:   metrics.Alternatives{"trtllm_kv_cache_utilization"}, // since 1.3.0rc5
		QueueTime: metrics.Alternatives{"trtllm_request_queue_time_seconds"},
		TTFT:      metrics.Alternatives{"trtllm_time_to_first_token_seconds"},
		E2E:       metrics.Alternatives{"trtllm_e2e_request_latency_seconds"},

		Requests: metrics.Alternatives{"trtllm_request_success_total"},
	}
}
