package backends

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// VLLM is vLLM's OpenAI server, `vllm serve`, of release 0.8 or later
// (https://docs.vllm.ai/en/latest/cli/serve/). Its port opens when the model is loaded, which may take
// minutes.
//
// Quantization is awq, gptq, fp8, compressed-tensors (W8A8), modelopt_fp4, mxfp4, torchao, quark or another
// method that the images support. fp8 is for models whose files are in FP8; fp8_per_tensor quantizes other
// models while it loads them. bitsandbytes and gguf are plugins that the images do not contain. The default
// image depends on the vendor of GPUs; without GPUs it is an image for CPUs. For NVIDIA it is built for
// CUDA 13, which needs driver 580 or newer; add -cu129 to its tag for an older driver. V100 needs v0.19.1
// or older, the last image that is built for compute capability 7.0. The server ignores the sampling
// defaults in the model's generation_config.json, because they would change the results. The prefix cache
// is emptied before each pass.
type VLLM struct {
	Container
	DType                string  `flag:"--dtype" values:"auto float16 bfloat16 float32"`
	TensorParallel       int     `gpus:"--tensor-parallel-size"`   // GPUs that share each layer; by default all GPUs listed by id
	PipelineParallel     int     `gpus:"--pipeline-parallel-size"` // groups of GPUs that share the layers
	MaxModelLen          int     `flag:"--max-model-len"`          // tokens of a request, prompt and output together
	MaxNumSeqs           int     `flag:"--max-num-seqs"`           // requests in a batch
	MaxNumBatchedTokens  int     `flag:"--max-num-batched-tokens"` // tokens in a step
	GPUMemoryUtilization float64 `flag:"--gpu-memory-utilization"` // share of each GPU's memory; default 0.92
	KVCacheDType         string  `flag:"--kv-cache-dtype" values:"auto fp8 fp8_e4m3 fp8_e5m2"`
	PrefixCaching        Toggle  `flag:"--enable-prefix-caching" off:"--no-enable-prefix-caching"`   // default on
	ChunkedPrefill       Toggle  `flag:"--enable-chunked-prefill" off:"--no-enable-chunked-prefill"` // default on
	EnforceEager         bool    `flag:"--enforce-eager"`                                            // no CUDA graphs
	AttentionBackend     string  `flag:"--attention-backend"`                                        // e.g. FLASH_ATTN
	Speculative          string  `flag:"--speculative-config"`                                       // JSON value of --speculative-config
	LoadFormat           string  `flag:"--load-format" values:"auto dummy"`                          // dummy is for random weights
	CompileCache         Toggle  // keep the output of torch.compile in a volume, for later starts; default off
	// CPUKVCache is the size of the KV cache in GiB, for an image for CPUs
	// (vllm/vllm-openai-cpu). 0 means the image's default.
	CPUKVCache int `env:"VLLM_CPU_KVCACHE_SPACE"`
}

// Spec describes how the server is launched; the error names each invalid field.
func (v VLLM) Spec() (launch.Spec, error) {
	b := newBuilder(v.Container, "vllm", "vllm/vllm-openai:"+vllmRelease, 8000)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.imageFor(map[string]string{
		launch.NVIDIA: "vllm/vllm-openai:" + vllmRelease, launch.AMD: "vllm/vllm-openai-rocm:" + vllmRelease, "": "vllm/vllm-openai-cpu:" + vllmRelease,
	})
	b.Entrypoint = []string{"vllm", "serve"} // the images' own entrypoint changed in late 2025
	b.Env["VLLM_SERVER_DEV_MODE"] = "1"      // for /reset_prefix_cache
	b.args(b.path, "--host", "0.0.0.0", "--port", "8000", "--served-model-name", b.Model, "--generation-config", "vllm")
	b.withHub("huggingface", "/root/.cache/huggingface", "--revision", "--chat-template", "--trust-remote-code")
	b.choiceOption("Quantization", "--quantization", v.Quantization, vllmQuantizations...)
	b.fields(v, "-tp", "-pp", "--data-parallel-size", "-dp")
	if strings.Contains(b.Image, "-cpu") || v.CPUKVCache > 0 {
		b.allowNUMA()
	}
	if b.isSet("CompileCache", v.CompileCache) {
		b.Config["compile-cache"] = string(v.CompileCache)
		if v.CompileCache == On {
			b.Mounts = append(b.Mounts, launch.Mount{Source: "llmbench-vllm", Target: "/root/.cache/vllm"})
		}
	}
	b.Version = probe.Field{Path: "/version", Name: "version"}
	b.Metrics = v.Metrics()
	if v.PrefixCaching != Off {
		b.ResetCache = resetVLLM
	}
	b.Failures = vllmFailures
	return b.finish()
}

