package backends

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// VLLM is vLLM's OpenAI server, `vllm serve`, of release 0.8 or later
// (https://docs.vllm.ai/en/latest/cli/serve/). Its port opens when the model is
// loaded, which may take minutes.
//
// Quantization is one of awq, awq_marlin, gptq, gptq_marlin, fp8,
// compressed-tensors (W8A8), bitsandbytes and gguf. The sampling defaults of the
// model's generation_config.json are not used, as they would change what is
// measured. The prefix cache is emptied before each pass.
type VLLM struct {
	Container
	DType                string  // float16, bfloat16, float32 or auto
	TensorParallel       int     // GPUs that share each layer; all whose ids are given
	PipelineParallel     int     // groups of GPUs that share the layers
	MaxModelLen          int     // tokens of a request, prompt and output together
	MaxNumSeqs           int     // requests in a batch
	MaxNumBatchedTokens  int     // tokens in a step
	GPUMemoryUtilization float64 // share of each GPU's memory; 0.9
	KVCacheDType         string  // auto, fp8, fp8_e4m3 or fp8_e5m2
	PrefixCaching        Toggle  // on
	ChunkedPrefill       Toggle  // on
	EnforceEager         bool    // no CUDA graphs
	AttentionBackend     string  // e.g. FLASH_ATTN
	Speculative          string  // JSON of --speculative-config
	LoadFormat           string  // auto, or dummy: random weights, for the load only
	// CPUKVCache is the room for the KV cache in GiB, of an image for CPUs
	// (vllm/vllm-openai-cpu); 0 is its default. It makes the container one that
	// such an image needs.
	CPUKVCache int
}

// Start returns the server as a target, once it is ready.
func (v VLLM) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, v) }

func (v VLLM) spec() (spec, error) {
	m := v.make("vllm", "vllm/vllm-openai:v0.29.0", 8000)
	m.accelerators(nvidia)
	m.shared()
	m.download("huggingface", "/root/.cache/huggingface", "HF_TOKEN")
	m.entry = []string{"vllm", "serve"} // what images run by themselves changed in late 2025
	m.env["VLLM_SERVER_DEV_MODE"] = "1" // for /reset_prefix_cache
	m.words(m.path, "--host", "0.0.0.0", "--port", "8000", "--served-model-name", m.model, "--generation-config", "vllm")
	m.choice("Quantization", "--quantization", v.Quantization, "awq", "awq_marlin", "gptq", "gptq_marlin", "fp8", "compressed-tensors", "bitsandbytes", "gguf")
	m.choice("DType", "--dtype", v.DType, "auto", "float16", "bfloat16", "float32")
	m.spread(
		split{"TensorParallel", "--tensor-parallel-size", v.TensorParallel, []string{"-tp"}},
		split{"PipelineParallel", "--pipeline-parallel-size", v.PipelineParallel, []string{"-pp", "--data-parallel-size", "-dp"}},
	)
	m.count("MaxModelLen", "--max-model-len", v.MaxModelLen)
	m.count("MaxNumSeqs", "--max-num-seqs", v.MaxNumSeqs)
	m.count("MaxNumBatchedTokens", "--max-num-batched-tokens", v.MaxNumBatchedTokens)
	m.share("GPUMemoryUtilization", "--gpu-memory-utilization", v.GPUMemoryUtilization)
	m.choice("KVCacheDType", "--kv-cache-dtype", v.KVCacheDType, "auto", "fp8", "fp8_e4m3", "fp8_e5m2")
	m.toggle("PrefixCaching", v.PrefixCaching, []string{"--enable-prefix-caching"}, []string{"--no-enable-prefix-caching"})
	m.toggle("ChunkedPrefill", v.ChunkedPrefill, []string{"--enable-chunked-prefill"}, []string{"--no-enable-chunked-prefill"})
	m.on("--enforce-eager", v.EnforceEager)
	m.text("--attention-backend", v.AttentionBackend)
	m.text("--speculative-config", v.Speculative)
	m.choice("LoadFormat", "--load-format", v.LoadFormat, "auto", "dummy")
	m.variable("CPUKVCache", "VLLM_CPU_KVCACHE_SPACE", v.CPUKVCache)
	if v.CPUKVCache > 0 { // https://docs.vllm.ai/en/latest/getting_started/installation/cpu/
		m.caps, m.security = append(m.caps, "SYS_NICE"), append(m.security, "seccomp=unconfined")
	}
	m.version = place{"/version", "version"}
	m.stats = vllmStats
	if v.PrefixCaching != Off {
		m.reset = []step{resetPrefixCache}
	}
	m.known = vllmKnown
	return m.end()
}

// resetPrefixCache is vLLM's way.
var resetPrefixCache = step{does: "empty the prefix cache", method: "POST", path: "/reset_prefix_cache"}

// vllmStats are vLLM's metrics, the newest names first
// (https://docs.vllm.ai/en/latest/usage/metrics/).
var vllmStats = stats{
	path:     "/metrics",
	hits:     names{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"},
	queries:  names{"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"},
	preempts: names{"vllm:num_preemptions_total"},
	kv:       names{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
	queue:    names{"vllm:request_queue_time_seconds"},

	ended:     names{"vllm:request_success_total"},
	prompt:    names{"vllm:prompt_tokens_total"},
	generated: names{"vllm:generation_tokens_total"},
}

// vllmKnown are what vLLM says when it cannot start; its front-end may live on
// after the engine has died.
var vllmKnown = append([]known{
	{log: `No available memory for the cache blocks`, advice: "raise GPUMemoryUtilization, lower MaxModelLen, or spread the model over more GPUs with TensorParallel"},
	{log: `To serve at least one request with the models?'?s? max seq len`, advice: "lower MaxModelLen: the KV cache cannot hold one request of that length"},
	{log: `Free memory on device .*on startup.*is less than desired GPU memory utilization`, advice: "another process holds memory of the GPU: end it, or lower GPUMemoryUtilization"},
	{log: `Bfloat16 is only supported on GPUs with compute capability`, advice: "set DType to float16: this GPU has no bfloat16"},
	{log: `Engine core initialization failed|WorkerProc initialization failed`, advice: "the engine did not start: its own error is in the lines above"},
}, torchKnown...)

// torchKnown are failures that all servers on PyTorch have in common.
var torchKnown = []known{
	{log: `torch\.OutOfMemoryError|CUDA out of memory|HIP out of memory`, advice: "the GPU's memory is too small for the model and its KV cache: use more GPUs, a quantized model or a shorter context"},
	{log: `CUDA driver version is insufficient|no kernel image is available`, advice: "the host's GPU driver is too old for this image, or the GPU is: update the driver or take an older image"},
	{log: `is not a local folder and is not a valid model identifier`, advice: "no such model on the Hugging Face Hub: check Model, or set ModelsDir"},
	{log: `401 Client Error|403 Client Error|Cannot access gated repo|GatedRepoError`, advice: "the model is gated: accept its licence on the Hugging Face Hub and set HF_TOKEN"},
	{log: `We couldn't connect to 'https://huggingface\.co'|LocalEntryNotFoundError`, advice: "the Hugging Face Hub cannot be reached: set ModelsDir to a folder with the model"},
}
