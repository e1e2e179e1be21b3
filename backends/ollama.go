package backends

import (
	"fmt"
	"path"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
)

// Ollama is Ollama (https://docs.ollama.com/api).
//
// Model is a name in Ollama's library or, with ModelsDir, a GGUF file in ModelsDir. Quantization must agree
// with the file's name, or with the tag of the library's name: llama3:8b-instruct-q8_0. The model is loaded
// before the first request, and stays loaded. Ollama silently truncates prompts that are longer than the
// context, has no option to ignore the end-of-sequence token, and keeps prompts between passes: its prompt
// cache cannot be emptied. The default image is Ollama's image for the vendor of GPUs; the image also runs
// on a CPU.
type Ollama struct {
	Container
	// Context is the maximum number of tokens of a request, prompt and output together. If it is 0, the
	// server chooses a number, and chooses a smaller one if the model does not fit into memory. The
	// configuration line "context" in the results has the number in use.
	Context   int    `env:"OLLAMA_CONTEXT_LENGTH"`
	Parallel  int    `env:"OLLAMA_NUM_PARALLEL"`                         // requests served at once; default 1
	MaxQueue  int    `env:"OLLAMA_MAX_QUEUE"`                            // waiting requests; the server refuses further ones; default 512
	FlashAttn Toggle `env:"OLLAMA_FLASH_ATTENTION"`                      // default on if the model allows it
	KVCache   string `env:"OLLAMA_KV_CACHE_TYPE" values:"f16 q8_0 q4_0"` // type of the KV cache
}

// Spec describes how the server is launched; the error names each invalid field.
func (o Ollama) Spec() (launch.Spec, error) {
	b := newBuilder(o.Container, "ollama", "ollama/ollama:0.35.1", 11434)
	b.grantGPUs(launch.NVIDIA)
	if o.Image == "" && b.Devices.Vendor == launch.AMD {
		b.Image += "-rocm"
	}
	b.checkGGUF()
	b.taken = append(b.taken, "Offline") // only the step "fetch the model" uses the network
	b.HealthPath = "/api/version"
	b.Env["OLLAMA_HOST"] = "0.0.0.0:11434"
	b.Env["OLLAMA_KEEP_ALIVE"] = "-1"
	b.fields(o)
	b.forbidArgs("`ollama serve` takes its settings from Env")
	if o.ModelsDir != "" {
		b.Model = ollamaName(o.Model)
		b.Files = []launch.File{{Path: "/llmbench/Modelfile", Content: "FROM " + b.path + "\n"}}
		b.Setup = []probe.Step{{Purpose: "make the model", Exec: []string{"ollama", "create", b.Model, "-f", "/llmbench/Modelfile"}}}
	} else {
		if _, tag, _ := strings.Cut(o.Model, ":"); o.Quantization != "" && ggufQuantization(tag) != ggufQuantization(o.Quantization) {
			b.invalid("Quantization", "%q: the tag of the model %q does not name it, and the tag decides what Ollama downloads: want a tag that ends in the quantization, such as %s", o.Quantization, o.Model, ollamaTag(o.Model, o.Quantization))
		}
		b.Mounts = append(b.Mounts, launch.Mount{Source: "llmbench-ollama", Target: "/root/.ollama"})
		if !o.Offline { // a model that is not in the volume then fails to load
			b.Setup = []probe.Step{{Purpose: "fetch the model", Method: "POST", Path: "/api/pull", Body: fmt.Sprintf(`{"model":%q,"stream":false}`, b.Model)}}
		}
	}
	b.Setup = append(b.Setup, probe.Step{Purpose: "load the model", Method: "POST", Path: "/api/generate", Body: fmt.Sprintf(`{"model":%q,"keep_alive":-1}`, b.Model)})
	b.ListedModel = b.Model
	if !strings.Contains(b.ListedModel, ":") {
		b.ListedModel += ":latest"
	}
	b.Version = probe.Field{Path: "/api/version", Name: "version"}
	b.Reported = map[string]probe.Field{"context": {Path: "/api/ps", Name: "models.0.context_length"}}
	b.GPUResidency = [2]probe.Field{{Path: "/api/ps", Name: "models.0.size"}, {Path: "/api/ps", Name: "models.0.size_vram"}}
	b.Failures = []launch.Failure{
		{Log: `inference compute.*library=cpu`, Advice: "the server runs without the GPU that was requested: check the driver, and use the -rocm image for GPUs of AMD", WithGPU: true},
		{Log: `model is too large for system memory`, Advice: "the model does not fit: take a smaller quantization, lower Context or Parallel, or raise Memory"},
	}
	b.keepsPrompts()
	return b.finish()
}

// ollamaTag suggests a name for the model with the given quantization in Ollama's library
// (https://ollama.com/library/llama3/tags): q8_0, q4_K_M, fp16.
func ollamaTag(model, quantization string) string {
	name, tag, _ := strings.Cut(model, ":")
	if tag == "" || tag == "latest" {
		tag = "8b-instruct"
	}
	return name + ":" + tag + "-" + strings.Replace(strings.ToLower(quantization[:1])+quantization[1:], "f16", "fp16", 1)
}

// ollamaName turns the name of a file into a valid name of a model.
func ollamaName(file string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(file)), ".gguf")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}
