package backends

import (
	"encoding/json"
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
)

// LocalAI is LocalAI (https://localai.io/). Its image contains no engine: at the first start the server
// installs llama.cpp into the volume llmbench-localai-backends, which later runs use again. The image's
// digest therefore does not say which version of llama.cpp was measured.
//
// Model is a name in LocalAI's gallery or, with ModelsDir, a GGUF file in ModelsDir. A model of the gallery
// comes with its own configuration, so Parallel and GPULayers need ModelsDir. The first request loads the
// model. The server keeps prompts between passes: its prompt cache cannot be emptied. The default image is
// LocalAI's image for the vendor of GPUs; the image for NVIDIA is built for CUDA 12.
type LocalAI struct {
	Container
	Context   int `flag:"--context-size"` // tokens of a request, prompt and output together
	Parallel  int // requests served at once, which share Context; by default 1 without a GPU, and with a GPU 2, 4 or 8, depending on the GPU's memory
	GPULayers int // layers on the GPU
	Threads   int `flag:"--threads"` // CPU threads
}

// localAIModel is the path of the model's configuration in the container.
const localAIModel = "/llmbench/model.yaml"

// Spec describes how the server is launched; the error names each invalid field.
func (l LocalAI) Spec() (launch.Spec, error) {
	const image = "localai/localai:v4.9.0"
	b := newBuilder(l.Container, "localai", image, 8080)
	b.grantGPUs(launch.NVIDIA)
	b.imageFor(map[string]string{launch.NVIDIA: image + "-gpu-nvidia-cuda-12", launch.AMD: image + "-gpu-hipblas", "": image})
	b.args("run", "--address", fmt.Sprintf("0.0.0.0:%d", b.Port))
	b.keepAt("localai-backends", "/backends")
	b.PassEnv["HF_TOKEN"] = "HF_TOKEN"
	b.fields(l)
	b.isPositive("Parallel", l.Parallel)
	b.isPositive("GPULayers", l.GPULayers)
	if l.ModelsDir != "" {
		b.checkGGUF()
		b.Files = []launch.File{{Path: localAIModel, Content: l.configuration()}}
		b.args("--external-backends", "llama-cpp", "--models-config-file", localAIModel)
	} else {
		for _, f := range []struct {
			name  string
			set   bool
			value any
		}{{"Parallel", l.Parallel > 0, l.Parallel}, {"GPULayers", l.GPULayers > 0, l.GPULayers}, {"Quantization", l.Quantization != "", l.Quantization}} {
			if f.set {
				b.invalid(f.name, "%v: want ModelsDir with it, because a model of LocalAI's gallery comes with its own configuration", f.value)
			}
		}
		b.keepAt("localai", modelsAt)
		b.Cmd = append(b.Cmd, b.Model)
	}
	b.HealthPath = "/readyz"
	b.Version = probe.Field{Path: "/version", Name: "version"}
	b.Failures = []launch.Failure{
		{Log: `error installing external backend|Backend not found`, Advice: "llama.cpp could not be installed, which the first start downloads from LocalAI's registry: check the network, and the space for the volume llmbench-localai-backends"},
		{Log: `error installing models|failed to discover model config`, Advice: "no such model in LocalAI's gallery, or it could not be downloaded: check Model and the network, or set ModelsDir"},
		{Log: `error loading config file\b`, Advice: "this version of LocalAI cannot read the configuration of the model: check the image's version"},
		{Log: `could not load model`, Advice: "the model cannot be loaded: check that Model is a whole GGUF file, and lower Context, Parallel or GPULayers if the memory is too small"},
		{Log: `Default capability \(no GPU detected\)|VRAM is less than 4GB, defaulting to CPU`, Advice: "the server runs without the GPU that was requested: check the driver, and take the image for this GPU, which needs 4 GB of memory", WithGPU: true},
	}
	b.keepsPrompts()
	return b.finish()
}

// configuration returns the file that describes a model in ModelsDir
// (https://localai.io/advanced/). It is JSON, which is YAML too.
func (l LocalAI) configuration() string {
	options := []string{"use_jinja:true"}
	if l.Parallel > 0 {
		options = append(options, fmt.Sprintf("parallel:%d", l.Parallel))
	}
	c := map[string]any{
		"name": l.Model, "backend": "llama-cpp", "options": options,
		"parameters": map[string]string{"model": l.Model},
		"template":   map[string]bool{"use_tokenizer_template": true}, // the chat template of the GGUF file
	}
	if l.GPULayers > 0 {
		c["gpu_layers"] = l.GPULayers
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers only: this cannot happen
	}
	return string(text) + "\n"
}
