package backends

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// SGLang is SGLang's server, `sglang.launch_server`
// (https://docs.sglang.ai/advanced_features/server_arguments.html).
//
// Quantization is one of awq, gptq, fp8, gguf, bitsandbytes and
// compressed-tensors. The radix cache is emptied before each pass. Its health
// check is told not to generate tokens, which would hold up the queue.
type SGLang struct {
	Container
	DType              string  // auto, half, float16, bfloat16 or float32
	TensorParallel     int     // GPUs that share each layer; all whose ids are given
	DataParallel       int     // copies of the model
	ContextLength      int     // tokens of a request, prompt and output together
	MemFractionStatic  float64 // share of memory for weights and KV cache
	MaxRunningRequests int     // requests in a batch
	MaxQueuedRequests  int     // above it requests are refused
	ChunkedPrefillSize int     // prompt tokens in a step; -1 is whole prompts
	RadixCache         Toggle  // prefix cache; on
	KVCacheDType       string  // auto, fp8_e4m3 or fp8_e5m2
	AttentionBackend   string  // e.g. flashinfer
	CUDAGraph          Toggle  // on
	SchedulePolicy     string  // e.g. lpm or fcfs
}

// Start returns the server as a target, once it is ready.
func (s SGLang) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, s) }

func (s SGLang) spec() (spec, error) {
	m := s.make("sglang", "lmsysorg/sglang:v0.5.20", 30000)
	m.accelerators(nvidia)
	m.shared()
	m.download("huggingface", "/root/.cache/huggingface", "HF_TOKEN")
	m.env["SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION"] = "0"
	m.words("python3", "-m", "sglang.launch_server", "--model-path", m.path, "--served-model-name", m.model,
		"--host", "0.0.0.0", "--port", "30000", "--enable-metrics")
	m.choice("Quantization", "--quantization", s.Quantization, "awq", "gptq", "fp8", "gguf", "bitsandbytes", "compressed-tensors")
	m.choice("DType", "--dtype", s.DType, "auto", "half", "float16", "bfloat16", "float32")
	m.spread(
		split{"TensorParallel", "--tp-size", s.TensorParallel, []string{"--tp", "--tensor-parallel-size", "--pp-size", "--pp", "--pipeline-parallel-size"}},
		split{"DataParallel", "--dp-size", s.DataParallel, []string{"--dp", "--data-parallel-size", "--enable-dp-attention"}},
	)
	m.count("ContextLength", "--context-length", s.ContextLength)
	m.share("MemFractionStatic", "--mem-fraction-static", s.MemFractionStatic)
	m.count("MaxRunningRequests", "--max-running-requests", s.MaxRunningRequests)
	m.count("MaxQueuedRequests", "--max-queued-requests", s.MaxQueuedRequests)
	if s.ChunkedPrefillSize == -1 {
		m.words("--chunked-prefill-size", "-1")
	} else {
		m.count("ChunkedPrefillSize", "--chunked-prefill-size", s.ChunkedPrefillSize)
	}
	m.toggle("RadixCache", s.RadixCache, nil, []string{"--disable-radix-cache"})
	m.choice("KVCacheDType", "--kv-cache-dtype", s.KVCacheDType, "auto", "fp8_e4m3", "fp8_e5m2")
	m.text("--attention-backend", s.AttentionBackend)
	m.toggle("CUDAGraph", s.CUDAGraph, nil, []string{"--disable-cuda-graph"})
	m.text("--schedule-policy", s.SchedulePolicy)
	m.version = place{"/server_info", "version"}
	m.stats = stats{
		path:    "/metrics",
		hits:    names{"sglang:cached_tokens_total"},
		queries: names{"sglang:prompt_tokens_total"},
		kv:      names{"sglang:token_usage"},
		queue:   names{"sglang:queue_time_seconds"},

		prompt:    names{"sglang:prompt_tokens_total"},
		generated: names{"sglang:generation_tokens_total"},
	}
	if s.RadixCache != Off {
		m.reset = []step{{does: "empty the radix cache", method: "POST", path: "/flush_cache?timeout=30"}}
	}
	m.known = append([]known{
		{log: `Not enough memory\. Please try to increase --mem-fraction-static`, advice: "raise MemFractionStatic, or use more GPUs"},
		{log: `Capture cuda graph failed`, advice: "lower MemFractionStatic, or set CUDAGraph to off"},
		{log: `Initialization failed\. warmup error|Received sigquit from a child process`, advice: "the engine did not start: its own error is in the lines above"},
	}, torchKnown...)
	return m.end()
}
