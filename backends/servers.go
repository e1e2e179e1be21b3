package backends

// servers holds the servers in containers that LLMBENCH_BACKEND can name. Environment variables set the
// fields of their Container. All other settings have to be options in LLMBENCH_ARGS.
var servers = map[string]func(Container) Server{
	"mock-container":  func(c Container) Server { return MockContainer{Container: c} },
	"vllm":            func(c Container) Server { return VLLM{Container: c} },
	"dynamo":          func(c Container) Server { return Dynamo{Container: c} },
	"tgi":             func(c Container) Server { return TGI{Container: c} },
	"tei":             func(c Container) Server { return TEI{Container: c} },
	"sglang":          func(c Container) Server { return SGLang{Container: c} },
	"lmdeploy":        func(c Container) Server { return LMDeploy{Container: c} },
	"llamacpp":        func(c Container) Server { return LlamaCPP{Container: c} },
	"llamacpp-python": func(c Container) Server { return LlamaCPPPython{Container: c} },
	"ollama":          func(c Container) Server { return Ollama{Container: c} },
	"textgen":         func(c Container) Server { return TextGen{Container: c} },
	"openllm":         func(c Container) Server { return OpenLLM{Container: c} },
	"xinference":      func(c Container) Server { return Xinference{Container: c, Engine: "vLLM"} },
	"tensorrtllm":     func(c Container) Server { return TensorRTLLM{Container: c} },
	"vllm-disagg":     func(c Container) Server { return VLLMDisagg{VLLM: VLLM{Container: c}} },
	"mindie":          func(c Container) Server { return MindIE{Container: c} },
}

// typical returns settings that every server accepts.
func typical(gpus GPUs, image string) Container {
	return Container{Model: "m", ModelsDir: "/models", GPUs: gpus, Image: image}
}
