package backends

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// TGI is Hugging Face's text-generation-inference
// (https://huggingface.co/docs/text-generation-inference/reference/launcher).
//
// Quantization is one of awq, eetq, gptq, marlin, exl2, compressed-tensors, bitsandbytes, bitsandbytes-nf4,
// bitsandbytes-fp4 and fp8. TGI can neither ignore the end-of-sequence token nor empty its prefix cache.
// The default image for AMD is 3.3.5-rocm, the newest one that the project's documentation names.
type TGI struct {
	Container
	DType                 string  `flag:"--dtype" values:"float16 bfloat16"` // must be "" with a Quantization
	NumShard              int     `flag:"--num-shard"`                       // GPUs that share each layer; by default all
	MaxConcurrentRequests int     `flag:"--max-concurrent-requests"`         // requests waiting or running; the server refuses further ones; default 128
	MaxInputTokens        int     `flag:"--max-input-tokens"`                // tokens of a prompt
	MaxTotalTokens        int     `flag:"--max-total-tokens"`                // tokens of a request, prompt and output together
	MaxBatchPrefillTokens int     `flag:"--max-batch-prefill-tokens"`        // prompt tokens in a step
	MaxBatchTotalTokens   int     `flag:"--max-batch-total-tokens"`          // tokens in a batch
	MaxWaitingTokens      int     `flag:"--max-waiting-tokens"`              // steps before waiting requests join the batch; default 20
	CUDAMemoryFraction    float64 `flag:"--cuda-memory-fraction"`            // share of each GPU's memory; default 1
	KVCacheDType          string  `flag:"--kv-cache-dtype" values:"fp8_e4m3fn fp8_e5m2"`
	Speculate             int     `flag:"--speculate"`   // speculative tokens
	PrefixCaching         Toggle  `env:"PREFIX_CACHING"` // default on if the model allows it
}

// Spec describes how the server is launched; the error names each invalid field.
func (t TGI) Spec() (launch.Spec, error) {
	b := newBuilder(t.Container, "tgi", "ghcr.io/huggingface/text-generation-inference:3.3.7", 80)
	b.grantGPUs(launch.NVIDIA)
	b.imageFor(map[string]string{launch.NVIDIA: b.Image, launch.AMD: "ghcr.io/huggingface/text-generation-inference:3.3.5-rocm"})
	b.ShmSize = cmp.Or(b.ShmSize, 1<<30) // NCCL needs it between shards; the launcher dies with signal 9 without it
	b.ListedModel = b.path               // TGI lists the value of --model-id, and accepts any name in requests
	b.args("--model-id", b.path, "--port", "80")
	b.withHub("tgi", "/data", "--revision", "", "--trust-remote-code")
	if t.ModelsDir == "" {
		b.ListedModel, b.AdoptModel = "", true // the Hub may spell the name differently
		b.CommitFile, b.Commit = "", probe.Field{Path: "/info", Name: "model_sha"}
	}
	b.choiceOption("Quantization", "--quantize", t.Quantization, "awq", "eetq", "gptq", "marlin", "exl2", "compressed-tensors", "bitsandbytes", "bitsandbytes-nf4", "bitsandbytes-fp4", "fp8")
	b.fields(t)
	if t.DType != "" && t.Quantization != "" {
		b.invalid("DType", "%q: want none with Quantization %q, because the launcher takes only one of the two", t.DType, t.Quantization)
	}
	b.useDevices("NumShard", max(0, t.NumShard))
	b.Version = probe.Field{Path: "/info", Name: "version"}
	b.Metrics = t.Metrics()
	if t.PrefixCaching != Off {
		b.keepsPrompts()
	}
	for _, word := range slices.Concat(b.Cmd, t.Args) {
		if strings.ContainsAny(word, " \t\n*?[") {
			b.invalid("Args", "%q: want no spaces and none of *?[, because the image's entrypoint hands its arguments to a shell without quotes", word)
		}
	}
	b.Failures = append([]launch.Failure{
		{Log: `Not enough memory to handle \d+ prefill tokens`, Advice: "lower MaxBatchPrefillTokens"},
		{Log: `OutOfResources`, Advice: "the GPTQ kernel does not fit this GPU: take an AWQ or EETQ model"},
		{Log: `process was signaled to shutdown with signal 9`, Advice: "the shard was killed for lack of memory: raise ShmSize or Memory"},
		{Log: `Download encountered an error`, Advice: "the model could not be fetched: check Model and HF_TOKEN, or set ModelsDir"},
		{Log: `Shard \d+ failed to start|ShardCannotStart|Webserver Crashed`, Advice: "a part of the server did not start: the cause is in the lines above"},
	}, torchFailures...)
	return b.finish()
}

// Metrics returns the names of TGI's metrics
// (https://huggingface.co/docs/text-generation-inference/reference/metrics).
func (TGI) Metrics() metrics.Names {
	return metrics.Names{
		Path:      "/metrics",
		QueueTime: metrics.Alternatives{"tgi_request_queue_duration"},
		Waiting:   metrics.Alternatives{"tgi_queue_size"},
		E2E:       metrics.Alternatives{"tgi_request_duration"},

		Requests:     metrics.Alternatives{"tgi_request_success"},
		PromptTokens: metrics.Alternatives{"tgi_request_input_length"},
		OutputTokens: metrics.Alternatives{"tgi_request_generated_tokens"},

		Accepted: metrics.Alternatives{"tgi_request_skipped_tokens"}, // counts the accepted tokens of each step
	}
}
