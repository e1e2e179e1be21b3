package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// LlamaCPPPython is the server of llama-cpp-python
// (https://llama-cpp-python.readthedocs.io/en/latest/server/).
//
// Model is a GGUF file in ModelsDir or, without ModelsDir, a repository on the Hub, from which Quantization
// selects a file. The default image is the project's own image, of the newest version that is known to have
// one. That image is for CPUs, builds the library at each start, and cannot download models. With GPUs, or
// without ModelsDir, set Image: docker/cuda_simple of the project builds an image with CUDA. To download
// models, an image needs the Python package huggingface-hub.
//
// The server has no setting for the revision of a model. Offline needs ModelsDir, because the server looks
// up a model on the Hub at every start.
//
// The server handles one request at a time. Further requests wait; by the server's own default, a new
// request would end the current one. The server does not keep the logits of whole prompts, as it would by
// default, and therefore refuses requests for logprobs. It keeps the last prompt between passes. It reports
// no token usage in streams, so a tokenizer is needed.
type LlamaCPPPython struct {
	Container
	Context   int  `env:"N_CTX"`        // tokens of a request, prompt and output together; default 2048
	GPULayers int  `env:"N_GPU_LAYERS"` // layers on the GPU; all if GPUs is set
	Batch     int  `env:"N_BATCH"`      // tokens in a batch
	Threads   int  `env:"N_THREADS"`    // CPU threads
	FlashAttn bool // off by default
}

// Spec describes how the server is launched; the error names each invalid field.
func (l LlamaCPPPython) Spec() (launch.Spec, error) {
	b := newBuilder(l.Container, "llamacpp-python", "ghcr.io/abetlen/llama-cpp-python:v0.3.5", 8000)
	b.grantGPUs(launch.NVIDIA)
	if l.Image == "" && b.Devices.Vendor != "" {
		b.invalid("Image", `"": the project's own image is for CPUs: want one for GPUs %q, which docker/cuda_simple of the project builds`, string(l.GPUs))
	}
	if l.Image == "" && l.ModelsDir == "" {
		b.invalid("ModelsDir", `"": want the folder that holds the model, because the project's own image cannot download it, or an Image with the Python package huggingface-hub`)
	}
	b.downloadTo("huggingface", "/root/.cache/huggingface")
	b.offlineInFolder()
	b.checkGGUF()
	b.Env["MODEL"] = b.path
	if l.ModelsDir == "" {
		b.Env["HF_MODEL_REPO_ID"] = b.path
		b.Env["MODEL"] = "*" + l.Quantization + "*.gguf"
	}
	b.Env["MODEL_ALIAS"] = b.Model
	b.Env["HOST"], b.Env["PORT"] = "0.0.0.0", "8000"
	b.Env["INTERRUPT_REQUESTS"] = "false"
	b.Env["LOGITS_ALL"] = "false" // true would keep one row of logits for each token of the context
	b.fields(l)
	if l.GPULayers == 0 && b.Devices.Vendor != "" {
		b.Env["N_GPU_LAYERS"] = "-1"
	}
	if l.FlashAttn {
		b.Env["FLASH_ATTN"] = "true"
	}
	b.forbidArgs("this server takes its settings from Env")
	b.HealthPath = "/v1/models" // there is no other health check
	b.Failures = append([]launch.Failure{
		{Log: `Failed to load model from file`, Advice: "the model cannot be loaded: check that Model is a whole GGUF file"},
		{Log: `Failed to create llama_context`, Advice: "the context does not fit: lower Context"},
		{Log: `Model path does not exist`, Advice: "no such file: check Model and ModelsDir"},
	}, llamaFailures...)
	if l.GPULayers == 0 { // all layers must be on the GPU, so a layer on the CPU is a failure
		b.Failures = append(b.Failures, launch.Failure{Log: `layer +0 assigned to device CPU`, Advice: "the server runs without the GPU that was requested: build an image with it from docker/cuda_simple", WithGPU: true})
	}
	b.keepsPrompts()
	return b.finish()
}
