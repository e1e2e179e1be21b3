package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// OpenLLM is BentoML's OpenLLM of release 0.4, the last with an image
// (https://github.com/bentoml/OpenLLM/blob/v0.4.36/Dockerfile). Images have the tags
// 0.4.0 to 0.4.44. Later releases run vLLM: measure [VLLM] instead.
//
// Quantization is int8 or int4 with the engine pt, and awq or squeezellm with the
// engine vllm. No image has CTranslate2, which OpenLLM took from 0.4.20 on where a
// user had installed it. AutoGPTQ was last in the image of 0.4.15; images from 0.4.41
// on run models of GPTQ with the engine vllm instead. An Image of one's own may have
// both: its fields are not checked.
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
	if o.Image == "" {
		switch {
		case o.Engine == "ctranslate":
			b.invalid("Engine", "%q: no image of OpenLLM has CTranslate2; want pt or vllm, or an Image in which the Python package ctranslate2 is installed", o.Engine)
		case o.Quantization == "gptq":
			b.invalid("Quantization", "%q: the image lacks AutoGPTQ, which was last in ghcr.io/bentoml/openllm:0.4.15; want int8, int4, awq or squeezellm, or an Image from 0.4.41 on with the engine vllm", o.Quantization)
		}
	}
	if o.Engine != "" {
		b.Config["engine"] = o.Engine
	}
	b.HealthPath = "/readyz"
	b.Failures = torchFailures
	return b.finish()
}
