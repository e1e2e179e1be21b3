package backends

import (
	"regexp"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// TextGen is text-generation-webui, now TextGen, without its web page
// (https://github.com/oobabooga/textgen/wiki).
//
// Image is required, because there is no official one. Build it from the
// project's docker/nvidia/Dockerfile of January 2024 or later
// (https://github.com/oobabooga/textgen/blob/main/docker/nvidia/Dockerfile). Such
// an image has the project in its working directory,
// /home/app/text-generation-webui, and there a Python environment that
// start_linux.sh enters. Images with another layout do not start.
//
// Model is a file or folder at the top of ModelsDir. With the loader Transformers,
// which quantizes while it loads, Quantization is 8bit or 4bit; the other loaders
// take the quantization of the file. The server handles one request at a time,
// except with the loader llama.cpp and Parallel.
type TextGen struct {
	Container
	Loader    string // Transformers, ExLlamav2, ExLlamav3 or llama.cpp; "" lets the server choose
	Context   int    // tokens of a request, prompt and output together
	GPULayers int    // layers on the GPU, with the loader llama.cpp
	Parallel  int    // requests served at once, with the loader llama.cpp
	Attention string // sdpa, eager or flash_attention_2, with the loader Transformers
}

// textgenModel matches names that need no quoting in a shell.
var textgenModel = regexp.MustCompile(`^[A-Za-z0-9._+-]*$`)

// Spec describes how the server is launched; the error names each invalid field.
func (t TextGen) Spec() (launch.Spec, error) {
	b := newBuilder(t.Container, "textgen", "", 5000)
	b.grantGPUs(launch.NVIDIA)
	b.requireModelsDir()
	if !textgenModel.MatchString(t.Model) {
		b.invalid("Model", "%q: want a file or folder at the top of ModelsDir, of letters, digits, '.', '_', '+' and '-', because start_linux.sh passes the name to a shell", t.Model)
	}
	b.Entrypoint = []string{"./start_linux.sh"}
	b.Env["HOME"] = "/home/app/text-generation-webui" // as the image's own command sets it
	b.args("--api", "--listen", "--api-port", "5000", "--nowebui", "--model-dir", modelsAt, "--model", b.Model)
	b.choiceOption("Loader", "--loader", t.Loader, "Transformers", "ExLlamav2", "ExLlamav3", "llama.cpp")
	transformers, llama := t.Loader == "Transformers", t.Loader == "llama.cpp"
	if transformers {
		if b.isOneOf("Quantization", t.Quantization, "8bit", "4bit") {
			b.args("--load-in-" + t.Quantization)
		}
	} else {
		b.checkGGUF()
	}
	b.intOption("Context", "--ctx-size", t.Context)
	b.intOption("GPULayers", "--gpu-layers", t.GPULayers)
	b.intOption("Parallel", "--parallel", t.Parallel)
	if (t.GPULayers > 0 || t.Parallel > 0) && !llama {
		b.invalid("Loader", "%q: want llama.cpp with GPULayers or Parallel", t.Loader)
	}
	b.choiceOption("Attention", "--attn-implementation", t.Attention, "sdpa", "eager", "flash_attention_2")
	if t.Attention != "" && !transformers {
		b.invalid("Loader", "%q: want Transformers with Attention", t.Loader)
	}
	if t.Loader != "" {
		b.Config["loader"] = t.Loader
	}
	b.HealthPath = "/v1/internal/health"
	b.Failures = append(append([]launch.Failure{
		{Log: `torch\.cuda\.is_available\(\) returned False`, Advice: "the server runs without the GPU that was requested: check the driver and the image", WithGPU: true},
	}, torchFailures...), llamaFailures...)
	return b.finish()
}
