package backends

import (
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// LlamaCPP is llama.cpp's llama-server
// (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).
//
// Model is a GGUF file in ModelsDir or, without ModelsDir, a repository on the Hub. Quantization is the
// variant to download from a repository (Q4_K_M). For a file, the start fails if the file's name
// contradicts Quantization. The default image is the project's image for the vendor of GPUs, or for CPUs.
// The project builds images once a day, so most of its releases have none. Its image for CUDA 13 is
// server-cuda13-bNNNNN. If Context is set, the server does not reduce it to what fits into memory. The
// server does not keep prompts in the host's memory. Its slots are emptied before each pass.
type LlamaCPP struct {
	Container
	Context     int    // tokens of all slots together
	Parallel    int    `flag:"-np"`  // slots: requests served at once
	Threads     int    `flag:"-t"`   // CPU threads
	GPULayers   int    `flag:"-ngl"` // layers on the GPU; all if GPUs is set
	Batch       int    `flag:"-b"`   // tokens in a logical batch
	UBatch      int    `flag:"-ub"`  // tokens in a physical batch
	FlashAttn   string `flag:"-fa" values:"on off auto"`
	KVUnified   bool   `flag:"--kv-unified"`                       // one KV cache for all slots
	CacheReuse  int    `flag:"--cache-reuse"`                      // shortest piece of the cache, in tokens, that is shifted to be reused
	CacheTypeK  string `flag:"-ctk"`                               // type of the KV cache's keys: f16, q8_0, q4_0 …
	CacheTypeV  string `flag:"-ctv"`                               // type of the KV cache's values
	SplitMode   string `flag:"-sm" values:"none layer row tensor"` // how the model is split among GPUs
	PromptCache Toggle `off:"--no-cache-prompt"`                   // default on
}

// Spec describes how the server is launched; the error names each invalid field.
func (l LlamaCPP) Spec() (launch.Spec, error) {
	b := newBuilder(l.Container, "llamacpp", "ghcr.io/ggml-org/llama.cpp:server-b11312", 8080)
	b.grantGPUs(launch.NVIDIA)
	if variant := map[string]string{launch.NVIDIA: "cuda", launch.AMD: "rocm"}[b.Devices.Vendor]; variant != "" && l.Image == "" {
		b.Image = "ghcr.io/ggml-org/llama.cpp:server-" + variant + "-b11312"
	}
	b.downloadTo("llamacpp", "/cache")
	b.checkGGUF()
	if l.ModelsDir != "" {
		b.args("-m", b.path)
	} else {
		b.Env["LLAMA_CACHE"] = "/cache"
		repo := b.path
		if l.Quantization != "" {
			repo += ":" + l.Quantization
		}
		b.args("-hf", repo)
	}
	b.Model = strings.ReplaceAll(b.Model, ",", "_") // a comma would separate two aliases
	b.ListedModel = b.Model
	b.args("--alias", b.Model, "--host", "0.0.0.0", "--port", "8080", "--metrics", "--cache-ram", "0", "--slot-save-path", "/tmp")
	if b.isPositive("Context", l.Context) {
		b.args("-c", strconv.Itoa(l.Context))
	}
	if l.Context > 0 || b.hasArg("-c", "--ctx-size") { // else the context is the model's, which may be far too large for the memory
		b.args("--fit", "off")
	}
	if l.GPULayers == 0 && b.Devices.Vendor != "" {
		l.GPULayers = 999
	}
	b.fields(l)
	b.withChatTemplate("--chat-template-file")
	b.withOfflineOption("--offline")
	b.Version = probe.Field{Path: "/props", Name: "build_info"}
	b.Metrics = l.Metrics()
	if l.PromptCache != Off {
		b.ResetCache = resetLlamaCPP
	}
	b.Failures = llamaFailures
	return b.finish()
}

// llamaFailures are log lines of llama.cpp when it cannot start.
var llamaFailures = []launch.Failure{
	{Log: `cudaMalloc failed: out of memory|unable to allocate .* buffer|failed to fit params to free device memory`, Advice: "the model and its context do not fit: lower Context or GPULayers, or take a smaller quantization"},
	{Log: `failed to create context with model`, Advice: "the context does not fit: lower Context or Parallel"},
	{Log: `error loading model:|failed to load model|exiting due to model loading error`, Advice: "the model cannot be loaded: check that Model is a whole GGUF file that this version of llama.cpp knows"},
	{Log: `error: invalid argument:|error while handling argument`, Advice: "this version of the server does not know an argument: check Args and the image's version"},
	{Log: `failed to initialize CUDA|no CUDA-capable device|no usable GPU found|offloaded 0/`, Advice: "the server runs without the GPU that was requested: take an image for this GPU, such as llama.cpp:server-cuda-bNNNNN, and check the driver", WithGPU: true},
}

// resetLlamaCPP empties llama.cpp's slots. The server supports this request only if it was started with
// --slot-save-path.
var resetLlamaCPP = []probe.Step{{Purpose: "empty the slots", Method: "POST", Path: "/slots/%d?action=erase", Count: probe.Field{Path: "/props", Name: "total_slots"}}}

// Metrics returns the names of llama.cpp's metrics
// (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md). The server prints their
// values with six significant digits, the default of a C++ stream. No metric says how full the KV cache is:
// llama.cpp removed that one in May 2025
// (https://github.com/ggml-org/llama.cpp/pull/13660).
func (LlamaCPP) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/metrics",
		CacheHits:    metrics.Alternatives{"llamacpp:prompt_tokens_cached_total"},
		CacheMisses:  metrics.Alternatives{"llamacpp:prompt_tokens_total"},
		OutputTokens: metrics.Alternatives{"llamacpp:tokens_predicted_total"},
		Waiting:      metrics.Alternatives{"llamacpp:requests_deferred"},
		Digits:       6,

		PrefillTime:   metrics.Alternatives{"llamacpp:prompt_seconds_total"},
		PrefillTokens: metrics.Alternatives{"llamacpp:prompt_tokens_total"},

		Drafts:      metrics.Alternatives{"llamacpp:spec_decode_num_drafts_total"},
		DraftTokens: metrics.Alternatives{"llamacpp:spec_decode_num_draft_tokens_total"},
		Accepted:    metrics.Alternatives{"llamacpp:spec_decode_num_accepted_tokens_total"},
	}
}
