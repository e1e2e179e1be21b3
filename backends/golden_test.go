package backends

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// goldenCases are the servers and quantizations of the studies whose experiments
// the scenarios repeat (A: Yi-6B-Chat, B: SUS-Chat-34B, C: Llama-2-7b on Strix
// Halo, D: sweeps over concurrency), and a case that sets every field of each
// server.
var goldenCases = []struct {
	backend string // also the name of the golden file
	name    string
	server  Server
}{
	{"vllm", "A5: fp16", VLLM{Container: Container{Model: "01-ai/Yi-6B-Chat", GPUs: "all"}, DType: "float16"}},
	{"vllm", "A6: AWQ, 4 bits", VLLM{Container: Container{Model: "01-ai/Yi-6B-Chat-4bits", Quantization: "awq", GPUs: "all"}}},
	{"vllm", "B1: fp16 on four GPUs", VLLM{Container: Container{Model: "SUSTech/SUS-Chat-34B", GPUs: "0,1,2,3"}, DType: "float16", TensorParallel: 4}},
	{"vllm", "C1: fp16 on an AMD GPU", VLLM{Container: Container{Model: "meta-llama/Llama-2-7b-chat-hf", GPUs: "amd:all"}, DType: "float16"}},
	{"vllm", "C2: W8A8, 8 bits", VLLM{Container: Container{Model: "RedHatAI/Llama-2-7b-chat-quantized.w8a8", Quantization: "compressed-tensors", GPUs: "amd:0"}}},
	{"vllm", "C3: GPTQ, 4 bits", VLLM{Container: Container{Model: "TheBloke/Llama-2-7B-GPTQ", Quantization: "gptq", GPUs: "amd:0"}}},
	{"vllm", "D7, D8: as the model is", VLLM{Container: Container{Model: "Qwen/Qwen1.5-7B-Chat", GPUs: "all"}}},
	{"vllm", "D11, D12: fp16 on four GPUs of 16 GB", VLLM{Container: Container{Model: "Qwen2-7B-Instruct", ModelsDir: "/data/models", GPUs: "0,1,2,3"}, DType: "float16", TensorParallel: 4, MaxModelLen: 16000}},
	{"vllm", "every field", VLLM{
		Container: Container{Image: "vllm/vllm-openai@sha256:" + strings.Repeat("0", 64), Model: "m", Quantization: "fp8", Args: []string{"--seed", "0", "--api-key", "planted"}, Env: map[string]string{"VLLM_LOGGING_LEVEL": "DEBUG", "HF_TOKEN": "planted"}, GPUs: "nvidia:0,1,2,GPU-6b1f", ShmSize: 1 << 30, Memory: 64 << 30},
		DType:     "bfloat16", TensorParallel: 2, PipelineParallel: 2, MaxModelLen: 8192, MaxNumSeqs: 256, MaxNumBatchedTokens: 8192, GPUMemoryUtilization: .95, KVCacheDType: "fp8",
		PrefixCaching: Off, ChunkedPrefill: On, EnforceEager: true, AttentionBackend: "FLASHINFER", LoadFormat: "dummy"}},
	{"vllm", "guessing ahead", VLLM{Container: Container{Model: "Qwen/Qwen3-8B", GPUs: "0"}, Speculative: `{"method":"ngram","num_speculative_tokens":3}`}},
	{"vllm", "on all GPUs that are named", VLLM{Container: Container{Model: "Qwen/Qwen3-32B", GPUs: "0,1"}}},
	{"vllm", "on the CPU", VLLM{Container: Container{Model: "Qwen/Qwen3-0.6B", ShmSize: 4 << 30}, CPUKVCache: 4, PrefixCaching: On}},
	{"vllm", "B2, B3: on V100, with the last image for it", VLLM{Container: Container{Image: "vllm/vllm-openai:v0.19.1", Model: "SUSTech/SUS-Chat-34B", GPUs: "0,1,2,3"}, DType: "float16"}},
	{"vllm", "one commit of a base model", VLLM{Container: Container{Model: "Qwen/Qwen3-8B-Base", Revision: "49e3418fbbbca6ecbdf9608b4d22e5a407081db4", ChatTemplate: "/data/chatml.jinja", TrustRemoteCode: true, Offline: true, GPUs: "0"}, CompileCache: On}},

	{"tgi", "A11: fp16", TGI{Container: Container{Model: "01-ai/Yi-6B-Chat", GPUs: "all"}, DType: "float16"}},
	{"tgi", "A12: EETQ, 8 bits", TGI{Container: Container{Model: "01-ai/Yi-6B-Chat", Quantization: "eetq", GPUs: "all"}}},
	{"tgi", "A13: GPTQ, 8 bits", TGI{Container: Container{Model: "01-ai/Yi-6B-Chat-8bits", Quantization: "gptq", GPUs: "all"}}},
	{"tgi", "A14: AWQ, 4 bits", TGI{Container: Container{Model: "01-ai/Yi-6B-Chat-4bits", Quantization: "awq", GPUs: "all"}}},
	{"tgi", "every field", TGI{Container: Container{Model: "m", ModelsDir: "/data", GPUs: "0,1", ShmSize: 2 << 30}, DType: "bfloat16", NumShard: 2, MaxConcurrentRequests: 512, MaxInputTokens: 4096, MaxTotalTokens: 8192, MaxBatchPrefillTokens: 8192,
		MaxBatchTotalTokens: 65536, MaxWaitingTokens: 20, CUDAMemoryFraction: .9, KVCacheDType: "fp8_e5m2", Speculate: 2}},
	{"tgi", "one commit, on an AMD GPU", TGI{Container: Container{Model: "m", Revision: "0123456789012345678901234567890123456789", TrustRemoteCode: true, Offline: true, GPUs: "amd:0"}}},
	{"tgi", "without its prefix cache", TGI{Container: Container{Model: "m", GPUs: "0"}, PrefixCaching: Off}}, // does not set KVCacheDType, because that needs FlashInfer, which needs the prefix cache

	{"tei", "as the model is", TEI{Container: Container{Model: "BAAI/bge-small-en-v1.5"}}},
	{"tei", "one revision, on a GPU", TEI{Container: Container{Model: "BAAI/bge-small-en-v1.5", Revision: "v1", GPUs: "0"}}},
	{"tei", "every field", TEI{Container: Container{Model: "m", ModelsDir: "/data", Offline: true, Dialect: dialect.TEIRerank{}}, DType: "float32", Pooling: "last-token", MaxConcurrentRequests: 64, MaxBatchTokens: 65536, MaxBatchRequests: 32,
		MaxClientBatchSize: 256, TokenizationWorkers: 4, AutoTruncate: Off}},

	{"sglang", "as the model is", SGLang{Container: Container{Model: "Qwen/Qwen3-8B", GPUs: "all"}}},
	{"sglang", "one revision of a base model, on an AMD GPU", SGLang{Container: Container{Model: "a:b", Revision: "v1", ChatTemplate: "/data/chatml.jinja", TrustRemoteCode: true, Offline: true, GPUs: "amd:0"}}},
	{"sglang", "on the CPU", SGLang{Container: Container{Model: "Qwen/Qwen3-0.6B"}}},
	{"sglang", "every field", SGLang{Container: Container{Model: "m", ModelsDir: "/data", Quantization: "fp8", GPUs: "0,1,2,3", ShmSize: 32 << 30}, DType: "bfloat16", TensorParallel: 2, DataParallel: 2, ContextLength: 8192, MemFractionStatic: .85,
		MaxRunningRequests: 256, MaxQueuedRequests: 1000, ChunkedPrefillSize: -1, RadixCache: Off, KVCacheDType: "fp8_e5m2", AttentionBackend: "flashinfer", CUDAGraph: Off, SchedulePolicy: "fcfs"}},

	{"lmdeploy", "A18: fp16", LMDeploy{Container: Container{Model: "01-ai/Yi-6B-Chat", GPUs: "all"}, DType: "float16"}},
	{"lmdeploy", "one revision", LMDeploy{Container: Container{Model: "m", Revision: "v1", TrustRemoteCode: true, Offline: true, GPUs: "0"}}},
	{"lmdeploy", "every field", LMDeploy{Container: Container{Model: "m", ModelsDir: "/data", Quantization: "awq", GPUs: "0,1"}, Engine: "turbomind", DType: "auto", TensorParallel: 2, SessionLen: 8192, MaxBatchSize: 128, CacheMaxEntryCount: .8, KVQuant: 8, PrefixCaching: true, MaxPrefillTokens: 8192}},

	{"llamacpp", "C4: F16 in 16 slots", LlamaCPP{Container: Container{Image: "ghcr.io/ggml-org/llama.cpp:server-rocm-b11312", Model: "llama-2-7b-chat.F16.gguf", Quantization: "F16", ModelsDir: "/data/models", GPUs: "all"}, Parallel: 16, KVUnified: true, CacheReuse: 256}},
	{"llamacpp", "C5: Q8_0", LlamaCPP{Container: Container{Image: "ghcr.io/ggml-org/llama.cpp:server-rocm-b11312", Model: "llama-2-7b.Q8_0.gguf", Quantization: "Q8_0", ModelsDir: "/data/models", GPUs: "all"}, Parallel: 16, KVUnified: true, CacheReuse: 256}},
	{"llamacpp", "C6: Q4_K_M", LlamaCPP{Container: Container{Image: "ghcr.io/ggml-org/llama.cpp:server-rocm-b11312", Model: "llama-2-7b.Q4_K_M.gguf", Quantization: "Q4_K_M", ModelsDir: "/data/models", GPUs: "all"}, Parallel: 16, KVUnified: true, CacheReuse: 256}},
	{"llamacpp", "C7: Q4_0 from the Hub", LlamaCPP{Container: Container{Model: "TheBloke/Llama-2-7B-GGUF", Quantization: "Q4_0"}}},
	{"llamacpp", "C7: F16 by hipBLASLt", LlamaCPP{Container: Container{Image: "ghcr.io/ggml-org/llama.cpp:server-rocm-b11312", Model: "llama-2-7b.F16.gguf", Quantization: "F16", ModelsDir: "/data/models", GPUs: "all", Env: map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"}}}},
	{"llamacpp", "from the Hub's cache, with a chat template", LlamaCPP{Container: Container{Model: "TheBloke/Llama-2-7B-GGUF", Offline: true, ChatTemplate: "/data/chat.jinja"}}},
	{"llamacpp", "the image of its GPU", LlamaCPP{Container: Container{Model: "m.gguf", ModelsDir: "/data", GPUs: "amd:0"}, PromptCache: Off}},
	{"llamacpp", "every field", LlamaCPP{Container: Container{Image: "ghcr.io/ggml-org/llama.cpp:server-cuda-b11312", Model: "m,n.gguf", ModelsDir: "/data", GPUs: "0"}, Context: 32768, Parallel: 8, Threads: 4, GPULayers: 20, Batch: 2048, UBatch: 512, FlashAttn: "on",
		KVUnified: true, CacheReuse: 256, CacheTypeK: "q8_0", CacheTypeV: "q8_0", SplitMode: "row"}},

	{"llamacpp-python", "A15: Q8_0 on a GPU", LlamaCPPPython{Container: Container{Image: "local/llama-cpp-python:0.3.35-cuda", Model: "yi-6b-chat.Q8_0.gguf", Quantization: "Q8_0", ModelsDir: "/data/models", GPUs: "0"}}},
	{"llamacpp-python", "A16: Q4_K_M on a GPU", LlamaCPPPython{Container: Container{Image: "local/llama-cpp-python:0.3.35-cuda", Model: "yi-6b-chat.Q4_K_M.gguf", Quantization: "Q4_K_M", ModelsDir: "/data/models", GPUs: "0"}}},
	{"llamacpp-python", "A17: Q4_K_M on the CPU", LlamaCPPPython{Container: Container{Model: "yi-6b-chat.Q4_K_M.gguf", Quantization: "Q4_K_M", ModelsDir: "/data/models"}}},
	{"llamacpp-python", "offline", LlamaCPPPython{Container: Container{Model: "m.gguf", ModelsDir: "/data", Offline: true}}},
	{"llamacpp-python", "every field, from the Hub", LlamaCPPPython{Container: Container{Image: "local/llama-cpp-python:0.3.35-cuda", Model: "TheBloke/Yi-6B-Chat-GGUF", Quantization: "Q4_K_M", GPUs: "all"}, Context: 8192, GPULayers: 20, Batch: 512, Threads: 4, FlashAttn: true}},

	{"ollama", "from its library", Ollama{Container: Container{Model: "qwen3:0.6b", GPUs: "all"}}},
	{"ollama", "of an earlier run, offline", Ollama{Container: Container{Model: "qwen3:0.6b", Offline: true}}},
	{"ollama", "on an AMD GPU", Ollama{Container: Container{Model: "qwen3:0.6b", GPUs: "amd:0"}}},
	{"ollama", "every field, of a file", Ollama{Container: Container{Model: "chat/Yi 6B.Q4_K_M.gguf", Quantization: "Q4_K_M", ModelsDir: "/data/models"}, Context: 8192, Parallel: 8, MaxQueue: 100, FlashAttn: On, KVCache: "q8_0"}},

	{"textgen", "A1: Transformers, 16 bits", TextGen{Container: Container{Image: "local/textgen:4.7.3", Model: "Yi-6B-Chat", ModelsDir: "/data/models", GPUs: "0"}, Loader: "Transformers"}},
	{"textgen", "A2: with flash attention 2", TextGen{Container: Container{Image: "local/textgen:4.7.3", Model: "Yi-6B-Chat", ModelsDir: "/data/models", GPUs: "0"}, Loader: "Transformers", Attention: "flash_attention_2"}},
	{"textgen", "A3: ExLlamaV2", TextGen{Container: Container{Image: "local/textgen:3.23", Model: "Yi-6B-Chat-4.0bpw-exl2", ModelsDir: "/data/models", GPUs: "0"}, Loader: "ExLlamav2"}},
	{"textgen", "A4: llama.cpp", TextGen{Container: Container{Image: "local/textgen:4.7.3", Model: "yi-6b-chat.Q8_0.gguf", Quantization: "Q8_0", ModelsDir: "/data/models", GPUs: "0"}, Loader: "llama.cpp", Context: 8192, GPULayers: 33, Parallel: 4}},
	{"textgen", "ExLlamaV3", TextGen{Container: Container{Image: "local/textgen:4.7.3", Model: "Yi-6B-Chat-4.0bpw-exl3", ModelsDir: "/data/models", GPUs: "0"}, Loader: "ExLlamav3"}},
	{"textgen", "a model with code of its own and without a template", TextGen{Container: Container{Image: "local/textgen:4.7.3", Model: "Yi-6B", ModelsDir: "/data/models", GPUs: "0", TrustRemoteCode: true, Offline: true, ChatTemplate: "/data/chat.jinja"}, Loader: "Transformers"}},
	{"textgen", "Transformers, 8 bits", TextGen{Container: Container{Image: "local/textgen:4.7.3", Model: "Yi-6B-Chat", Quantization: "8bit", ModelsDir: "/data/models", GPUs: "0"}, Loader: "Transformers"}},

	{"openllm", "A7: PyTorch", OpenLLM{Container: Container{Model: "01-ai/Yi-6B-Chat", GPUs: "all"}, Engine: "pt"}},
	{"openllm", "A8: CTranslate2, which no image of the project has", OpenLLM{Container: Container{Image: "local/openllm:0.4.44-ctranslate2", Model: "01-ai/Yi-6B-Chat", GPUs: "all"}, Engine: "ctranslate"}},
	{"openllm", "A9: AutoGPTQ, 8 bits, in the last image that has it", OpenLLM{Container: Container{Image: "ghcr.io/bentoml/openllm:0.4.15", Model: "01-ai/Yi-6B-Chat-8bits", Quantization: "gptq", GPUs: "all"}, Engine: "pt"}},
	{"openllm", "GPTQ by vLLM", OpenLLM{Container: Container{Model: "TheBloke/Yi-6B-GPTQ", Quantization: "gptq", GPUs: "all"}, Engine: "vllm"}},
	{"openllm", "offline, with code of the model's own", OpenLLM{Container: Container{Model: "Yi-6B", ModelsDir: "/data/models", GPUs: "0", TrustRemoteCode: true, Offline: true}, Engine: "vllm"}},
	{"openllm", "A10: int8", OpenLLM{Container: Container{Model: "01-ai/Yi-6B-Chat", Quantization: "int8", GPUs: "all"}, Engine: "pt", DType: "float16"}},

	{"xinference", "D9: MindIE", Xinference{Container: Container{Image: "local/xinference:v3.5.0-mindie", Model: "qwen2-instruct", GPUs: "ascend:0,1,2,3", ModelsDir: "/data/models"}, Engine: "MindIE", Format: "pytorch", SizeB: "72", Path: "Qwen2-72B-Instruct", NGPU: 4}},
	{"xinference", "offline, with code of the model's own", Xinference{Container: Container{Model: "qwen3", GPUs: "0", TrustRemoteCode: true, Offline: true}, Engine: "vLLM"}},
	{"xinference", "D10: vLLM on four GPUs", Xinference{Container: Container{Model: "qwen2-instruct", Quantization: "none", GPUs: "0,1,2,3"}, Engine: "vLLM", Packages: []string{"vllm==0.29.0"}, Format: "pytorch", SizeB: "7", NGPU: 4, Limit: 1000, Kwargs: map[string]any{"max_model_len": 16000, "enable_prefix_caching": false}}},

	{"tensorrtllm", "as the model is", TensorRTLLM{Container: Container{Model: "Qwen/Qwen3-8B", GPUs: "all"}}},
	{"tensorrtllm", "one revision of a base model", TensorRTLLM{Container: Container{Model: "m", Revision: "v1", ChatTemplate: "/data/chatml.jinja", TrustRemoteCode: true, Offline: true, GPUs: "0"}}},
	{"tensorrtllm", "every field", TensorRTLLM{Container: Container{Model: "m", ModelsDir: "/data", Quantization: "fp8", GPUs: "0,1,2,3"}, TensorParallel: 2, PipelineParallel: 2, MaxBatchSize: 256, MaxNumTokens: 8192, MaxSeqLen: 8192, FreeGPUMemory: .9,
		BlockReuse: Off, KVCacheDType: "fp8", ChunkedPrefill: On, PostprocessWorkers: 4}},

	{"mindie", "D1, D2: 7B on eight NPUs", MindIE{Container: Container{Model: "Qwen1.5-7B-Chat", ModelsDir: "/data/models", GPUs: "0,1,2,3,4,5,6,7"}, MaxSeqLen: 4096, MaxInputTokens: 2048, MaxIterTimes: 2048}},
	{"mindie", "D3: 14B", MindIE{Container: Container{Model: "Qwen1.5-14B-Chat", ModelsDir: "/data/models", GPUs: "0,1,2,3,4,5,6,7"}}},
	{"mindie", "D4, D5: 72B", MindIE{Container: Container{Model: "Qwen2-72B-Chat", ModelsDir: "/data/models", GPUs: "0,1,2,3,4,5,6,7"}, MaxSeqLen: 16384, MaxInputTokens: 8192, MaxIterTimes: 8192}},
	{"mindie", "D6: every field", MindIE{Container: Container{Model: "deepseek-coder-6.7b-instruct", ModelsDir: "/data/models", GPUs: "ascend:0", ShmSize: 16 << 30, TrustRemoteCode: true, Offline: true, Args: []string{"--expert-parallel", "false"}}, MaxSeqLen: 2560, MaxInputTokens: 2048, MaxIterTimes: 400, MaxPrefillBatchSize: 50, MaxPrefillTokens: 8192, MaxBatchSize: 200, MaxLinks: 1000}},

	{"dynamo", "as the model is", Dynamo{Container: Container{Model: "Qwen/Qwen3-8B", GPUs: "all"}}},
	{"dynamo", "one revision of a base model, on two GPUs", Dynamo{Container: Container{Model: "m", Revision: "v1", ChatTemplate: "/data/chatml.jinja", TrustRemoteCode: true, Offline: true, GPUs: "0,1"}}},
	{"dynamo", "every field", Dynamo{Container: Container{Model: "m", ModelsDir: "/data", Quantization: "fp8", GPUs: "0,1"}, DType: "bfloat16", TensorParallel: 2, MaxModelLen: 8192, MaxNumSeqs: 256, MaxNumBatchedTokens: 8192, GPUMemoryUtilization: .9, PrefixCaching: Off, EnforceEager: true}},

	{"vllm-disagg", "one GPU each", VLLMDisagg{VLLM: VLLM{Container: Container{Model: "Qwen/Qwen3-8B", GPUs: "0,1"}}}},
	{"vllm-disagg", "every field, of a folder", VLLMDisagg{VLLM: VLLM{Container: Container{Model: "m", ModelsDir: "/data", GPUs: "nvidia:0,1,2,3", Args: []string{"--seed", "0"}, Env: map[string]string{"UCX_TLS": "all"}}, MaxModelLen: 8192, PrefixCaching: Off},
		RouterImage: "vllm/vllm-router@sha256:" + strings.Repeat("0", 64), RouterPolicy: "power_of_two", PrefillArgs: []string{"--max-num-batched-tokens", "16384"}, DecodeArgs: []string{"--max-num-seqs", "256"}, KVLoadFailure: "recompute"}},

	{"mock-container", "with faults", MockContainer{Container: Container{Image: "llmbench/mockserver:test", Args: []string{"-fault", "http-500,every=10"}}}},
}

// TestGolden compares the docker commands of all servers with golden files.
func TestGolden(t *testing.T) {
	texts := map[string]string{}
	for _, c := range goldenCases {
		spec, err := c.server.Spec()
		assert.NilError(t, err, "%s: %s", c.backend, c.name)
		assert.Equal(t, spec.Backend, c.backend)
		texts[c.backend] += fmt.Sprintf("== %s\n%s\n", c.name, spec)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			assert.Assert(t, !strings.Contains(text, "planted"), "a secret is shown:\n%s", text)
			golden.Assert(t, text, name+".golden")
		})
	}
	assert.Equal(t, len(texts), len(servers))
}

// TestStudies checks the experiments of the studies of which the server is known. Each must have a
// case of TestGolden, which shows that fields can express its configuration. The name of the case
// begins with the experiment's name. D13 has no results.
func TestStudies(t *testing.T) {
	has := map[string]bool{}
	for _, c := range goldenCases {
		ids, _, _ := strings.Cut(c.name, ": ")
		for id := range strings.SplitSeq(ids, ", ") {
			has[id] = true
		}
	}
	for study, n := range map[string]int{"A": 18, "B": 3, "C": 7, "D": 12} {
		for i := range n {
			id := fmt.Sprint(study, i+1)
			assert.Check(t, has[id], "no case of TestGolden is for the experiment %s", id)
		}
	}
}
