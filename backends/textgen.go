package backends

import (
	"regexp"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TextGen is text-generation-webui, now TextGen, without its web page
// (https://github.com/oobabooga/textgen/wiki).
//
// Image has to be given, since there is no official one: build it from the
// project's docker/nvidia/Dockerfile as it is since January 2024
// (https://github.com/oobabooga/textgen/blob/main/docker/nvidia/Dockerfile): it
// has the project in /home/app/text-generation-webui, which is its working
// directory, and Python in an environment there that start_linux.sh enters. An
// older one, or one of others with another layout, does not start. Model is a file or folder at the top of
// ModelsDir. Quantization is 8bit or 4bit with the loader Transformers, which
// quantizes when it loads; the other loaders read what the file is. One request
// is served at a time unless the loader is llama.cpp with Parallel.
type TextGen struct {
	Container
	Loader    string // Transformers, ExLlamav2, ExLlamav3 or llama.cpp; "" lets the server choose
	Context   int    // tokens of a request, prompt and output together
	GPULayers int    // layers on the GPU, of llama.cpp
	Parallel  int    // requests served at once, of llama.cpp
	Attention string // of Transformers: sdpa, eager or flash_attention_2
}

// Start returns the server as a target, once it is ready.
func (t TextGen) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, t) }

// textgenModel is a name that survives a shell.
var textgenModel = regexp.MustCompile(`^[A-Za-z0-9._+-]*$`)

func (t TextGen) spec() (spec, error) {
	m := t.make("textgen", "", 5000)
	m.accelerators(nvidia)
	m.needsDir()
	if !textgenModel.MatchString(t.Model) {
		m.wrong("Model", "%q: want a file or folder at the top of ModelsDir, of letters, digits, '.', '_', '+' and '-', as start_linux.sh hands it to a shell", t.Model)
	}
	m.entry = []string{"./start_linux.sh"}
	m.env["HOME"] = "/home/app/text-generation-webui" // as the image's own command sets it
	m.words("--api", "--listen", "--api-port", "5000", "--nowebui", "--model-dir", modelsAt, "--model", m.model)
	m.choice("Loader", "--loader", t.Loader, "Transformers", "ExLlamav2", "ExLlamav3", "llama.cpp")
	transformers, llama := t.Loader == "Transformers", t.Loader == "llama.cpp"
	if transformers {
		if m.oneOf("Quantization", t.Quantization, "8bit", "4bit") {
			m.words("--load-in-" + t.Quantization)
		}
	} else {
		m.gguf()
	}
	m.count("Context", "--ctx-size", t.Context)
	m.count("GPULayers", "--gpu-layers", t.GPULayers)
	m.count("Parallel", "--parallel", t.Parallel)
	if (t.GPULayers > 0 || t.Parallel > 0) && !llama {
		m.wrong("Loader", "%q: want llama.cpp with GPULayers or Parallel", t.Loader)
	}
	m.choice("Attention", "--attn-implementation", t.Attention, "sdpa", "eager", "flash_attention_2")
	if t.Attention != "" && !transformers {
		m.wrong("Loader", "%q: want Transformers with Attention", t.Loader)
	}
	if t.Loader != "" {
		m.config["loader"] = t.Loader
	}
	m.health = "/v1/internal/health"
	m.known = append(append([]known{
		{log: `torch\.cuda\.is_available\(\) returned False`, advice: "the server runs without the GPU it was to have: check the driver and the image", gpu: true},
	}, torchKnown...), llamaKnown...)
	return m.end()
}
