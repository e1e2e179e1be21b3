package backends

import (
	"encoding/json"
	"path"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Xinference is Xorbits Inference (https://inference.readthedocs.io/). Its model
// is launched by a request, once the server is up.
//
// Model is the name of a model that Xinference knows, such as qwen3; with
// ModelsDir the model is loaded from the folder Path in that. Quantization is
// what Xinference calls it: none, Int4, Int8, Q4_K_M …
type Xinference struct {
	Container
	Engine string         // vLLM, SGLang, llama.cpp, Transformers or MindIE
	Format string         // pytorch, gptq, awq, fp8 or ggufv2
	SizeB  string         // size in billions of parameters, as Xinference has it: "7" or "1_8"
	Path   string         // folder in ModelsDir; "" is the Model's name
	NGPU   int            // GPUs of the model
	Limit  int            // above it requests are refused
	Kwargs map[string]any // further settings of the engine
}

// Start returns the server as a target, once it is ready.
func (x Xinference) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, x) }

func (x Xinference) spec() (spec, error) {
	m := x.make("xinference", "xprobe/xinference:v3.2.1", 9997)
	m.accelerators(nvidia)
	if m.shm == 0 {
		m.shm = 16 << 30
	}
	m.download("xinference", "/data", "HF_TOKEN")
	if x.ModelsDir == "" {
		m.env["XINFERENCE_HOME"] = "/data"
		m.env["XINFERENCE_MODEL_SRC"] = "huggingface"
	}
	m.words("xinference-local", "-H", "0.0.0.0", "--port", "9997", "--log-level", "info")
	launch := map[string]any{"model_uid": m.model, "model_name": m.model}
	for name, v := range x.Kwargs {
		launch[name] = v
	}
	text := func(field, name, value string, allowed ...string) {
		if m.oneOf(field, value, allowed...) {
			launch[name] = value
		}
	}
	if x.Engine == "" {
		m.wrong("Engine", `"": want vLLM, SGLang, llama.cpp, Transformers or MindIE`)
	}
	text("Engine", "model_engine", x.Engine, "vLLM", "SGLang", "llama.cpp", "Transformers", "MindIE")
	text("Format", "model_format", x.Format, "pytorch", "gptq", "awq", "fp8", "ggufv2")
	if x.SizeB != "" {
		launch["model_size_in_billions"] = x.SizeB
	}
	if x.Quantization != "" {
		launch["quantization"] = x.Quantization
	}
	if m.positive("NGPU", x.NGPU) {
		launch["n_gpu"] = x.NGPU
		m.uses("NGPU", x.NGPU)
	}
	if m.positive("Limit", x.Limit) {
		launch["request_limits"] = x.Limit
	}
	if x.ModelsDir != "" {
		if x.Path != "" {
			m.weights.path = x.Path
		}
		launch["model_path"] = path.Join(modelsAt, m.weights.path)
	} else if x.Path != "" {
		m.wrong("Path", "%q: means nothing without ModelsDir", x.Path)
	}
	body, err := json.Marshal(launch)
	if err != nil {
		m.wrong("Kwargs", "cannot be written as JSON: %v", err)
	}
	for name, v := range launch {
		if text, is := v.(string); is && isSecret(name, text) {
			launch[name] = masked
			m.secrets = append(m.secrets, text)
		}
	}
	shows, _ := json.Marshal(launch) // as above
	m.setup = []step{{does: "launch the model", method: "POST", path: "/v1/models", body: string(body), shows: string(shows)}}
	m.config["engine"] = x.Engine
	m.config["launch"] = string(shows)
	m.health = "/status"
	m.known = torchKnown
	return m.end()
}
