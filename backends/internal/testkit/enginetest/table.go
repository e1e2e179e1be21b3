package enginetest

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

// Engines is the table of all engines.
var Engines = []Engine{
	{
		Name: "llamacpp", Title: "llama.cpp, in the wheel xllamacpp", Version: "2026.10.11549", Each: true,
		source:   pypi{},
		programs: []command{{args: []string{"{python}", "{dir}/llamacpp.py", "{port}", "{model}/tiny.gguf"}}},
		ready:    answer{"/health", "ok"},
		keyed:    []string{"{key}"},
		Counters: Counters{
			Prompt: []string{"llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"}, Output: []string{"llamacpp:tokens_predicted_total"},
			Cached: []string{"llamacpp:prompt_tokens_cached_total"},
		},
		MaxLen: 4096, AnyModel: true,
		Lacks:    []string{"Reasoning", "ToolCalls", "Embeddings", "Rerank"},
		Dialects: []string{"openai-completions", "openai-responses", "anthropic-messages", "llamacpp"},
	},
	{
		Name: "dynamo", Title: "NVIDIA Dynamo: front end and router, with its simulated engine", Version: "1.6.1", Each: true,
		source: pypi{},
		programs: []command{
			{
				env: []string{"DYN_FILE_KV={tmp}/kv", "HF_HUB_OFFLINE=1", "DYN_SYSTEM_PORT={port}"},
				args: []string{"{python}", "-m", "dynamo.mocker", "--model-path", "{model}", "--model-name", ModelName, "--discovery-backend", "file",
					"--event-plane", "zmq", "--num-workers", "2", "--block-size", "16", "--max-num-seqs", "32"},
			},
			{
				env:  []string{"DYN_FILE_KV={tmp}/kv", "HF_HUB_OFFLINE=1"},
				args: []string{"{python}", "-m", "dynamo.frontend", "--http-host", "127.0.0.1", "--http-port", "{port}", "--discovery-backend", "file", "--router-mode", "kv", "--enable-anthropic-api"},
			},
		},
		ready: answer{"/v1/models", `"tiny"`},
		Counters: Counters{
			Requests: []string{`dynamo_frontend_requests_total{status="success"`}, Prompt: []string{"dynamo_frontend_input_sequence_tokens_sum"},
			Output: []string{"dynamo_frontend_output_tokens_total"}, Cached: []string{"dynamo_frontend_cached_tokens_sum"},
			TTFT: "dynamo_frontend_time_to_first_token_seconds", E2E: "dynamo_frontend_request_duration_seconds",
		},
		Lacks:    []string{"Reasoning", "ToolCalls", "Embeddings", "Rerank"},
		Dialects: []string{"openai-completions", "openai-responses", "anthropic-messages"},
	},
	{
		Name: "vllm", Title: "vLLM, built for CPUs", Version: "0.30.0", Each: true,
		source:  pypi{},
		needs:   forTorch,
		prepare: prepareVLLM,
		programs: []command{{
			env: vllmEnv,
			args: []string{"{python}", "{dir}/vllm.serve.py", "serve", "{model}", "--served-model-name", ModelName, "--host", "127.0.0.1", "--port", "{port}",
				"--dtype", "bfloat16", "--enforce-eager", "--max-model-len", "4096", "--max-num-seqs", "16", "--block-size", "32", "--enable-prompt-tokens-details"},
		}},
		ready:   answer{"/health", ""},
		keyed:   []string{"--api-key", "{key}"},
		Scarce:  []string{"--num-gpu-blocks-override", "40", "--max-model-len", "1024"},
		LoRA:    []string{"--enable-lora", "--max-lora-rank", strconv.Itoa(tinygguf.LoRARank), "--lora-modules", AdapterName + "={lora}"},
		Pooling: []string{"--runner", "pooling", "--convert", "embed"}, ContinuousUsage: true,
		ownBenchmark: []string{"{python}", "{dir}/vllm.serve.py", "bench", "serve", "--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--base-url", "{url}",
			"--model", ModelName, "--tokenizer", "{model}", "--dataset-name", "random", "--random-input-len", "{input}", "--random-output-len", "{output}", "--ignore-eos",
			"--num-prompts", "{requests}", "--max-concurrency", "{concurrency}", "--save-result", "--result-filename", "{file}"},
		Counters: vllmCounters,
		MaxLen:   4096,
		Lacks:    []string{"Reasoning", "ToolCalls", "Embeddings", "Rerank"},
		Dialects: []string{"openai-completions", "openai-responses", "anthropic-messages"},
	},
	{
		Name: "sglang", Title: "SGLang, on a CPU", Version: "0.5.14",
		source:  pypi{},
		needs:   forTorch,
		prepare: standIns,
		programs: []command{{
			env: []string{"SGLANG_USE_CPU_ENGINE=1", "OMP_NUM_THREADS=1", "HF_HUB_OFFLINE=1"},
			args: []string{"{python}", "-m", "sglang.launch_server", "--model-path", "{model}", "--served-model-name", ModelName, "--device", "cpu",
				"--attention-backend", "torch_native", "--disable-overlap-schedule", "--mem-fraction-static", "0.1", "--max-total-tokens", "32768",
				"--max-running-requests", "16", "--grammar-backend", "none", "--enable-metrics", "--enable-cache-report", "--host", "127.0.0.1", "--port", "{port}"},
		}},
		ready: answer{"/health", ""},
		keyed: []string{"--api-key", "{key}"},
		Counters: Counters{
			Prompt: []string{"sglang:prompt_tokens_histogram_sum"}, Output: []string{"sglang:generation_tokens_histogram_sum"},
			TTFT: "sglang:time_to_first_token_seconds", E2E: "sglang:e2e_request_latency_seconds",
		},
		MaxLen: 4096, AnyModel: true,
		Lacks: []string{"Reasoning", "ToolCalls", "StructuredOutput", "Embeddings", "Rerank"},
	},
	{
		Name: "transformers", Title: "transformers serve", Version: "5.8.1",
		source:  pypi{},
		needs:   forTorch,
		prepare: standIns,
		programs: []command{{
			env:  []string{"OMP_NUM_THREADS=1", "HF_HUB_OFFLINE=1", "HF_HUB_CACHE={tmp}/hub"},
			args: []string{"{python}", "{dir}/transformers.serve.py", ModelName, "{model}", "serve", "--host", "127.0.0.1", "--port", "{port}", "--device", "cpu", ModelName},
		}},
		ready: answer{"/health", ""},
		Body:  `{"min_tokens":null,"ignore_eos":null}`,
		Lacks: []string{"Reasoning", "ToolCalls", "Embeddings", "Rerank"},
	},
	{
		Name: "ollama", Title: "Ollama", Version: "0.17.4",
		source:   ollamaModule{},
		programs: []command{{args: []string{"{dir}/ollamaserver", "-addr", "127.0.0.1:{port}"}}},
		ready:    answer{"/v1/models", `"tiny`},
		Lacks:    []string{"Reasoning", "Rerank", "ToolCalls"},
		Dialects: []string{"openai-completions", "openai-responses", "anthropic-messages", "ollama", "ollama-generate"},
	},
}

// forTorch is what PyTorch for CPUs needs, and what compiles the stand-ins for NVIDIA's libraries.
var forTorch = []needed{
	{"import ctypes; ctypes.CDLL('libnuma.so.1')", "libnuma1"},
	{"import shutil; assert shutil.which('gcc')", "gcc libc6-dev"},
}

var vllmEnv = []string{
	"HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1", "DO_NOT_TRACK=1", "VLLM_TARGET_DEVICE=cpu", "VLLM_CPU_KVCACHE_SPACE=1",
	"VLLM_CPU_OMP_THREADS_BIND=nobind", "OMP_NUM_THREADS=1", "VLLM_SERVER_DEV_MODE=1", "VLLM_CACHE_ROOT={dir}/cache",
}

var vllmCounters = Counters{
	Requests: []string{"vllm:request_success_total"}, Prompt: []string{"vllm:prompt_tokens_total"}, Output: []string{"vllm:generation_tokens_total"},
	Cached: []string{"vllm:prefix_cache_hits_total"}, Queue: "vllm:request_queue_time_seconds",
	TTFT: "vllm:time_to_first_token_seconds", E2E: "vllm:e2e_request_latency_seconds", TPOT: "vllm:request_time_per_output_token_seconds",
}
