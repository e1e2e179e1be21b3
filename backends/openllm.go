package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// OpenLLM is BentoML's OpenLLM of release 0.4, the last with an image
// (https://pypi.org/project/openllm/0.4.36/). Later releases run vLLM: measure
// [VLLM] instead.
//
// Quantization is one of int8, int4, gptq, awq and squeezellm.
type OpenLLM struct {
	Container
	Engine string // pt, vllm or ctranslate
	DType  string // auto, float16, bfloat16 or float32
}

// Spec describes how the server is launched; the error names each invalid field.
func (o OpenLLM) Spec() (launch.Spec, error) {
	b := newBuilder(o.Container, "openllm", "ghcr.io/bentoml/openllm:0.4.36", 3000)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.downloadTo("openllm", "/root/bentoml", "HF_TOKEN")
	b.ListedModel, b.AdoptModel = "", true // OpenLLM makes up a name from Model, and answers 404 to any other
	b.args("start", b.path, "--port", "3000")
	b.choiceOption("Engine", "--backend", o.Engine, "pt", "vllm", "ctranslate")
	b.choiceOption("Quantization", "--quantize", o.Quantization, "int8", "int4", "gptq", "awq", "squeezellm")
	b.choiceOption("DType", "--dtype", o.DType, "auto", "float16", "bfloat16", "float32")
	if o.Engine != "" {
		b.Config["engine"] = o.Engine
	}
	b.HealthPath = "/readyz"
	b.Failures = torchFailures
	return b.finish()
}
