package backends

import (
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// SGLang is SGLang's server, `sglang.launch_server`
// (https://docs.sglang.ai/advanced_features/server_arguments.html).
//
// Quantization is one of awq, gptq, fp8, gguf, bitsandbytes and
// compressed-tensors. The radix cache is emptied before each pass. The health
// check is configured not to generate tokens, because that would delay requests.
type SGLang struct {
	Container
	DType              string  // auto, half, float16, bfloat16 or float32
	TensorParallel     int     // GPUs that share each layer; all that GPUs names by id
	DataParallel       int     // copies of the model
	ContextLength      int     // tokens of a request, prompt and output together
	MemFractionStatic  float64 // share of memory for weights and KV cache
	MaxRunningRequests int     // requests in a batch
	MaxQueuedRequests  int     // waiting requests; further ones are refused
	ChunkedPrefillSize int     // prompt tokens in a step; -1 is whole prompts
	RadixCache         Toggle  // prefix cache; on
	KVCacheDType       string  // auto, fp8_e4m3 or fp8_e5m2
	AttentionBackend   string  // e.g. flashinfer
	CUDAGraph          Toggle  // on
	SchedulePolicy     string  // e.g. lpm or fcfs
}

// Spec describes how the server is launched; the error names each invalid field.
func (s SGLang) Spec() (launch.Spec, error) {
	b := newBuilder(s.Container, "sglang", "lmsysorg/sglang:v0.5.20", 30000)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.downloadTo("huggingface", "/root/.cache/huggingface", "HF_TOKEN")
	b.Env["SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION"] = "0"
	b.args("python3", "-m", "sglang.launch_server", "--model-path", b.path, "--served-model-name", b.Model,
		"--host", "0.0.0.0", "--port", "30000", "--enable-metrics")
	b.choiceOption("Quantization", "--quantization", s.Quantization, "awq", "gptq", "fp8", "gguf", "bitsandbytes", "compressed-tensors")
	b.choiceOption("DType", "--dtype", s.DType, "auto", "half", "float16", "bfloat16", "float32")
	b.parallelOptions(
		parallelism{"TensorParallel", "--tp-size", s.TensorParallel, []string{"--tp", "--tensor-parallel-size", "--pp-size", "--pp", "--pipeline-parallel-size"}},
		parallelism{"DataParallel", "--dp-size", s.DataParallel, []string{"--dp", "--data-parallel-size", "--enable-dp-attention"}},
	)
	b.intOption("ContextLength", "--context-length", s.ContextLength)
	b.shareOption("MemFractionStatic", "--mem-fraction-static", s.MemFractionStatic)
	b.intOption("MaxRunningRequests", "--max-running-requests", s.MaxRunningRequests)
	b.intOption("MaxQueuedRequests", "--max-queued-requests", s.MaxQueuedRequests)
	if s.ChunkedPrefillSize == -1 {
		b.args("--chunked-prefill-size", "-1")
	} else {
		b.intOption("ChunkedPrefillSize", "--chunked-prefill-size", s.ChunkedPrefillSize)
	}
	b.toggleOption("RadixCache", s.RadixCache, nil, []string{"--disable-radix-cache"})
	b.choiceOption("KVCacheDType", "--kv-cache-dtype", s.KVCacheDType, "auto", "fp8_e4m3", "fp8_e5m2")
	b.textOption("--attention-backend", s.AttentionBackend)
	b.toggleOption("CUDAGraph", s.CUDAGraph, nil, []string{"--disable-cuda-graph"})
	b.textOption("--schedule-policy", s.SchedulePolicy)
	b.Version = probe.Field{Path: "/server_info", Name: "version"}
	b.Metrics = s.Metrics()
	if s.RadixCache != Off {
		b.ResetCache = []probe.Step{{Purpose: "empty the radix cache", Method: "POST", Path: "/flush_cache?timeout=30"}}
	}
	b.Failures = append([]launch.Failure{
		{Log: `Not enough memory\. Please try to increase --mem-fraction-static`, Advice: "raise MemFractionStatic, or use more GPUs"},
		{Log: `Capture cuda graph failed`, Advice: "lower MemFractionStatic, or set CUDAGraph to off"},
		{Log: `Initialization failed\. warmup error|Received sigquit from a child process`, Advice: "the engine did not start: the cause is in the lines above"},
	}, torchFailures...)
	return b.finish()
}

// Metrics returns the names of SGLang's metrics
// (https://docs.sglang.ai/references/production_metrics.html).
func (SGLang) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/metrics",
		CacheHits:    metrics.Alternatives{"sglang:cached_tokens_total"},
		CacheQueries: metrics.Alternatives{"sglang:prompt_tokens_total"},
		KVUsage:      metrics.Alternatives{"sglang:token_usage"},
		QueueTime:    metrics.Alternatives{"sglang:queue_time_seconds"},

		PromptTokens: metrics.Alternatives{"sglang:prompt_tokens_total"},
		OutputTokens: metrics.Alternatives{"sglang:generation_tokens_total"},
	}
}
