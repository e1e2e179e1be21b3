package backends

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// OpenLLM is BentoML's OpenLLM of release 0.4, the last with an image
// (https://pypi.org/project/openllm/0.4.36/). Later ones pack vLLM: measure
// [VLLM] instead.
//
// Quantization is one of int8, int4, gptq, awq and squeezellm.
type OpenLLM struct {
	Container
	Engine string // pt, vllm or ctranslate
	DType  string // auto, float16, bfloat16 or float32
}

// Start returns the server as a target, once it is ready.
func (o OpenLLM) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, o) }

func (o OpenLLM) spec() (spec, error) {
	m := o.make("openllm", "ghcr.io/bentoml/openllm:0.4.36", 3000)
	m.accelerators(nvidia)
	m.shared()
	m.download("openllm", "/root/bentoml", "HF_TOKEN")
	m.listed, m.adopts = "", true // it answers 404 to any name but the one it makes of Model and lists
	m.words("start", m.path, "--port", "3000")
	m.choice("Engine", "--backend", o.Engine, "pt", "vllm", "ctranslate")
	m.choice("Quantization", "--quantize", o.Quantization, "int8", "int4", "gptq", "awq", "squeezellm")
	m.choice("DType", "--dtype", o.DType, "auto", "float16", "bfloat16", "float32")
	if o.Engine != "" {
		m.config["engine"] = o.Engine
	}
	m.health = "/readyz"
	m.known = torchKnown
	return m.end()
}
