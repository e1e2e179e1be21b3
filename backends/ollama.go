package backends

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Ollama is Ollama (https://docs.ollama.com/api).
//
// Model is a name in Ollama's library or, with ModelsDir, a GGUF file in that;
// Quantization is a check of that file's name, or of the tag in the library's:
// llama3:8b-instruct-q8_0. The model is loaded before anything is measured, and kept. Prompts longer than the context are cut
// silently, and the end of an answer cannot be ignored.
type Ollama struct {
	Container
	Context   int    // tokens of a request, prompt and output together; by the GPU's memory
	Parallel  int    // requests served at once; 1
	MaxQueue  int    // above it requests are refused; 512
	FlashAttn Toggle // as the model allows
	KVCache   string // type of the KV cache: f16, q8_0 or q4_0
}

// Start returns the server as a target, once it is ready.
func (o Ollama) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, o) }

func (o Ollama) spec() (spec, error) {
	m := o.make("ollama", "ollama/ollama:0.32.15", 11434)
	m.accelerators(nvidia)
	m.gguf()
	m.health = "/api/version"
	m.env["OLLAMA_HOST"] = "0.0.0.0:11434"
	m.env["OLLAMA_KEEP_ALIVE"] = "-1"
	m.variable("Context", "OLLAMA_CONTEXT_LENGTH", o.Context)
	m.variable("Parallel", "OLLAMA_NUM_PARALLEL", o.Parallel)
	m.variable("MaxQueue", "OLLAMA_MAX_QUEUE", o.MaxQueue)
	m.variableToggle("FlashAttn", o.FlashAttn, "OLLAMA_FLASH_ATTENTION")
	if m.oneOf("KVCache", o.KVCache, "f16", "q8_0", "q4_0") {
		m.env["OLLAMA_KV_CACHE_TYPE"] = o.KVCache
	}
	m.noArgs("`ollama serve` takes its settings from Env")
	if o.ModelsDir != "" {
		m.model = ollamaName(o.Model)
		m.files = []file{{"/llmbench/Modelfile", "FROM " + m.path + "\n"}}
		m.setup = []step{{does: "make the model", exec: []string{"ollama", "create", m.model, "-f", "/llmbench/Modelfile"}}}
	} else {
		if _, tag, _ := strings.Cut(o.Model, ":"); o.Quantization != "" && quantized(tag) != quantized(o.Quantization) {
			m.wrong("Quantization", "%q: the tag of the model %q does not say it, and Ollama fetches what the tag is: want one that ends in it, like %s", o.Quantization, o.Model, ollamaTag(o.Model, o.Quantization))
		}
		m.mounts = append(m.mounts, mount{"llmbench-ollama", "/root/.ollama", false})
		m.setup = []step{{does: "fetch the model", method: "POST", path: "/api/pull", body: fmt.Sprintf(`{"model":%q,"stream":false}`, m.model)}}
	}
	m.setup = append(m.setup, step{does: "load the model", method: "POST", path: "/api/generate", body: fmt.Sprintf(`{"model":%q,"keep_alive":-1}`, m.model)})
	m.listed = m.model
	if !strings.Contains(m.listed, ":") {
		m.listed += ":latest"
	}
	m.version = place{"/api/version", "version"}
	m.whole = [2]place{{"/api/ps", "models.0.size"}, {"/api/ps", "models.0.size_vram"}}
	m.known = []known{
		{log: `no compatible GPUs were discovered`, advice: "the server runs without the GPU it was to have: check the driver, and take the -rocm image for AMD's", gpu: true},
		{log: `model requires more system memory`, advice: "the model does not fit: take a smaller quantization, or raise Memory"},
	}
	return m.end()
}

// ollamaTag proposes a model of that quantization, as Ollama's library names them
// (https://ollama.com/library/llama3/tags): q8_0, q4_K_M, fp16.
func ollamaTag(model, quantization string) string {
	name, tag, _ := strings.Cut(model, ":")
	if tag == "" || tag == "latest" {
		tag = "8b-instruct"
	}
	return name + ":" + tag + "-" + strings.Replace(strings.ToLower(quantization[:1])+quantization[1:], "f16", "fp16", 1)
}

// ollamaName makes a model's name of a file's.
func ollamaName(file string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(file)), ".gguf")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}
