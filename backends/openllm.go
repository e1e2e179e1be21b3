package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// OpenLLM is BentoML's OpenLLM of release 0.4, the last with an image
// (https://github.com/bentoml/OpenLLM/blob/v0.4.44/Dockerfile). Images have the tags
// 0.4.0 to 0.4.44. Later releases run vLLM: measure [VLLM] instead.
//
// Quantization is int8 or int4 with the engine pt, and awq or squeezellm with the
// engine vllm, which also takes gptq from 0.4.41 on. AutoGPTQ, which took gptq with the
// engine pt, was last in the image of 0.4.15. No image has CTranslate2, which OpenLLM
// took from 0.4.20 on where a user had installed it. An Image of one's own may have
// both: its fields are not checked.
//
// Revision cannot be set: the server fetches the newest files whatever its option
// --model-version says, which is only a name for them in its own store. Offline needs
// ModelsDir, because the server asks the Hub at every start for a model that is not in
// a folder.
type OpenLLM struct {
	Container
	Engine string // pt, vllm or ctranslate
	DType  string // auto, float16, bfloat16 or float32
}

// Spec describes how the server is launched; the error names each invalid field.
func (o OpenLLM) Spec() (launch.Spec, error) {
	b := newBuilder(o.Container, "openllm", "ghcr.io/bentoml/openllm:0.4.44", 3000)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.downloadTo("openllm", "/root/bentoml", "HF_TOKEN")
	b.withOffline()
	b.offlineInFolder()
	b.withTrustRemoteCodeVariable("TRUST_REMOTE_CODE")
	b.ListedModel, b.AdoptModel = "", true // OpenLLM makes up a name from Model, and answers 404 to any other
	b.args("start", b.path, "--port", "3000")
	b.choiceOption("Engine", "--backend", o.Engine, "pt", "vllm", "ctranslate")
	b.choiceOption("Quantization", "--quantize", o.Quantization, "int8", "int4", "gptq", "awq", "squeezellm")
	b.choiceOption("DType", "--dtype", o.DType, "auto", "float16", "bfloat16", "float32")
	if o.Image == "" {
		switch {
		case o.Engine == "ctranslate":
			b.invalid("Engine", "%q: no image of OpenLLM has CTranslate2; want pt or vllm, or an Image in which the Python package ctranslate2 is installed", o.Engine)
		case o.Quantization == "gptq" && o.Engine != "vllm":
			b.invalid("Quantization", "%q: the image lacks AutoGPTQ, which was last in ghcr.io/bentoml/openllm:0.4.15; want the engine vllm, which has GPTQ of its own, or that image", o.Quantization)
		}
	}
	if o.Engine != "" {
		b.Config["engine"] = o.Engine
	}
	b.HealthPath = "/readyz"
	b.Failures = torchFailures
	return b.finish()
}
