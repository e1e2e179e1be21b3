package backends

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// documented lists the options and variables of each server. They are copied from
// the documents of the server's own project, and not from the code under test.
var documented = map[string]struct {
	sources []string
	flags   string
	env     string
}{
	"vllm": {
		[]string{
			"https://docs.vllm.ai/en/latest/cli/serve/",
			"https://github.com/vllm-project/vllm/blob/main/vllm/engine/arg_utils.py",
			"https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/cli_args.py",
			"https://github.com/vllm-project/vllm/blob/main/vllm/envs.py",
		},
		`--host --port --served-model-name --generation-config --quantization --dtype --tensor-parallel-size --pipeline-parallel-size
		--data-parallel-size --max-model-len --max-num-seqs --max-num-batched-tokens --gpu-memory-utilization --kv-cache-memory-bytes
		--kv-cache-dtype --enable-prefix-caching --no-enable-prefix-caching --enable-chunked-prefill --no-enable-chunked-prefill
		--enforce-eager --attention-backend --async-scheduling --speculative-config --stream-interval --load-format --seed --api-key`,
		"VLLM_SERVER_DEV_MODE VLLM_CPU_KVCACHE_SPACE VLLM_LOGGING_LEVEL HF_TOKEN ROCR_VISIBLE_DEVICES",
	},
	"tgi": {
		[]string{
			"https://huggingface.co/docs/text-generation-inference/reference/launcher",
			"https://github.com/huggingface/text-generation-inference/blob/main/launcher/src/main.rs",
			"https://github.com/huggingface/text-generation-inference/blob/main/server/text_generation_server/models/globals.py",
		},
		`--model-id --port --hostname --dtype --quantize --num-shard --max-concurrent-requests --max-input-tokens --max-total-tokens
		--max-batch-prefill-tokens --max-batch-total-tokens --max-batch-size --max-waiting-tokens --waiting-served-ratio --cuda-graphs
		--cuda-memory-fraction --kv-cache-dtype --speculate --revision --trust-remote-code --json-output`,
		"HF_TOKEN PREFIX_CACHING ATTENTION HF_HOME",
	},
	"sglang": {
		[]string{
			"https://docs.sglang.ai/advanced_features/server_arguments.html",
			"https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/server_args.py",
		},
		`-m --model-path --served-model-name --host --port --enable-metrics --random-seed --dtype --quantization --tp-size --dp-size
		--context-length --mem-fraction-static --max-running-requests --max-queued-requests --max-total-tokens --chunked-prefill-size
		--max-prefill-tokens --disable-radix-cache --kv-cache-dtype --attention-backend --disable-cuda-graph --schedule-policy`,
		"HF_TOKEN SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION SGLANG_HEALTH_CHECK_TIMEOUT",
	},
	"lmdeploy": {
		[]string{
			"https://github.com/InternLM/lmdeploy/blob/main/lmdeploy/cli/serve.py",
			"https://github.com/InternLM/lmdeploy/blob/main/lmdeploy/cli/utils.py",
		},
		`--server-name --server-port --model-name --backend --tp --dp --session-len --max-batch-size --cache-max-entry-count
		--cache-block-seq-len --enable-prefix-caching --quant-policy --model-format --dtype --max-prefill-token-num
		--num-tokens-per-iter --max-concurrent-requests --eager-mode --log-level`,
		"HUGGING_FACE_HUB_TOKEN",
	},
	"llamacpp": {
		[]string{
			"https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
			"https://github.com/ggml-org/llama.cpp/blob/master/common/arg.cpp",
		},
		`-m -hf -c -np -t -ngl -b -ub -fa -ctk -ctv -sm --alias --host --port --metrics --fit --cache-ram --slot-save-path --kv-unified
		--cache-reuse --no-cache-prompt --threads-http --no-webui --jinja --api-key`,
		"HF_TOKEN LLAMA_CACHE ROCR_VISIBLE_DEVICES",
	},
	"llamacpp-python": {
		[]string{"https://github.com/abetlen/llama-cpp-python/blob/main/llama_cpp/server/settings.py"},
		"",
		`HF_TOKEN MODEL MODEL_ALIAS HF_MODEL_REPO_ID HOST PORT INTERRUPT_REQUESTS N_CTX N_BATCH N_THREADS N_GPU_LAYERS FLASH_ATTN CACHE
		CACHE_SIZE SEED API_KEY`,
	},
	"ollama": {
		[]string{"https://github.com/ollama/ollama/blob/main/envconfig/config.go", "https://docs.ollama.com/api"},
		"",
		`OLLAMA_HOST OLLAMA_KEEP_ALIVE OLLAMA_CONTEXT_LENGTH OLLAMA_NUM_PARALLEL OLLAMA_MAX_QUEUE OLLAMA_FLASH_ATTENTION
		OLLAMA_KV_CACHE_TYPE OLLAMA_MAX_LOADED_MODELS OLLAMA_LOAD_TIMEOUT OLLAMA_SCHED_SPREAD OLLAMA_DEBUG`,
	},
	"textgen": {
		[]string{
			"https://github.com/oobabooga/textgen/wiki",
			"https://github.com/oobabooga/textgen/blob/main/modules/shared.py",
			"https://github.com/oobabooga/textgen/blob/main/docker/nvidia/Dockerfile",
		},
		`--api --listen --api-port --nowebui --model --model-dir --loader --ctx-size --gpu-layers --parallel --extra-flags
		--load-in-8bit --load-in-4bit --attn-implementation`,
		"HOME",
	},
	"openllm": {
		[]string{"https://pypi.org/project/openllm/0.4.36/"},
		"--port --backend --quantize --dtype",
		"HF_TOKEN",
	},
	"xinference": {
		[]string{"https://inference.readthedocs.io/en/latest/getting_started/using_docker_image.html"},
		"-H --port --log-level",
		"HF_TOKEN XINFERENCE_HOME XINFERENCE_MODEL_SRC",
	},
	"tensorrtllm": {
		[]string{
			"https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html",
			"https://github.com/NVIDIA/TensorRT-LLM/blob/main/tensorrt_llm/commands/serve.py",
		},
		`--host --port --config --tp_size --pp_size --max_batch_size --max_num_tokens --max_seq_len --kv_cache_free_gpu_memory_fraction
		--num_postprocess_workers`,
		"HF_TOKEN",
	},
	"mindie": {
		[]string{
			"https://www.hiascend.com/document/detail/zh/mindie/",
			"https://gitcode.com/Ascend/MindIE-LLM/blob/master/src/server/conf/config.json",
		},
		"--log-level", // of the case that shows Args; the settings are in files
		"MINDIE_LOG_TO_STDOUT MIES_SERVICE_MONITOR_MODE MINDIE_LLM_BENCHMARK_ENABLE",
	},
	"mock-container": {
		[]string{"mockserver/cmd/mockserver"},
		"-addr -profile -speed -ttft -per-prompt-token -per-token -slots -jitter -seed -flavor -shape -fault",
		"",
	},
}

