package backends

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TGI is Hugging Face's text-generation-inference
// (https://huggingface.co/docs/text-generation-inference/reference/launcher).
//
// Quantization is one of awq, eetq, gptq, marlin, exl2, compressed-tensors,
// bitsandbytes, bitsandbytes-nf4, bitsandbytes-fp4 and fp8. It cannot be told to
// ignore the end of an answer, nor to empty its prefix cache.
type TGI struct {
	Container
	DType                 string  // float16 or bfloat16; not with a Quantization
	NumShard              int     // GPUs that share each layer; all
	MaxConcurrentRequests int     // above it requests are refused; 128
	MaxInputTokens        int     // tokens of a prompt
	MaxTotalTokens        int     // tokens of a request, prompt and output together
	MaxBatchPrefillTokens int     // prompt tokens in a step
	MaxBatchTotalTokens   int     // tokens in a batch
	MaxWaitingTokens      int     // steps before waiting requests are let in; 20
	CUDAMemoryFraction    float64 // share of each GPU's memory; 1
	KVCacheDType          string  // fp8_e4m3fn or fp8_e5m2
	Speculate             int     // tokens to guess ahead
	PrefixCaching         Toggle  // as the model allows
}

// Start returns the server as a target, once it is ready.
func (t TGI) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, t) }

func (t TGI) spec() (spec, error) {
	m := t.make("tgi", "ghcr.io/huggingface/text-generation-inference:3.3.7", 80)
	m.accelerators(nvidia)
	if m.shm == 0 {
		m.shm = 1 << 30 // for NCCL between shards; the launcher dies with signal 9 without
	}
	m.download("tgi", "/data", "HF_TOKEN")
	m.listed = m.path // it lists --model-id, and takes every name
	m.words("--model-id", m.path, "--port", "80")
	m.choice("Quantization", "--quantize", t.Quantization, "awq", "eetq", "gptq", "marlin", "exl2", "compressed-tensors", "bitsandbytes", "bitsandbytes-nf4", "bitsandbytes-fp4", "fp8")
	m.choice("DType", "--dtype", t.DType, "float16", "bfloat16")
	if t.DType != "" && t.Quantization != "" {
		m.wrong("DType", "%q: want none with Quantization %q, as the launcher takes one of the two", t.DType, t.Quantization)
	}
	m.count("NumShard", "--num-shard", t.NumShard)
	m.uses("NumShard", max(0, t.NumShard))
	m.count("MaxConcurrentRequests", "--max-concurrent-requests", t.MaxConcurrentRequests)
	m.count("MaxInputTokens", "--max-input-tokens", t.MaxInputTokens)
	m.count("MaxTotalTokens", "--max-total-tokens", t.MaxTotalTokens)
	m.count("MaxBatchPrefillTokens", "--max-batch-prefill-tokens", t.MaxBatchPrefillTokens)
	m.count("MaxBatchTotalTokens", "--max-batch-total-tokens", t.MaxBatchTotalTokens)
	m.count("MaxWaitingTokens", "--max-waiting-tokens", t.MaxWaitingTokens)
	m.share("CUDAMemoryFraction", "--cuda-memory-fraction", t.CUDAMemoryFraction)
	m.choice("KVCacheDType", "--kv-cache-dtype", t.KVCacheDType, "fp8_e4m3fn", "fp8_e5m2")
	m.count("Speculate", "--speculate", t.Speculate)
	m.variableToggle("PrefixCaching", t.PrefixCaching, "PREFIX_CACHING")
	m.version = place{"/info", "version"}
	m.stats = stats{path: "/metrics", queue: names{"tgi_request_queue_duration"}}
	m.known = append([]known{
		{log: `Not enough memory to handle \d+ prefill tokens`, advice: "lower MaxBatchPrefillTokens"},
		{log: `OutOfResources`, advice: "the GPTQ kernel does not fit this GPU: take an AWQ or EETQ model"},
		{log: `process was signaled to shutdown with signal 9`, advice: "the shard was killed for lack of memory: raise ShmSize or Memory"},
		{log: `Download encountered an error`, advice: "the model could not be fetched: check Model and HF_TOKEN, or set ModelsDir"},
		{log: `Shard \d+ failed to start|ShardCannotStart|Webserver Crashed`, advice: "a part of the server did not start: its own error is in the lines above"},
	}, torchKnown...)
	return m.end()
}