// vllmRelease is the tag of the default images.
const vllmRelease = "v0.31.0"

// vllmQuantizations lists the methods that vLLM's own images can load. They do not contain gguf and
// bitsandbytes, which are plugins.
var vllmQuantizations = []string{
	"awq", "auto_awq", "awq_marlin", "gptq", "auto_gptq", "gptq_marlin", "fp8", "compressed-tensors", "modelopt", "modelopt_fp4", "modelopt_mxfp8", "modelopt_mixed",
	"mxfp4", "gpt_oss_mxfp4", "mxfp8", "torchao", "quark", "experts_int8", "moe_wna16", "inc", "humming", "online",
	"fp8_per_tensor", "fp8_per_block", "fp8_per_channel", "int8_per_channel_weight_only", "nvfp4_per_token",
}

// resetVLLM empties the prefix cache of vLLM, and of the simulated server. vLLM supports the request only
// in development mode (VLLM_SERVER_DEV_MODE=1). While requests still use parts of the cache, for example
// requests that have just been cut off, vLLM does not empty it and answers with status 200 and
// success=false.
var resetVLLM = []probe.Step{{Purpose: "empty the prefix cache", Method: "POST", Path: "/reset_prefix_cache", Success: "success",
	Needs: "vLLM has this request only with VLLM_SERVER_DEV_MODE=1 in its environment"}}

// Metrics returns the names of vLLM's metrics
// (https://docs.vllm.ai/en/latest/usage/metrics/).
func (VLLM) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/metrics",
		CacheHits:    metrics.Alternatives{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"},
		CacheQueries: metrics.Alternatives{"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"},
		Preemptions:  metrics.Alternatives{"vllm:num_preemptions_total"},
		KVUsage:      metrics.Alternatives{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
		QueueTime:    metrics.Alternatives{"vllm:request_queue_time_seconds"},
		Waiting:      metrics.Alternatives{"vllm:num_requests_waiting"},

		TTFT:              metrics.Alternatives{"vllm:time_to_first_token_seconds"},
		ITL:               metrics.Alternatives{"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"},
		E2E:               metrics.Alternatives{"vllm:e2e_request_latency_seconds"},
		PrefillTime:       metrics.Alternatives{"vllm:request_prefill_time_seconds"},
		PrefillTokens:     metrics.Alternatives{"vllm:request_prefill_kv_computed_tokens"},
		ComputedTokens:    metrics.Alternatives{`vllm:prompt_tokens_by_source_total{source="local_compute"}`},
		ReusedTokens:      metrics.Alternatives{`vllm:prompt_tokens_by_source_total{source="local_cache_hit"}`},
		TransferredTokens: metrics.Alternatives{`vllm:prompt_tokens_by_source_total{source="external_kv_transfer"}`},

		Requests:     metrics.Alternatives{"vllm:request_success_total"},
		PromptTokens: metrics.Alternatives{"vllm:prompt_tokens_total"},
		OutputTokens: metrics.Alternatives{"vllm:generation_tokens_total"},

		Drafts:      metrics.Alternatives{"vllm:spec_decode_num_drafts_total"},
		DraftTokens: metrics.Alternatives{"vllm:spec_decode_num_draft_tokens_total"},
		Accepted:    metrics.Alternatives{"vllm:spec_decode_num_accepted_tokens_total"},
	}
}

// vllmFailures are log lines of vLLM when it cannot start. They are needed because vLLM's front-end may
// keep running after the engine has died.
var vllmFailures = append([]launch.Failure{
	{Log: `No available memory for the cache blocks`, Advice: "raise GPUMemoryUtilization, lower MaxModelLen, or spread the model over more GPUs with TensorParallel"},
	{Log: `To serve at least one request with the models?'?s? max seq len`, Advice: "lower MaxModelLen: the KV cache cannot hold one request of that length"},
	{Log: `Free memory on device .*on startup.*is less than desired GPU memory utilization`, Advice: "another process holds memory of the GPU: end it, or lower GPUMemoryUtilization"},
	{Log: `Bfloat16 is only supported on GPUs with compute capability`, Advice: "set DType to float16: this GPU has no bfloat16"},
	{Log: `Failed to infer device type`, Advice: "the server finds no GPU, and its image is not for CPUs: set GPUs, or take the image for CPUs"},
	{Log: `Unknown quantization method`, Advice: "this image cannot load the model's quantization: gguf and bitsandbytes are plugins, which it does not have"},
	{Log: `Engine core initialization failed|WorkerProc initialization failed`, Advice: "the engine did not start: the cause is in the lines above"},
}, torchFailures...)
