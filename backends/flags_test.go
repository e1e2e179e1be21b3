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

// documented are the options and variables of each server, written down from
// what the server's own project says of them, and not from the code under test.
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

// TestFlagsAreDocumented finds an option that no server has.
func TestFlagsAreDocumented(t *testing.T) {
	for _, c := range studied {
		s, err := c.spec()
		assert.NilError(t, err)
		d, found := documented[c.file]
		assert.Assert(t, found && len(d.sources) > 0, c.file)
		flags, env := strings.Fields(d.flags), strings.Fields(d.env)
		for _, word := range s.cmd {
			if strings.HasPrefix(word, "-") && word != "-1" && !slices.Contains(flags, word) {
				t.Errorf("%s: %s: option %s is none of those in %v", c.file, c.id, word, d.sources)
			}
		}
		for _, name := range append(slices.Collect(maps.Keys(s.env)), slices.Collect(maps.Keys(s.pass))...) {
			if !slices.Contains(env, name) {
				t.Errorf("%s: %s: variable %s is none of those in %v", c.file, c.id, name, d.sources)
			}
		}
	}
}

// TestEveryFieldIsShown checks that the golden files leave out no field.
func TestEveryFieldIsShown(t *testing.T) {
	used := map[string]bool{}
	types := map[reflect.Type]bool{}
	for _, c := range studied {
		v := reflect.ValueOf(c.contained)
		types[v.Type()] = true
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				used[v.Type().String()+"."+v.Type().Field(i).Name] = true
			}
		}
	}
	for typ := range types {
		for i := range typ.NumField() {
			if name := typ.String() + "." + typ.Field(i).Name; !used[name] {
				t.Errorf("%s is set in no case of TestGolden", name)
			}
		}
	}
}

// TestInvalidFields checks that what cannot be is told by field, value and what
// is allowed, all of it at once.
func TestInvalidFields(t *testing.T) {
	ok := Container{Model: "m"}
	with := func(change func(*Container)) Container {
		c := ok
		change(&c)
		return c
	}
	for _, c := range []struct {
		contained
		want string
	}{
		{VLLM{}, `vllm: Model "": want a name on the Hugging Face Hub, or a path in ModelsDir`},
		{VLLM{Container: with(func(c *Container) { c.Image = "vllm/vllm-openai" })}, `Image "vllm/vllm-openai": want a tag other than latest, or a digest`},
		{VLLM{Container: with(func(c *Container) { c.Image = "localhost:5000/vllm:latest" })}, `Image "localhost:5000/vllm:latest": want a tag`},
		{VLLM{Container: with(func(c *Container) { c.Model = "--trust-remote-code" })}, `Model "--trust-remote-code": want a name, not an option`},
		{VLLM{Container: with(func(c *Container) { c.Model, c.ModelsDir = "../m", "/data" })}, `Model "../m": want a path in ModelsDir`},
		{VLLM{Container: with(func(c *Container) { c.Quantization = "q8" })}, `Quantization "q8": want awq, awq_marlin, gptq,`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "one" })}, `GPUs "one": "one" is no id of a device; want none, all or ids like 0,1`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "intel:0" })}, `GPUs "intel:0": the vendor "intel" is none of nvidia, amd, ascend`},
		{VLLM{Container: with(func(c *Container) { c.ShmSize, c.Memory = -1, -2 })}, "ShmSize -1: want bytes, at least 0\nMemory -2: want bytes"},
		{VLLM{Container: with(func(c *Container) { c.Ready.Port = -time.Second })}, "Ready.Port -1s: want a duration above 0"},
		{VLLM{Container: with(func(c *Container) { c.Env = map[string]string{"A=B": ""} })}, `Env "A=B": want the name of a variable`},
		{VLLM{Container: ok, DType: "fp16", MaxModelLen: -1}, "DType \"fp16\": want auto, float16, bfloat16, float32, or \"\" for the server's default\nMaxModelLen -1: want a whole number above 0"},
		{VLLM{Container: ok, GPUMemoryUtilization: 90}, "GPUMemoryUtilization 90: want a share above 0 and up to 1"},
		{VLLM{Container: ok, PrefixCaching: "yes"}, `PrefixCaching "yes": want on, off, or ""`},
		{VLLM{Container: with(func(c *Container) { c.GPUs = "0" }), TensorParallel: 2, PipelineParallel: 2}, `TensorParallel makes the server use 4 GPUs, and GPUs "0" are 1: want as many`},
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
		{LlamaCPP{Container: Container{Model: "llama-2-7b.Q8_0.gguf", Quantization: "Q4_K_M", ModelsDir: "/data"}}, `Quantization "Q4_K_M": the model's file is "llama-2-7b.Q8_0.gguf", whose name says Q8_0`},
		{LlamaCPP{Container: Container{Model: "m-BF16.gguf", Quantization: "F16", ModelsDir: "/data"}}, `Quantization "F16": the model's file is "m-BF16.gguf", whose name says BF16`},
		{LlamaCPP{Container: Container{Model: "m.Q4_0_4_4.gguf", Quantization: "Q4_0", ModelsDir: "/data"}}, `whose name says Q4_0_4_4`},
		{Ollama{Container: Container{Model: "llama3:8b", Quantization: "Q8_0"}}, `Quantization "Q8_0": the tag of the model "llama3:8b" does not say it, and Ollama fetches what the tag is: want one that ends in it, like llama3:8b-q8_0`},
		{Ollama{Container: Container{Model: "llama3", Quantization: "q4_K_M"}}, "like llama3:8b-instruct-q4_K_M"},
		{Ollama{Container: Container{Model: "llama3:8b-instruct-q4_0", Quantization: "Q8_0"}}, "does not say it"},
		{LlamaCPPPython{Container: ok}, `Image "": there is no official one that is pinned`},
		{LlamaCPPPython{Container: with(func(c *Container) { c.Image, c.Args = "a:1", []string{"--n_ctx", "1", "--api_key", "k"} })}, `Args ["--n_ctx" "1" "--api_key" "[secret]"]: want none: the image`},
		{Ollama{Container: ok, KVCache: "q2"}, `KVCache "q2": want f16, q8_0, q4_0`},
		{TextGen{Container: with(func(c *Container) { c.Image = "a:1" })}, `ModelsDir "": want the folder that holds the model`},
		{TextGen{Container: Container{Image: "a:1", Model: "m", ModelsDir: "/data"}, Parallel: 2}, `Loader "": want llama.cpp with GPULayers or Parallel`},
		{TextGen{Container: Container{Image: "a:1", Model: "a b", ModelsDir: "/data"}}, `Model "a b": want a file or folder at the top of ModelsDir, of letters`},
		{OpenLLM{Container: ok, Engine: "tgi"}, `Engine "tgi": want pt, vllm, ctranslate`},
		{Xinference{Container: ok}, `Engine "": want vLLM, SGLang`},
		{Xinference{Container: ok, Engine: "vLLM", Kwargs: map[string]any{"f": func() {}}}, "Kwargs cannot be written as JSON"},
		{TensorRTLLM{Container: ok, BlockReuse: "no"}, `BlockReuse "no": want on, off`},
		{MindIE{Container: Container{Model: "m", ModelsDir: "/data"}}, `GPUs "": want the ids of NPUs, like 0,1`},
		{MindIE{Container: Container{Model: "m", ModelsDir: "/data", GPUs: "all"}}, `GPUs "all": want the ids of the devices`},
	} {
		_, err := c.spec()
		assert.ErrorContains(t, err, c.want)
	}
}

