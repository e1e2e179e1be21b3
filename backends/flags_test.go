package backends

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TestEveryFieldHasGoldenCase checks that every field occurs in the golden files.
func TestEveryFieldHasGoldenCase(t *testing.T) {
	set := map[string]bool{}
	types := map[reflect.Type]bool{}
	for _, c := range goldenCases {
		v := reflect.ValueOf(c.server)
		types[v.Type()] = true
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				set[v.Type().String()+"."+v.Type().Field(i).Name] = true
			}
		}
	}
	for typ := range types {
		for i := range typ.NumField() {
			name := typ.String() + "." + typ.Field(i).Name
			assert.Assert(t, set[name], "no case of TestGolden sets %s", name)
		}
	}
}

// TestInvalidFields checks that an error names the field, its value and the allowed values. One
// error must do so for all invalid fields together.
func TestInvalidFields(t *testing.T) {
	ok := Container{Model: "m"}
	with := func(change func(*Container)) Container {
		c := ok
		change(&c)
		return c
	}
	for _, c := range []struct {
		server Server
		want   string
	}{
		{VLLM{}, `vllm: Model "": want a name on the Hugging Face Hub, or a path in ModelsDir`},
		{VLLM{Container: with(func(c *Container) { c.Image = "vllm/vllm-openai" })}, `Image "vllm/vllm-openai": want a tag other than latest, or a digest`},
		{VLLM{Container: with(func(c *Container) { c.Image = "localhost:5000/vllm:latest" })}, `Image "localhost:5000/vllm:latest": want a tag`},
		{VLLM{Container: with(func(c *Container) { c.Model = "--trust-remote-code" })}, `Model "--trust-remote-code": want a name, not an option`},
		{VLLM{Container: with(func(c *Container) { c.Model, c.ModelsDir = "../m", "/data" })}, `Model "../m": want a path in ModelsDir`},
		{VLLM{Container: with(func(c *Container) { c.Quantization = "q8" })}, `Quantization "q8": want awq, auto_awq, awq_marlin,`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "one" })}, `GPUs "one": "one" is not the id of a device: want none, all or ids like 0,1`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "intel:0" })}, `GPUs "intel:0": vendor "intel" is unknown: want nvidia, amd or ascend`},
		{VLLM{Container: with(func(c *Container) { c.ShmSize, c.Memory = -1, -2 })}, "ShmSize -1: want bytes, at least 0\nMemory -2: want bytes"},
		{VLLM{Container: with(func(c *Container) { c.Ready.Port = -time.Second })}, "Ready.Port -1s: want a duration above 0"},
		{VLLM{Container: with(func(c *Container) { c.Env = map[string]string{"A=B": ""} })}, `Env "A=B": want the name of a variable`},
		{VLLM{Container: ok, DType: "fp16", MaxModelLen: -1}, "DType \"fp16\": want auto, float16, bfloat16, float32, or \"\" for the server's default\nMaxModelLen -1: want a whole number above 0"},
		{VLLM{Container: ok, GPUMemoryUtilization: 90}, "GPUMemoryUtilization 90: want a share above 0 and up to 1"},
		{VLLM{Container: ok, PrefixCaching: "yes"}, `PrefixCaching "yes": want on, off, or ""`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "0" }), TensorParallel: 2, PipelineParallel: 2}, `TensorParallel makes the server use 4 GPUs, and GPUs "0" are 1: want the same number`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "0,1,2,3" }), TensorParallel: 2}, `TensorParallel makes the server use 2 GPUs, and GPUs "0,1,2,3" are 4`},
		{SGLang{Container: with(func(c *Container) { c.GPUs = "0,1" }), TensorParallel: 2, DataParallel: 2}, `TensorParallel makes the server use 4 GPUs, and`},
		{LMDeploy{Container: with(func(c *Container) { c.GPUs = "0" }), TensorParallel: 2}, `TensorParallel makes the server use 2 GPUs, and`},
		{TensorRTLLM{Container: with(func(c *Container) { c.GPUs = "0,1" }), PipelineParallel: 4}, `TensorParallel makes the server use 4 GPUs, and`},
		{TensorRTLLM{Container: ok, PipelineParallel: -4}, `PipelineParallel -4: want a whole number above 0, or 0 for all GPUs`},
		{TGI{Container: with(func(c *Container) { c.GPUs = "0" }), NumShard: 2}, `NumShard makes the server use 2 GPUs, and`},
		{Xinference{Container: with(func(c *Container) { c.GPUs = "0,1" }), Engine: "vLLM", NGPU: 4}, `NGPU makes the server use 4 GPUs, and`},
		{TGI{Container: with(func(c *Container) { c.Quantization = "awq" }), DType: "float16"}, `DType "float16": want none with Quantization "awq"`},
		{SGLang{Container: ok, ChunkedPrefillSize: -2}, "ChunkedPrefillSize -2: want"},
		{LMDeploy{Container: ok, KVQuant: 3}, "KVQuant 3: want 4 or 8"},
		{LlamaCPP{Container: Container{Model: "llama-2-7b.Q8_0.gguf", Quantization: "Q4_K_M", ModelsDir: "/data"}}, `Quantization "Q4_K_M": the name of the model's file, "llama-2-7b.Q8_0.gguf", says Q8_0`},
		{LlamaCPP{Container: Container{Model: "m-BF16.gguf", Quantization: "F16", ModelsDir: "/data"}}, `Quantization "F16": the name of the model's file, "m-BF16.gguf", says BF16`},
		{LlamaCPP{Container: Container{Model: "m.Q4_0_4_4.gguf", Quantization: "Q4_0", ModelsDir: "/data"}}, `"m.Q4_0_4_4.gguf", says Q4_0_4_4`},
		{Ollama{Container: Container{Model: "llama3:8b", Quantization: "Q8_0"}}, `Quantization "Q8_0": the tag of the model "llama3:8b" does not name it, and the tag decides what Ollama downloads: want a tag that ends in the quantization, such as llama3:8b-q8_0`},
		{Ollama{Container: Container{Model: "llama3", Quantization: "q4_K_M"}}, "such as llama3:8b-instruct-q4_K_M"},
		{Ollama{Container: Container{Model: "llama3:8b-instruct-q4_0", Quantization: "Q8_0"}}, "does not name it"},
		{LlamaCPPPython{Container: ok}, `ModelsDir "": want the folder that holds the model, because the project's own image cannot download it`},
		{LlamaCPPPython{Container: Container{Model: "m.gguf", ModelsDir: "/data", GPUs: "0"}}, `Image "": the project's own image is for CPUs: want one for GPUs "0"`},
		{Dynamo{Container: with(func(c *Container) { c.GPUs = "amd:0" })}, `GPUs "amd:0": this server has no default image for devices of vendor amd`},
		{VLLMDisagg{VLLM: VLLM{Container: ok}}, `vllm-disagg: GPUs "": want an even number of ids, like 0,1: the first half is for prefill, the second for decode`},
		{VLLMDisagg{VLLM: VLLM{Container: with(func(c *Container) { c.GPUs = "0,1,2" })}}, `GPUs "0,1,2": want an even number of ids`},
		{VLLMDisagg{VLLM: VLLM{Container: with(func(c *Container) { c.GPUs = "0,1" }), DType: "fp16"}, KVLoadFailure: "retry", RouterPolicy: "best"}, "KVLoadFailure \"retry\": want fail, recompute"},
		{VLLMDisagg{VLLM: VLLM{Container: with(func(c *Container) { c.GPUs = "0,1" }), DType: "fp16"}}, `prefill: vllm: DType "fp16": want auto`},
		{VLLMDisagg{VLLM: VLLM{Container: with(func(c *Container) { c.GPUs = "0,1" })}, RouterImage: "vllm/vllm-router"}, `Image "vllm/vllm-router": want a tag other than latest`},
		{TextGen{Container: Container{Model: "m", ModelsDir: "/data"}}, `Image "": this server has no official image with a version tag`},
		{LlamaCPPPython{Container: with(func(c *Container) { c.Image, c.Args = "a:1", []string{"--n_ctx", "1", "--api_key", "k"} })}, `Args ["--n_ctx" "1" "--api_key" "[secret]"]: want none: this server`},
		{Ollama{Container: ok, KVCache: "q2"}, `KVCache "q2": want f16, q8_0, q4_0`},
		{TextGen{Container: with(func(c *Container) { c.Image = "a:1" })}, `ModelsDir "": want the folder that holds the model`},
		{TextGen{Container: Container{Image: "a:1", Model: "m", ModelsDir: "/data"}, Parallel: 2}, `Loader "": want llama.cpp with GPULayers or Parallel`},
		{TextGen{Container: Container{Image: "a:1", Model: "a b", ModelsDir: "/data"}}, `Model "a b": want a file or folder at the top of ModelsDir, of letters`},
		{TextGen{Container: Container{Image: "a:3.5", Model: "m", ModelsDir: "/data"}}, `Image needs text-generation-webui 3.6.1 or later, and the image's tag says 3.5`},
		{TextGen{Container: Container{Image: "a:3.0", Model: "m", ModelsDir: "/data"}, Loader: "ExLlamav2"}, `Loader ExLlamav2 needs text-generation-webui 3.6.1 or later, and the image's tag says 3.0`},
		{TextGen{Container: Container{Image: "a:v4.0", Model: "m", ModelsDir: "/data"}, Loader: "ExLlamav2"}, `Loader ExLlamav2 ended with text-generation-webui 3.23, and the image's tag says v4.0`},
		{TextGen{Container: Container{Image: "a:3.9.1", Model: "m", ModelsDir: "/data"}, Loader: "ExLlamav3"}, `Loader ExLlamav3 needs text-generation-webui 3.10 or later`},
		{TextGen{Container: Container{Image: "a:3.7.1", Model: "m", ModelsDir: "/data"}, Loader: "Transformers", Attention: "eager"}, `Attention needs text-generation-webui 3.8 or later`},
		{TextGen{Container: Container{Image: "r:5000/a:3.23-cuda", Model: "m.gguf", ModelsDir: "/data"}, Loader: "llama.cpp", Parallel: 2}, `Parallel needs text-generation-webui 4.0 or later, and the image's tag says 3.23-cuda`},
		{TEI{Container: with(func(c *Container) { c.Dialect, c.Quantization = dialect.TGI{}, "awq" })}, "Dialect \"tgi\": want one for embeddings or rankings, such as embeddings, tei-embed or tei-rerank, because the server generates no text\nQuantization \"awq\": want none"},
		{TEI{Container: ok, Pooling: "max", MaxBatchTokens: -1}, "Pooling \"max\": want cls, mean, splade, last-token, or \"\" for the server's default\nMaxBatchTokens -1: want a whole number above 0"},
		{OpenLLM{Container: ok, Engine: "tgi"}, `Engine "tgi": want pt, vllm, ctranslate`},
		{OpenLLM{Container: ok, Engine: "ctranslate"}, `Engine "ctranslate": no image of OpenLLM has CTranslate2`},
		{OpenLLM{Container: with(func(c *Container) { c.Quantization = "gptq" })}, `Quantization "gptq": the image lacks AutoGPTQ, which was last in ghcr.io/bentoml/openllm:0.4.15`},
		{OpenLLM{Container: with(func(c *Container) { c.Offline = true })}, `Offline true: want ModelsDir with it`},
		{OpenLLM{Container: with(func(c *Container) { c.Revision = "v1" })}, `Revision "v1": want none, because this server has no such setting`},
		{Xinference{Container: with(func(c *Container) { c.Revision = "v1" }), Engine: "vLLM"}, `Revision "v1": want none`},
		{LlamaCPPPython{Container: with(func(c *Container) { c.Image, c.Offline = "a:1", true })}, `Offline true: want ModelsDir with it`},
		{LlamaCPPPython{Container: with(func(c *Container) { c.Image, c.TrustRemoteCode = "a:1", true })}, `TrustRemoteCode true: want none`},
		{Xinference{Container: ok}, `Engine "": want one of vLLM, SGLang, llama.cpp, Transformers, LMDEPLOY, MindIE`},
		{Xinference{Container: ok, Engine: "MindIE"}, `Engine "MindIE": only Xinference Enterprise has it: want an Image of that edition`},
		{Xinference{Container: with(func(c *Container) { c.GPUs = "0,1" }), Engine: "vLLM", NGPU: 1}, `NGPU makes the server use 1 GPUs, and GPUs "0,1" are 2`},
		{Xinference{Container: ok, Engine: "vLLM", Kwargs: map[string]any{"f": func() {}}}, "Kwargs cannot be written as JSON"},
		{TensorRTLLM{Container: ok, BlockReuse: "no"}, `BlockReuse "no": want on, off`},
		{MindIE{Container: Container{Model: "m", ModelsDir: "/data"}}, `GPUs "": want the ids of NPUs, like 0,1`},
		{MindIE{Container: Container{Model: "m", ModelsDir: "/data", GPUs: "all"}}, `GPUs "all": want the ids of the NPUs`},
	} {
		_, err := c.server.Spec()
		assert.ErrorContains(t, err, c.want)
	}
}

