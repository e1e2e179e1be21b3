package backends

import (
	"cmp"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// Dynamo is NVIDIA Dynamo (https://docs.nvidia.com/dynamo/) on one machine: its front-end and one worker
// with vLLM, both in one container. The two find each other through files in the container (discovery
// backend "file"), so neither etcd nor NATS is needed.
//
// The port opens at once. The model is listed when the worker has loaded it, which may take minutes:
// Ready.Model is 30 minutes by default. Args are options of the worker, which takes vLLM's options and the
// options that `python3 -m dynamo.vllm --help` lists. The front-end is configured by environment variables,
// such as DYN_ROUTER_MODE. If the worker exits, the container ends. The metrics come from vLLM in the
// worker. The prefix cache is not emptied between passes.
type Dynamo struct {
	Container
	DType                string  `flag:"--dtype" values:"auto float16 bfloat16 float32"`
	TensorParallel       int     `gpus:"--tensor-parallel-size"`                                   // GPUs that share each layer; by default all GPUs listed by id
	MaxModelLen          int     `flag:"--max-model-len"`                                          // tokens of a request, prompt and output together
	MaxNumSeqs           int     `flag:"--max-num-seqs"`                                           // requests in a batch
	MaxNumBatchedTokens  int     `flag:"--max-num-batched-tokens"`                                 // tokens in a step
	GPUMemoryUtilization float64 `flag:"--gpu-memory-utilization"`                                 // share of each GPU's memory
	PrefixCaching        Toggle  `flag:"--enable-prefix-caching" off:"--no-enable-prefix-caching"` // default on
	EnforceEager         bool    `flag:"--enforce-eager"`                                          // no CUDA graphs
}

// dynamoScript runs the front-end beside the worker. The script's arguments are the worker's command. The
// front-end must not get DYN_SYSTEM_PORT, because the worker serves its metrics on that port. When either
// process exits, the script stops the other and the container ends. On SIGTERM or SIGINT the script stops
// both.
const dynamoScript = `trap 'kill $(jobs -p); wait; exit 143' TERM INT
env -u DYN_SYSTEM_PORT python3 -m dynamo.frontend &
"$@" &
wait -n
status=$?
kill $(jobs -p) 2>/dev/null
exit $status
`

// Spec describes how the server is launched; the error names each invalid field.
func (d Dynamo) Spec() (launch.Spec, error) {
	b := newBuilder(d.Container, "dynamo", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.0", 8000)
	b.grantGPUs(launch.NVIDIA)
	b.enlargeShm()
	b.imageFor(map[string]string{launch.NVIDIA: b.Image, "": b.Image})
	b.Deadlines.Model = cmp.Or(b.Deadlines.Model, 30*time.Minute)
	b.Files = []launch.File{{Path: "/llmbench/run.sh", Content: dynamoScript}}
	b.Entrypoint = []string{"bash", "/llmbench/run.sh"}
	b.Env["DYN_DISCOVERY_BACKEND"] = "file" // of both processes
	b.Env["DYN_HTTP_PORT"] = "8000"
	b.Env["DYN_SYSTEM_PORT"] = "8081" // the worker's metrics
	b.MetricsPort = 8081
	b.args("python3", "-m", "dynamo.vllm", "--model", b.path, "--served-model-name", b.Model)
	b.downloadTo("dynamo", "/home/dynamo/.cache") // the image's user owns this folder
	b.commitIn("/home/dynamo/.cache/huggingface/hub")
	b.withOffline()
	b.withRevision("--revision")
	b.withChatTemplate("--custom-jinja-template")
	b.withTrustRemoteCode("--trust-remote-code")
	b.choiceOption("Quantization", "--quantization", d.Quantization, vllmQuantizations...)
	b.fields(d, "-tp", "--pipeline-parallel-size", "-pp", "--data-parallel-size", "-dp")
	b.Metrics = d.Metrics()
	b.Failures = vllmFailures
	if d.PrefixCaching != Off {
		b.keepsPrompts()
	}
	return b.finish()
}

// Metrics returns the names of vLLM's metrics, which the worker passes through
// (https://docs.nvidia.com/dynamo/v1.2.0/backends/v-llm/observability).
func (Dynamo) Metrics() metrics.Names { return VLLM{}.Metrics() }