// TestQuantized checks what is read from names as people write them.
func TestQuantized(t *testing.T) {
	for name, want := range map[string]string{
		"llama-2-7b-chat.F16.gguf": "F16", "m-bf16.gguf": "BF16", "m-fp16.gguf": "F16", "qwen3-8b-q4_k_m.gguf": "Q4_K_M", "Q8_0": "Q8_0",
		"m-IQ4_XS-00001-of-00002.gguf": "IQ4_XS", "8b-instruct-q4_0": "Q4_0", "m.gguf": "", "q-model.gguf": "", "m-f16-to-Q8_0.gguf": "Q8_0", "gpt-oss-mxfp4.gguf": "MXFP4",
		"Yi 6B.Q4_K_M.gguf": "Q4_K_M", "m_Q4_0.gguf": "Q4_0", "m-Q4_K_M_imat.gguf": "Q4_K_M",
	} {
		assert.Equal(t, quantized(name), want, name)
	}
}

// TestReadSMI reads what nvidia-smi says, of machines with and without GPUs.
func TestReadSMI(t *testing.T) {
	two := readSMI("NVIDIA A100-PCIE-40GB, 550.54.15\nNVIDIA A100-PCIE-40GB, 550.54.15\n")
	assert.Equal(t, two, seen{2, "2 x NVIDIA A100-PCIE-40GB", "550.54.15"})
	none := readSMI("No devices were found\n")
	assert.Equal(t, none, seen{})
	for gpus, wrong := range map[GPUs]bool{"all": false, "0,1": false, "0": true} {
		d, err := gpus.devices(nvidia)
		assert.NilError(t, err)
		assert.Equal(t, d.check(two, 0) != nil, wrong, "%s of two", gpus)
		assert.ErrorContains(t, d.check(none, 0), "were asked for, and the container has 0")
	}
	all, err := GPUs("all").devices(nvidia)
	assert.NilError(t, err)
	assert.NilError(t, all.check(two, 2))
	assert.ErrorContains(t, all.check(two, 1), "GPUs nvidia all are 2, and the server would use 1 of them: name the ids in GPUs, or set its parallelism to their number")
}

// TestSpread checks over how many GPUs a model is spread.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		contained
		want string // "" is no option
		used string // in the config lines
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
		{TGI{Container: Container{Model: "m", GPUs: "0,1"}}, "", ""}, // it spreads by itself
	} {
		s, err := c.spec()
		assert.NilError(t, err)
		line := strings.Join(s.cmd, " ")
		if c.want == "" {
			assert.Assert(t, !regexp.MustCompile(`--(tp|dp|pp|tensor|pipeline|num-shard)`).MatchString(line), line)
		}
		assert.Assert(t, strings.Contains(line, c.want), line)
		assert.Equal(t, s.config["gpus-used"], c.used, line)
	}
}
