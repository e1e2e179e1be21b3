package backends

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// SGLang is SGLang's server, `sglang.launch_server`
// (https://docs.sglang.ai/advanced_features/server_arguments.html).
//
// Quantization is awq, gptq, fp8, compressed-tensors, w8a8_int8, gguf, bitsandbytes or another method that
// SGLang has. The default image depends on the vendor of GPUs. For AMD it is built for MI300 and MI325; for
// MI350 and MI355, set Image to the same name with -rocm10-mi35x in place of -rocm10-mi30x. For NVIDIA it
// is built for CUDA 13, which needs driver 580 or newer; v0.5.19-cu129 is the newest image for older
// drivers. Without GPUs it is built for Xeon CPUs with AMX. The radix cache is emptied before each pass.
// The server ignores the sampling defaults in the model's generation_config.json, because they would change
// the results. The health check is configured not to generate tokens, because generation would delay
// requests.
type SGLang struct {
	Container
	DType              string  `flag:"--dtype" values:"auto half float16 bfloat16 float32"`
	TensorParallel     int     `gpus:"--tp-size"`                        // GPUs that share each layer; by default all GPUs listed by id
	DataParallel       int     `gpus:"--dp-size"`                        // copies of the model
	ContextLength      int     `flag:"--context-length"`                 // tokens of a request, prompt and output together
	MemFractionStatic  float64 `flag:"--mem-fraction-static"`            // share of memory for weights and KV cache
	MaxRunningRequests int     `flag:"--max-running-requests"`           // requests in a batch
	MaxQueuedRequests  int     `flag:"--max-queued-requests"`            // waiting requests; the server refuses further ones
	ChunkedPrefillSize int     `flag:"--chunked-prefill-size" also:"-1"` // prompt tokens in a step; -1 means whole prompts
	RadixCache         Toggle  `off:"--disable-radix-cache"`             // prefix cache; default on
	KVCacheDType       string  `flag:"--kv-cache-dtype" values:"auto bf16 bfloat16 fp8_e4m3 fp8_e5m2 mxfp8 nvfp4 fp4_mx_block16 fp4_e2m1"`
	AttentionBackend   string  `flag:"--attention-backend"` // e.g. flashinfer
	CUDAGraph          Toggle  `off:"--disable-cuda-graph"` // default on
	SchedulePolicy     string  `flag:"--schedule-policy" values:"lpm random fcfs dfs-weight lof priority routing-key"`
}

// Spec describes how the server is launched; the error names each invalid field.
func (s SGLang) Spec() (launch.Spec, error) {
	b := newBuilder(s.Container, "sglang", "lmsysorg/sglang:"+sglangRelease, 30000)
	b.grantGPUs(launch.NVIDIA)
	b.imageFor(map[string]string{launch.NVIDIA: "lmsysorg/sglang:" + sglangRelease, launch.AMD: "lmsysorg/sglang:" + sglangRelease + "-rocm10-mi30x", "": "lmsysorg/sglang:" + sglangRelease + "-xeon"})
	b.enlargeShm()
	b.Model = strings.ReplaceAll(b.Model, ":", "_") // SGLang takes what follows a colon for the name of an adapter
	b.ListedModel = b.Model
	b.Env["SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION"] = "0"
	b.args("python3", "-m", "sglang.launch_server", "--model-path", b.path, "--served-model-name", b.Model,
		"--host", "0.0.0.0", "--port", "30000", "--enable-metrics", "--sampling-defaults", "openai")
	if strings.HasSuffix(b.Image, "-xeon") {
		b.args("--device", "cpu")
		b.allowNUMA()
	}
	b.withHub("huggingface", "/root/.cache/huggingface", "--revision", "--chat-template", "--trust-remote-code")
	b.choiceOption("Quantization", "--quantization", s.Quantization, sglangQuantizations...)
	b.fields(s, "--tp", "--tensor-parallel-size", "--pp-size", "--pp", "--pipeline-parallel-size", "--dp", "--data-parallel-size", "--enable-dp-attention")
	b.Version = probe.Field{Path: "/server_info", Name: "version"}
	b.Metrics = s.Metrics()
	if s.RadixCache != Off {
		b.ResetCache = resetSGLang
	}
	b.Failures = append([]launch.Failure{
		{Log: `Not enough memory\. Please try to increase --mem-fraction-static`, Advice: "raise MemFractionStatic, or use more GPUs"},
		{Log: `Capture cuda graph failed`, Advice: "lower MemFractionStatic, or set CUDAGraph to off"},
		{Log: `Initialization failed\. warmup error|Received sigquit from a child process`, Advice: "the engine did not start: the cause is in the lines above"},
	}, torchFailures...)
	return b.finish()
}

// sglangRelease is the tag of the default images.
const sglangRelease = "v0.5.21"

// sglangQuantizations lists all methods that SGLang accepts, except the methods for NPUs and for Apple's
// GPUs.
var sglangQuantizations = []string{
	"awq", "awq_marlin", "gptq", "gptq_marlin", "marlin", "fp8", "mxfp8", "mxfp4", "bitsandbytes", "gguf", "compressed-tensors", "modelopt", "modelopt_fp8", "modelopt_fp4",
	"modelopt_mixed", "nvfp4_online", "petit_nvfp4", "w8a8_int8", "w8a8_fp8", "moe_wna16", "w4afp8", "auto-round", "auto-round-int8", "quark", "quark_int4fp8_moe", "quark_mxfp4", "unquant", "humming",
}

// resetSGLang empties SGLang's radix cache. The server waits at most 30 seconds until no request is
// running.
var resetSGLang = []probe.Step{{Purpose: "empty the radix cache", Method: "POST", Path: "/flush_cache?timeout=30"}}

// Metrics returns the names of SGLang's metrics
// (https://docs.sglang.ai/references/production_metrics.html).
func (SGLang) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/metrics",
		Preemptions:  metrics.Alternatives{"sglang:num_retracted_requests_total"},
		CacheHits:    metrics.Alternatives{"sglang:cached_tokens_total"},
		CacheQueries: metrics.Alternatives{"sglang:prompt_tokens_total"},
		KVUsage:      metrics.Alternatives{"sglang:token_usage"},
		QueueTime:    metrics.Alternatives{"sglang:queue_time_seconds"},
		Waiting:      metrics.Alternatives{"sglang:num_queue_reqs"},
		TTFT:         metrics.Alternatives{"sglang:time_to_first_token_seconds"},
		ITL:          metrics.Alternatives{"sglang:inter_token_latency_seconds"},
		E2E:          metrics.Alternatives{"sglang:e2e_request_latency_seconds"},

		Requests:     metrics.Alternatives{"sglang:num_requests_total"},
		PromptTokens: metrics.Alternatives{"sglang:prompt_tokens_total"},
		OutputTokens: metrics.Alternatives{"sglang:generation_tokens_total"},

		AcceptLength: metrics.Alternatives{"sglang:spec_accept_length"},
	}
}
