package backends

import (
	"strconv"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// LMDeploy is LMDeploy's api_server
// (https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html).
//
// Quantization is the format of the weights: hf, awq, gptq, compressed-tensors,
// fp8 or mxfp4. If Engine asks for TurboMind and the model needs PyTorch's, the
// start fails instead of measuring the other one.
type LMDeploy struct {
	Container
	Engine             string  // turbomind or pytorch; what the model allows
	DType              string  // auto, float16 or bfloat16
	TensorParallel     int     // GPUs that share each layer; all whose ids are given
	SessionLen         int     // tokens of a request, prompt and output together
	MaxBatchSize       int     // requests in a batch
	CacheMaxEntryCount float64 // share of free memory for the KV cache; 0.8
	KVQuant            int     // bits of the KV cache: 4 or 8
	PrefixCaching      bool    // off by default; it cannot be emptied
	MaxPrefillTokens   int     // prompt tokens in a step
}

// Start returns the server as a target, once it is ready.
func (l LMDeploy) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, l) }

func (l LMDeploy) spec() (spec, error) {
	m := l.make("lmdeploy", "openmmlab/lmdeploy:v0.16.0-cu12.8", 23333)
	m.accelerators(nvidia)
	m.shared()
	m.download("huggingface", "/root/.cache/huggingface", "HUGGING_FACE_HUB_TOKEN")
	m.words("lmdeploy", "serve", "api_server", m.path, "--server-name", "0.0.0.0", "--server-port", "23333", "--model-name", m.model)
	m.choice("Engine", "--backend", l.Engine, "turbomind", "pytorch")
	m.choice("Quantization", "--model-format", l.Quantization, "hf", "awq", "gptq", "compressed-tensors", "fp8", "mxfp4")
	m.choice("DType", "--dtype", l.DType, "auto", "float16", "bfloat16")
	m.spread(split{"TensorParallel", "--tp", l.TensorParallel, []string{"--dp", "--ep"}})
	m.count("SessionLen", "--session-len", l.SessionLen)
	m.count("MaxBatchSize", "--max-batch-size", l.MaxBatchSize)
	m.share("CacheMaxEntryCount", "--cache-max-entry-count", l.CacheMaxEntryCount)
	switch l.KVQuant {
	case 0:
	case 4, 8:
		m.words("--quant-policy", strconv.Itoa(l.KVQuant))
	default:
		m.wrong("KVQuant", "%d: want 4 or 8, or 0 for the server's default", l.KVQuant)
	}
	m.on("--enable-prefix-caching", l.PrefixCaching)
	m.count("MaxPrefillTokens", "--max-prefill-token-num", l.MaxPrefillTokens)
	m.stats = stats{
		path:    "/metrics",
		hitRate: names{"lmdeploy:prefix_cache_hit_rate"},
		kv:      names{"lmdeploy:gpu_cache_usage_perc"},
		queue:   names{"lmdeploy:request_queue_time_seconds"},
	}
	m.known = append([]known{
		{log: `\[TM\]\[ERROR\].*out of memory`, advice: "lower CacheMaxEntryCount or SessionLen"},
	}, torchKnown...)
	if l.Engine == "turbomind" {
		m.known = append(m.known, known{log: `Fallback to pytorch engine because`, advice: "TurboMind does not support this model: set Engine to pytorch"})
	}
	return m.end()
}
