package backends

import (
	"encoding/json"
	"maps"
	"path"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// Xinference is Xorbits Inference (https://inference.readthedocs.io/). After the server has started, a
// request makes it launch the model.
//
// Model is the name of a model that Xinference knows, such as qwen3. With ModelsDir the model is loaded
// from the folder Path in ModelsDir. Quantization uses Xinference's names: none, Int4, Int8, Q4_K_M …
//
// The image is built for CUDA 13, which needs driver 580 or later. It contains no engine: when the model is
// launched, the server installs the engine from PyPI into a volume that later runs use again. The image's
// digest therefore does not say which version of the engine was measured. Set Packages to fix the version.
//
// Revision cannot be set, because Xinference's own list of models determines which revision is fetched.
// TrustRemoteCode concerns only models that are not in that list: the server trusts the others. Offline
// prevents the server from contacting the Hub, but not PyPI: start it once without Offline to install the
// engine.
//
// Authentication is switched off, because otherwise a fresh server refuses every request until somebody has
// created an account.
type Xinference struct {
	Container
	Engine   string         // vLLM, SGLang, llama.cpp, Transformers, LMDEPLOY (only for InternVL models), or MindIE with an Image of Xinference Enterprise
	Packages []string       // Python packages of the engine, instead of Xinference's choice: "vllm==0.29.0"
	Format   string         // pytorch, gptq, awq, fp8 or ggufv2
	SizeB    string         // size in billions of parameters, in Xinference's format: "7" or "1_8"
	Path     string         // folder in ModelsDir; "" means Model
	NGPU     int            // GPUs that the model uses; all GPUs listed by id, or one if GPUs is "all"
	Limit    int            // concurrent requests; the server refuses further ones
	Kwargs   map[string]any // further settings of the engine
}

// xinferenceEngines are the values of Engine.
var xinferenceEngines = []string{"vLLM", "SGLang", "llama.cpp", "Transformers", "LMDEPLOY", "MindIE"}

// Spec describes how the server is launched; the error names each invalid field.
func (x Xinference) Spec() (launch.Spec, error) {
	b := newBuilder(x.Container, "xinference", "xprobe/xinference:v3.5.0", 9997)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.keepAt("xinference", "/data")
	b.Env["XINFERENCE_HOME"] = "/data"
	b.Env["XINFERENCE_AUTH_ADVANCED"] = "false"
	if x.ModelsDir == "" {
		b.PassEnv["HF_TOKEN"] = "HF_TOKEN"
		b.Env["XINFERENCE_MODEL_SRC"] = "huggingface"
	}
	b.withOffline()
	b.withTrustRemoteCodeVariable("XINFERENCE_TRUST_REMOTE_CODE")
	b.args("xinference-local", "-H", "0.0.0.0", "--port", "9997", "--log-level", "info")
	request := map[string]any{"model_uid": b.Model, "model_name": b.Model}
	maps.Copy(request, x.Kwargs)
	set := func(field, name, value string, allowed ...string) {
		if b.isOneOf(field, value, allowed...) {
			request[name] = value
		}
	}
	switch {
	case x.Engine == "":
		b.invalid("Engine", `"": want one of %s`, strings.Join(xinferenceEngines, ", "))
	case x.Engine == "MindIE" && x.Image == "":
		b.invalid("Engine", "%q: only Xinference Enterprise has it: want an Image of that edition, or another engine", x.Engine)
	}
	set("Engine", "model_engine", x.Engine, xinferenceEngines...)
	set("Format", "model_format", x.Format, "pytorch", "gptq", "awq", "fp8", "ggufv2")
	if x.SizeB != "" {
		request["model_size_in_billions"] = x.SizeB
	}
	if x.Quantization != "" {
		request["quantization"] = x.Quantization
	}
	if len(x.Packages) > 0 {
		request["virtual_env_packages"] = x.Packages
	}
	x.useGPUs(b, request)
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
	shown, _ := json.Marshal(request) // an error was recorded above
	b.Setup = []probe.Step{{Purpose: "launch the model", Method: "POST", Path: "/v1/models", Body: string(body), Shown: string(shown)}}
	b.Config["engine"] = x.Engine
	b.Config["launch"] = string(shown)
	b.HealthPath = "/status"
	b.Failures = torchFailures
	return b.finish()
}

// useGPUs sets how many GPUs the model uses: NGPU, or all GPUs that are listed by id. Without this setting
// the server would use one.
func (x Xinference) useGPUs(b *builder, request map[string]any) {
	n := x.NGPU
	if b.isPositive("NGPU", n) || len(b.Devices.IDs) > 1 {
		if n <= 0 {
			n = len(b.Devices.IDs)
		}
		request["n_gpu"] = n
	}
	b.useDevices("NGPU", max(1, n))
}