// TestFlagsAreDocumented finds options and variables that a server does not have.
func TestFlagsAreDocumented(t *testing.T) {
	for _, c := range goldenCases {
		spec, err := c.server.Spec()
		assert.NilError(t, err)
		d, found := documented[c.backend]
		assert.Assert(t, found && len(d.sources) > 0, c.backend)
		flags, env := strings.Fields(d.flags), strings.Fields(d.env)
		for _, word := range spec.Cmd {
			if strings.HasPrefix(word, "-") && word != "-1" {
				assert.Assert(t, slices.Contains(flags, word), "%s: %s: option %s is not documented in %v", c.backend, c.name, word, d.sources)
			}
		}
		for _, name := range append(slices.Collect(maps.Keys(spec.Env)), slices.Collect(maps.Keys(spec.PassEnv))...) {
			assert.Assert(t, slices.Contains(env, name), "%s: %s: variable %s is not documented in %v", c.backend, c.name, name, d.sources)
		}
	}
}

// TestEveryFieldHasGoldenCase checks that the golden files leave out no field.
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

// TestInvalidFields checks that errors name the field, its value and the allowed
// values, for all invalid fields at once.
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
		{VLLM{Container: with(func(c *Container) { c.Quantization = "q8" })}, `Quantization "q8": want awq, awq_marlin, gptq,`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "one" })}, `GPUs "one": "one" is not the id of a device; want none, all or ids like 0,1`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "intel:0" })}, `GPUs "intel:0": vendor "intel" is unknown; want nvidia, amd or ascend`},
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
		{Ollama{Container: Container{Model: "llama3:8b", Quantization: "Q8_0"}}, `Quantization "Q8_0": the tag of the model "llama3:8b" does not name it, and the tag decides what Ollama downloads; want a tag that ends in the quantization, such as llama3:8b-q8_0`},
		{Ollama{Container: Container{Model: "llama3", Quantization: "q4_K_M"}}, "such as llama3:8b-instruct-q4_K_M"},
		{Ollama{Container: Container{Model: "llama3:8b-instruct-q4_0", Quantization: "Q8_0"}}, "does not name it"},
		{LlamaCPPPython{Container: ok}, `Image "": this server has no official image with a version tag`},
		{LlamaCPPPython{Container: with(func(c *Container) { c.Image, c.Args = "a:1", []string{"--n_ctx", "1", "--api_key", "k"} })}, `Args ["--n_ctx" "1" "--api_key" "[secret]"]: want none: this server`},
		{Ollama{Container: ok, KVCache: "q2"}, `KVCache "q2": want f16, q8_0, q4_0`},
		{TextGen{Container: with(func(c *Container) { c.Image = "a:1" })}, `ModelsDir "": want the folder that holds the model`},
		{TextGen{Container: Container{Image: "a:1", Model: "m", ModelsDir: "/data"}, Parallel: 2}, `Loader "": want llama.cpp with GPULayers or Parallel`},
		{TextGen{Container: Container{Image: "a:1", Model: "a b", ModelsDir: "/data"}}, `Model "a b": want a file or folder at the top of ModelsDir, of letters`},
		{OpenLLM{Container: ok, Engine: "tgi"}, `Engine "tgi": want pt, vllm, ctranslate`},
		{Xinference{Container: ok}, `Engine "": want vLLM, SGLang`},
		{Xinference{Container: ok, Engine: "vLLM", Kwargs: map[string]any{"f": func() {}}}, "Kwargs cannot be written as JSON"},
		{TensorRTLLM{Container: ok, BlockReuse: "no"}, `BlockReuse "no": want on, off`},
		{MindIE{Container: Container{Model: "m", ModelsDir: "/data"}}, `GPUs "": want the ids of NPUs, like 0,1`},
		{MindIE{Container: Container{Model: "m", ModelsDir: "/data", GPUs: "all"}}, `GPUs "all": want the ids of the NPUs`},
	} {
		_, err := c.server.Spec()
		assert.ErrorContains(t, err, c.want)
	}
}

// TestGGUFQuantization reads names in the forms that people use.
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
		want   string // options; "" means none
		used   string // gpus-used of the configuration lines
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
