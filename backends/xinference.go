package backends

import (
	"encoding/json"
	"path"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// Xinference is Xorbits Inference (https://inference.readthedocs.io/). Its model
// is launched by a request when the server is up.
//
// Model is the name of a model that Xinference knows, such as qwen3. With
// ModelsDir the model is loaded from the folder Path in ModelsDir. Quantization is
// Xinference's name for it: none, Int4, Int8, Q4_K_M …
type Xinference struct {
	Container
	Engine string         // vLLM, SGLang, llama.cpp, Transformers or MindIE
	Format string         // pytorch, gptq, awq, fp8 or ggufv2
	SizeB  string         // size in billions of parameters, in Xinference's format: "7" or "1_8"
	Path   string         // folder in ModelsDir; "" means Model
	NGPU   int            // GPUs that the model uses
	Limit  int            // requests at once; further ones are refused
	Kwargs map[string]any // further settings of the engine
}

// Spec describes how the server is launched; the error names each invalid field.
func (x Xinference) Spec() (launch.Spec, error) {
	b := newBuilder(x.Container, "xinference", "xprobe/xinference:v3.2.1", 9997)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.downloadTo("xinference", "/data", "HF_TOKEN")
	if x.ModelsDir == "" {
		b.Env["XINFERENCE_HOME"] = "/data"
		b.Env["XINFERENCE_MODEL_SRC"] = "huggingface"
	}
	b.args("xinference-local", "-H", "0.0.0.0", "--port", "9997", "--log-level", "info")
	request := map[string]any{"model_uid": b.Model, "model_name": b.Model}
	for name, v := range x.Kwargs {
		request[name] = v
	}
	set := func(field, name, value string, allowed ...string) {
		if b.isOneOf(field, value, allowed...) {
			request[name] = value
		}
	}
	if x.Engine == "" {
		b.invalid("Engine", `"": want vLLM, SGLang, llama.cpp, Transformers or MindIE`)
	}
	set("Engine", "model_engine", x.Engine, "vLLM", "SGLang", "llama.cpp", "Transformers", "MindIE")
	set("Format", "model_format", x.Format, "pytorch", "gptq", "awq", "fp8", "ggufv2")
	if x.SizeB != "" {
		request["model_size_in_billions"] = x.SizeB
	}
	if x.Quantization != "" {
		request["quantization"] = x.Quantization
	}
	if b.isPositive("NGPU", x.NGPU) {
		request["n_gpu"] = x.NGPU
		b.useDevices("NGPU", x.NGPU)
	}
	if b.isPositive("Limit", x.Limit) {
		request["request_limits"] = x.Limit
	}
	if x.ModelsDir != "" {
		if x.Path != "" {
			b.Weights.Path = x.Path
		}
		request["model_path"] = path.Join(modelsAt, b.Weights.Path)
	} else if x.Path != "" {
		b.invalid("Path", "%q: has no effect without ModelsDir", x.Path)
	}
	body, err := json.Marshal(request)
	if err != nil {
		b.invalid("Kwargs", "cannot be written as JSON: %v", err)
	}
	for name, v := range request {
		if text, ok := v.(string); ok && env.IsSecret(name, text) {
			request[name] = secret.Placeholder
			b.Secrets = append(b.Secrets, text)
		}
	}
	shown, _ := json.Marshal(request) // an error is in b.errs already
	b.Setup = []probe.Step{{Purpose: "launch the model", Method: "POST", Path: "/v1/models", Body: string(body), Shown: string(shown)}}
	b.Config["engine"] = x.Engine
	b.Config["launch"] = string(shown)
	b.HealthPath = "/status"
	b.Failures = torchFailures
	return b.finish()
}