// TestGGUFQuantization reads quantizations in file names of several common forms.
func TestGGUFQuantization(t *testing.T) {
	for name, want := range map[string]string{
		"llama-2-7b-chat.F16.gguf": "F16", "m-bf16.gguf": "BF16", "m-fp16.gguf": "F16", "qwen3-8b-q4_k_m.gguf": "Q4_K_M", "Q8_0": "Q8_0",
		"m-IQ4_XS-00001-of-00002.gguf": "IQ4_XS", "8b-instruct-q4_0": "Q4_0", "m.gguf": "", "q-model.gguf": "", "m-f16-to-Q8_0.gguf": "Q8_0", "gpt-oss-mxfp4.gguf": "MXFP4",
		"Yi 6B.Q4_K_M.gguf": "Q4_K_M", "m_Q4_0.gguf": "Q4_0", "m-Q4_K_M_imat.gguf": "Q4_K_M",
	} {
		assert.Equal(t, ggufQuantization(name), want, name)
	}
}

// TestParallelism checks how many GPUs a model is spread over.
func TestParallelism(t *testing.T) {
	for _, c := range []struct {
		server Server
		want   string // the options; "" means none
		used   string // the value of gpus-used in the configuration lines
	}{
		{VLLM{Container: Container{Model: "m"}}, "", ""},
		{VLLM{Container: Container{Model: "m", GPUs: "0"}}, "", "1"},
		{VLLM{Container: Container{Model: "m", GPUs: "all"}}, "", "1"},
		{VLLM{Container: Container{Model: "m", GPUs: "0,1"}}, "--tensor-parallel-size 2", "2"},
		{VLLM{Container: Container{Model: "m", GPUs: "0,1"}, PipelineParallel: 2}, "--pipeline-parallel-size 2", "2"},
		{VLLM{Container: Container{Model: "m", GPUs: "0,1", Args: []string{"-dp", "2"}}}, "", ""},
		{VLLM{Container: Container{Model: "m", GPUs: "all"}, TensorParallel: 4}, "--tensor-parallel-size 4", "4"},
		{SGLang{Container: Container{Model: "m", GPUs: "0,1"}}, "--tp-size 2", "2"},
		{SGLang{Container: Container{Model: "m", GPUs: "0,1", Args: []string{"--enable-dp-attention"}}, TensorParallel: 2, DataParallel: 2}, "--tp-size 2 --dp-size 2", ""},
		{LMDeploy{Container: Container{Model: "m", GPUs: "0,1"}}, "--tp 2", "2"},
		{TensorRTLLM{Container: Container{Model: "m", GPUs: "0,1"}}, "--tp_size 2", "2"},
		{TGI{Container: Container{Model: "m", GPUs: "0,1"}}, "", ""}, // TGI uses all GPUs without an option
	} {
		spec, err := c.server.Spec()
		assert.NilError(t, err)
		line := strings.Join(spec.Cmd, " ")
		if c.want == "" {
			assert.Assert(t, !regexp.MustCompile(`--(tp|dp|pp|tensor|pipeline|num-shard)`).MatchString(line), line)
		}
		assert.Assert(t, strings.Contains(line, c.want), line)
		assert.Equal(t, spec.Config["gpus-used"], c.used, line)
	}
}
