package backends

import (
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// LMDeploy is LMDeploy's api_server
// (https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html).
//
// Quantization is the format of the weights: hf, awq, gptq, compressed-tensors, fp8 or mxfp4. If Engine is
// turbomind and the server falls back to its PyTorch engine, the start fails. The server ignores the
// sampling defaults in the model's generation_config.json, because they would change the results. The
// default image is for CUDA 12; an image whose tag ends in -cu13.0 needs driver 580 or newer.
type LMDeploy struct {
	Container
	Engine             string  // turbomind or pytorch; turbomind if it supports the model
	DType              string  `flag:"--dtype" values:"auto float16 bfloat16"`
	TensorParallel     int     `gpus:"--tp"`                        // GPUs that share each layer; by default all GPUs listed by id
	SessionLen         int     `flag:"--session-len"`               // tokens of a request, prompt and output together
	MaxBatchSize       int     `flag:"--max-batch-size"`            // requests in a batch
	CacheMaxEntryCount float64 `flag:"--cache-max-entry-count"`     // share of free memory for the KV cache; default 0.8
	KVQuant            int     `flag:"--quant-policy" values:"4 8"` // bits of each value in the KV cache
	PrefixCaching      bool    `flag:"--enable-prefix-caching"`     // off by default; the cache cannot be emptied
	MaxPrefillTokens   int     `flag:"--max-prefill-token-num"`     // prompt tokens in a step
}

// Spec describes how the server is launched; the error names each invalid field.
func (l LMDeploy) Spec() (launch.Spec, error) {
	b := newBuilder(l.Container, "lmdeploy", "openmmlab/lmdeploy:v0.17.0-cu12.8", 23333)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.imageFor(map[string]string{launch.NVIDIA: b.Image})
	b.args("lmdeploy", "serve", "api_server", b.path, "--server-name", "0.0.0.0", "--server-port", "23333", "--model-name", b.Model, "--generation-config", "lmdeploy")
	b.withHub("huggingface", "/root/.cache/huggingface", "--revision", "", "--trust-remote-code")
	b.choiceOption("Engine", "--backend", l.Engine, "turbomind", "pytorch")
	b.choiceOption("Quantization", "--model-format", l.Quantization, "hf", "awq", "gptq", "compressed-tensors", "fp8", "mxfp4")
	b.fields(l, "--dp", "--ep")
	if l.PrefixCaching {
		b.keepsPrompts()
	}
	b.Metrics = l.Metrics()
	b.Failures = append([]launch.Failure{
		{Log: `\[TM\]\[FATAL\].*CUDA error: out of memory`, Advice: "lower CacheMaxEntryCount or SessionLen"},
		{Log: `\[TM\]\[FATAL\].*CUDA error`, Advice: "the engine failed on the GPU: the line says why"},
	}, torchFailures...)
	if l.Engine == "turbomind" {
		b.Failures = append(b.Failures, launch.Failure{Log: `Fallback to pytorch engine because`, Advice: "TurboMind does not support this model: set Engine to pytorch"})
	}
	return b.finish()
}

// Metrics returns the names of LMDeploy's metrics
// (https://lmdeploy.readthedocs.io/en/latest/advance/metrics.html).
func (LMDeploy) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/metrics",
		CacheHits:    metrics.Alternatives{"lmdeploy:cached_tokens_total"}, // not the gauge of the hit rate, which counts from the start of the server
		CacheQueries: metrics.Alternatives{"lmdeploy:prompt_tokens_total"},
		KVUsage:      metrics.Alternatives{"lmdeploy:gpu_cache_usage_perc"},
		QueueTime:    metrics.Alternatives{"lmdeploy:request_queue_time_seconds"},
		Waiting:      metrics.Alternatives{"lmdeploy:num_requests_waiting"},
		TTFT:         metrics.Alternatives{"lmdeploy:time_to_first_token_seconds"},
		E2E:          metrics.Alternatives{"lmdeploy:e2e_request_latency_seconds"},

		Requests:     metrics.Alternatives{"lmdeploy:request_success_total"},
		PromptTokens: metrics.Alternatives{"lmdeploy:prompt_tokens_total"},
		OutputTokens: metrics.Alternatives{"lmdeploy:generation_tokens_total"},

		Drafts:      metrics.Alternatives{"lmdeploy:spec_decode_num_drafts_total"},
		DraftTokens: metrics.Alternatives{"lmdeploy:spec_decode_num_draft_tokens_total"},
		Accepted:    metrics.Alternatives{"lmdeploy:spec_decode_num_accepted_tokens_total"},
	}
}
