package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// OpenLLM is BentoML's OpenLLM, release 0.4, the last release with images
// (https://github.com/bentoml/OpenLLM/blob/v0.4.44/Dockerfile). The images have the tags 0.4.0 to 0.4.44.
// Later releases run vLLM: measure [VLLM] instead.
//
// With the engine pt, Quantization is int8 or int4. With the engine vllm, Quantization is awq or
// squeezellm, and also gptq from 0.4.41 on. The engine pt needs AutoGPTQ for gptq; the image of 0.4.15 is
// the last one that contains AutoGPTQ. From 0.4.20 on, OpenLLM can use CTranslate2 if a user has installed
// it, but no image contains it. An Image that you have built may contain both, so the fields are not
// checked if Image is set.
//
// Revision cannot be set: the server always fetches the newest files. Its option --model-version only names
// the files in its own store. Offline needs ModelsDir, because at every start the server asks the Hub for a
// model that is not in a folder.
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
	b.downloadTo("openllm", "/root/bentoml")
	b.withOffline()
	b.offlineInFolder()
	b.withTrustRemoteCodeVariable("TRUST_REMOTE_CODE")
	b.ListedModel, b.AdoptModel = "", true // OpenLLM derives a name from Model, and answers 404 to any other name
	b.args("start", b.path, "--port", "3000")
	b.choiceOption("Engine", "--backend", o.Engine, "pt", "vllm", "ctranslate")
	b.choiceOption("Quantization", "--quantize", o.Quantization, "int8", "int4", "gptq", "awq", "squeezellm")
	b.choiceOption("DType", "--dtype", o.DType, "auto", "float16", "bfloat16", "float32")
	if o.Image == "" {
		switch {
		case o.Engine == "ctranslate":
			b.invalid("Engine", "%q: no image of OpenLLM has CTranslate2: want pt or vllm, or an Image in which the Python package ctranslate2 is installed", o.Engine)
		case o.Quantization == "gptq" && o.Engine != "vllm":
			b.invalid("Quantization", "%q: the image lacks AutoGPTQ, which was last in ghcr.io/bentoml/openllm:0.4.15: want the engine vllm, which has GPTQ of its own, or that image", o.Quantization)
		}
	}
	if o.Engine != "" {
		b.Config["engine"] = o.Engine
	}
	b.HealthPath = "/readyz"
	b.Failures = torchFailures
	return b.finish()
}
