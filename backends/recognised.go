package backends

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// A running is a server that already runs and is recognised by its metrics.
type running struct {
	metrics.Kind
	reset []probe.Step // empties its prefix cache; nil if no request does
}

// recognised lists the servers that are recognised by their metrics. TensorRT-LLM comes first because it
// must be recognised by its own path: it also answers at /metrics, but with a list that each reading
// empties. A server that imitates another one's metrics, such as llm-d-inference-sim with vLLM's, is taken
// for the other one.
var recognised = []running{
	{metrics.Kind{Name: "TensorRT-LLM", Mark: "trtllm_", Names: TensorRTLLM{}.Metrics()}, nil},
	{metrics.Kind{Name: "vLLM", Mark: "vllm:", Names: withArrivals(VLLM{}.Metrics())}, resetVLLM},
	{metrics.Kind{Name: "SGLang", Mark: "sglang:", Names: SGLang{}.Metrics()}, resetSGLang},
	{metrics.Kind{Name: "llama.cpp", Mark: "llamacpp:", Names: LlamaCPP{}.Metrics()}, resetLlamaCPP},
	{metrics.Kind{Name: "TGI", Mark: "tgi_", Names: TGI{}.Metrics()}, nil},
	{metrics.Kind{Name: "LMDeploy", Mark: "lmdeploy:", Names: LMDeploy{}.Metrics()}, nil},
	{metrics.Kind{Name: "MindIE", Mark: "npu_", Names: MindIE{}.Metrics()}, nil},
	{metrics.Kind{Name: "Dynamo", Mark: "dynamo_frontend_", Names: dynamoFrontEnd}, nil},
	{metrics.Kind{Name: "llm-d", Mark: "llm_d_epp_", Names: endpointPicker}, nil},
	{metrics.Kind{Name: "llm-d", Mark: "inference_objective_", Names: endpointPicker}, nil},
}

// behindRouter lists the servers that are recognised behind SGLang's router, which adds up the metrics of its workers and writes
// their names without colons (https://docs.sglang.ai/advanced_features/router.html).
var behindRouter = []running{
	{metrics.Kind{Name: "SGLang behind its router", Mark: "sglang_", Names: routed(SGLang{}.Metrics())}, nil},
	{metrics.Kind{Name: "vLLM behind SGLang's router", Mark: "vllm_", Names: routed(VLLM{}.Metrics())}, nil},
}

// routed returns the names of a server's metrics behind SGLang's router.
func routed(n metrics.Names) metrics.Names {
	n.Path = "/engine_metrics"
	n.Rename(func(name string) string { return strings.ReplaceAll(name, ":", "_") })
	return n
}

// dynamoFrontEnd are the metrics of NVIDIA Dynamo's front end, for all of its workers
// (https://docs.nvidia.com/dynamo/latest/observability/metrics.html).
var dynamoFrontEnd = metrics.Names{
	Path:         "/metrics",
	CacheHits:    metrics.Alternatives{"dynamo_frontend_cached_tokens"},
	CacheQueries: metrics.Alternatives{"dynamo_frontend_input_sequence_tokens"},
	Waiting:      metrics.Alternatives{"dynamo_frontend_router_queue_pending_requests"},
	TTFT:         metrics.Alternatives{"dynamo_frontend_time_to_first_token_seconds"},
	ITL:          metrics.Alternatives{"dynamo_frontend_inter_token_latency_seconds"},
	E2E:          metrics.Alternatives{"dynamo_frontend_request_duration_seconds"},

	Requests:     metrics.Alternatives{`dynamo_frontend_requests_total{status="success"}`},
	PromptTokens: metrics.Alternatives{"dynamo_frontend_input_sequence_tokens"},
	OutputTokens: metrics.Alternatives{"dynamo_frontend_output_tokens_total", "dynamo_frontend_output_sequence_tokens"},
}

// endpointPicker are the metrics of the component that chooses the server of each request in llm-d and in other inference
// gateways (https://llm-d.ai/docs/resources/observability/metrics). The names without llm_d_ are the former ones. It counts
// requests whose answers state their tokens.
var endpointPicker = metrics.Names{
	Path:         "/metrics",
	CacheHits:    metrics.Alternatives{"llm_d_epp_request_cached_tokens"},
	CacheQueries: metrics.Alternatives{"llm_d_epp_request_input_tokens"},
	QueueTime:    metrics.Alternatives{"llm_d_epp_flow_control_request_queue_duration_seconds"},
	TTFT:         metrics.Alternatives{"llm_d_epp_request_ttft_seconds"},
	ITL:          metrics.Alternatives{"llm_d_epp_request_streaming_itl_seconds"},
	E2E:          metrics.Alternatives{"llm_d_epp_request_duration_seconds", "inference_objective_request_duration_seconds"},

	Requests:     metrics.Alternatives{"llm_d_epp_request_input_tokens_count", "inference_objective_input_tokens_count"},
	PromptTokens: metrics.Alternatives{"llm_d_epp_request_input_tokens", "inference_objective_input_tokens"},
	OutputTokens: metrics.Alternatives{"llm_d_epp_request_output_tokens", "inference_objective_output_tokens"},
}
