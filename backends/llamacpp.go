package backends

import (
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// LlamaCPP is llama.cpp's llama-server
// (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).
//
// Model is a GGUF file in ModelsDir or, without one, a repository on the Hub;
// Quantization is then the variant to fetch (Q4_K_M) and else, with the name of
// the file, a check that it is the one that is meant. The default image is
// the one for the GPUs that are asked for, or for none. The server is kept
// from shrinking the context to what fits, and from keeping prompts in the
// host's memory, and its slots are emptied before each pass.
type LlamaCPP struct {
	Container
	Context       int    // tokens of all slots together
	Parallel      int    // slots: requests served at once
	Threads       int    // of the CPU
	GPULayers     int    // layers on the GPU; all, if there is one
	Batch, UBatch int    // tokens in a logical and in a physical batch
	FlashAttn     string // on, off or auto
	KVUnified     bool   // one KV cache for all slots
	CacheReuse    int    // least tokens of a piece of the cache to be moved for reuse
	CacheTypeK    string // of the KV cache: f16, q8_0, q4_0 …
	CacheTypeV    string
	SplitMode     string // among GPUs: none, layer, row or tensor
	PromptCache   Toggle // on
}

// Start returns the server as a target, once it is ready.
func (l LlamaCPP) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, l) }

func (l LlamaCPP) spec() (spec, error) {
	m := l.make("llamacpp", "ghcr.io/ggml-org/llama.cpp:server-b10472", 8080)
	m.accelerators(nvidia)
	if variant := map[string]string{nvidia: "cuda", amd: "rocm"}[m.gpus.vendor]; variant != "" && l.Image == "" {
		m.image = "ghcr.io/ggml-org/llama.cpp:server-" + variant + "-b10472"
	}
	m.download("llamacpp", "/cache", "HF_TOKEN")
	m.gguf()
	if l.ModelsDir != "" {
		m.words("-m", m.path)
	} else {
		m.env["LLAMA_CACHE"] = "/cache"
		repo := m.path
		if l.Quantization != "" {
			repo += ":" + l.Quantization
		}
		m.words("-hf", repo)
	}
	m.words("--alias", strings.ReplaceAll(m.model, ",", "_"), "--host", "0.0.0.0", "--port", "8080", "--metrics", "--fit", "off", "--cache-ram", "0", "--slot-save-path", "/tmp")
	m.model = strings.ReplaceAll(m.model, ",", "_") // a comma would part two aliases
	m.listed = m.model
	m.count("Context", "-c", l.Context)
	m.count("Parallel", "-np", l.Parallel)
	m.count("Threads", "-t", l.Threads)
	m.count("GPULayers", "-ngl", l.GPULayers)
	if l.GPULayers == 0 && m.gpus.vendor != "" {
		m.words("-ngl", "999")
	}
	m.count("Batch", "-b", l.Batch)
	m.count("UBatch", "-ub", l.UBatch)
	m.choice("FlashAttn", "-fa", l.FlashAttn, "on", "off", "auto")
	m.on("--kv-unified", l.KVUnified)
	m.count("CacheReuse", "--cache-reuse", l.CacheReuse)
	m.text("-ctk", l.CacheTypeK)
	m.text("-ctv", l.CacheTypeV)
	m.choice("SplitMode", "-sm", l.SplitMode, "none", "layer", "row", "tensor")
	m.toggle("PromptCache", l.PromptCache, nil, []string{"--no-cache-prompt"})
	m.version = place{"/props", "build_info"}
	m.stats = stats{path: "/metrics", kv: names{"llamacpp:kv_cache_usage_ratio"}}
	if l.PromptCache != Off {
		m.reset = []step{{does: "empty the slots", method: "POST", path: "/slots/%d?action=erase", count: place{"/props", "total_slots"}}}
	}
	m.known = llamaKnown
	return m.end()
}

// llamaKnown are what llama.cpp says when it cannot start.
var llamaKnown = []known{
	{log: `cudaMalloc failed: out of memory|unable to allocate .* buffer|failed to fit params to free device memory`, advice: "the model and its context do not fit: lower Context or GPULayers, or take a smaller quantization"},
	{log: `failed to create context with model`, advice: "the context does not fit: lower Context or Parallel"},
	{log: `error loading model:|failed to load model|exiting due to model loading error`, advice: "the model cannot be loaded: check that Model is a whole GGUF file that this version of llama.cpp knows"},
	{log: `error: invalid argument:|error while handling argument`, advice: "this version of the server does not know an argument: check Args and the image's version"},
	{log: `failed to initialize CUDA|no CUDA-capable device|no usable GPU found|offloaded 0/`, advice: "the server runs without the GPU it was to have: take an image for this GPU, such as llama.cpp:server-cuda-bNNNNN, and check the driver", gpu: true},
}
