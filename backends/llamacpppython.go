package backends

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// LlamaCPPPython is the server of llama-cpp-python
// (https://llama-cpp-python.readthedocs.io/en/latest/server/).
//
// Model is a GGUF file in ModelsDir or, without one, a repository on the Hub;
// Quantization then chooses among its files. Image has to be given: the
// project's own (ghcr.io/abetlen/llama-cpp-python) has no tag but latest, and is
// for CPUs; it builds the library at each start. There is one request at a time:
// further ones wait, instead of ending the one before them, as they would by
// default. It says no usage in streams, so that a tokenizer is needed.
type LlamaCPPPython struct {
	Container
	Context   int  // tokens of a request, prompt and output together; 2048
	GPULayers int  // layers on the GPU; all, if there is one
	Batch     int  // tokens in a batch
	Threads   int  // of the CPU
	FlashAttn bool // off by default
}

// Start returns the server as a target, once it is ready.
func (l LlamaCPPPython) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, l) }

func (l LlamaCPPPython) spec() (spec, error) {
	m := l.make("llamacpp-python", "", 8000)
	m.accelerators(nvidia)
	m.download("huggingface", "/root/.cache/huggingface", "HF_TOKEN")
	m.gguf()
	m.env["MODEL"] = m.path
	if l.ModelsDir == "" {
		m.env["HF_MODEL_REPO_ID"] = m.path
		m.env["MODEL"] = "*" + l.Quantization + "*.gguf"
	}
	m.env["MODEL_ALIAS"] = m.model
	m.env["HOST"], m.env["PORT"] = "0.0.0.0", "8000"
	m.env["INTERRUPT_REQUESTS"] = "false"
	m.variable("Context", "N_CTX", l.Context)
	m.variable("Batch", "N_BATCH", l.Batch)
	m.variable("Threads", "N_THREADS", l.Threads)
	m.variable("GPULayers", "N_GPU_LAYERS", l.GPULayers)
	if l.GPULayers == 0 && m.gpus.vendor != "" {
		m.env["N_GPU_LAYERS"] = "-1"
	}
	if l.FlashAttn {
		m.env["FLASH_ATTN"] = "true"
	}
	m.noArgs("the image's command takes its settings from Env")
	m.health = "/v1/models" // it has no other
	m.known = append([]known{
		{log: `Failed to load model from file`, advice: "the model cannot be loaded: check that Model is a whole GGUF file"},
		{log: `Failed to create llama_context`, advice: "the context does not fit: lower Context"},
		{log: `Model path does not exist`, advice: "no such file: check Model and ModelsDir"},
	}, llamaKnown...)
	if l.GPULayers == 0 { // all of them are to be on the GPU
		m.known = append(m.known, known{log: `layer +0 assigned to device CPU`, advice: "the server runs without the GPU it was to have: build an image with it from docker/cuda_simple", gpu: true})
	}
	return m.end()
}
