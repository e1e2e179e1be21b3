package metrics

// The units of a gateway.
const (
	overflowUnit         = "gw-overflow/req"
	shedUnit             = "gw-shed/req"
	gatewayHitUnit       = "gw-hit-%"
	gatewayImbalanceUnit = "gw-imbalance"
)

// A gateway says how a kind of gateway or router names what it counts. Each list of names is summed up: a request is
// counted under one of the names. Of the names in one of the Alternatives, the first that the gateway has counts.
type gateway struct {
	name string
	path string // of the metrics
	mark string // prefix of the names of metrics that only this kind has
	// late means that a counter is on the page only from its first event on. Without it, it is 0.
	late bool

	retries  []Alternatives // requests that were sent to a server again
	once     []Alternatives // what is in retries, and is none; subtracted
	overflow []Alternatives // requests that were refused, or not sent again, because a limit of requests or connections was reached
	shed     []Alternatives // requests that were refused by a limit of rate, or because the gateway or its servers were overloaded
	// Decisions of a policy that knows prefixes: those that chose the server at which it expects the prompt's beginning
	// in the cache, and all.
	hits, decisions []Alternatives
	// A counter of the requests for each server, the label with the server's name, and the label, or "", by which groups of
	// servers differ that do not share requests. The gauge servers, of the number of servers, is not needed if the counter
	// is on the page for servers without requests, too.
	perServer    Alternatives
	label, group string
	servers      Alternatives
}

// gateways lists the gateways and routers whose counters are known. nginx has no such counters: its stub_status module
// counts connections and requests, and is not in this format.
var gateways = []gateway{
	{
		// https://docs.haproxy.org/2.6/management.html#9.1, under the names in
		// https://github.com/haproxy/haproxy/blob/25b05927456780aaca2d61f6b05b9a4ad4302eb3/addons/promex/README
		// Its own counter of retries, wretr, has a request twice that retry-on sends to the same server again (2.6, 3.0). So
		// retries are the attempts at servers, less those that ended with a response or an error for the client. HAProxy
		// counts a request that waited too long in the queue as a failed connection, and not apart.
		name: "HAProxy", path: "/metrics", mark: "haproxy_",
		retries:   []Alternatives{{"haproxy_server_connection_attempts_total"}, {"haproxy_server_connection_reuses_total"}},
		once:      []Alternatives{{"haproxy_server_http_responses_total"}, {"haproxy_server_connection_errors_total"}, {"haproxy_server_response_errors_total"}},
		shed:      []Alternatives{{"haproxy_frontend_requests_denied_total"}},
		perServer: Alternatives{"haproxy_server_http_responses_total"}, label: "server", group: "proxy",
	},
	{
		// https://github.com/vllm-project/router/blob/main/src/metrics.rs
		name: "vllm-router", path: "/metrics", mark: "vllm_router_", late: true,
		retries:   []Alternatives{{"vllm_router_retries_total"}},
		hits:      []Alternatives{{`vllm_router_prefix_routing_decisions_total{outcome="prefix_hit"}`}},
		decisions: []Alternatives{{"vllm_router_prefix_routing_decisions_total"}},
		perServer: Alternatives{"vllm_router_processed_requests_total"}, label: "worker", servers: Alternatives{"vllm_router_active_workers"},
	},
	{
		// https://github.com/smg-project/smg (1.13.0), and SGLang's router since 0.3:
		// https://github.com/sgl-project/sglang/blob/5a0cb04656dab5ac6dc4172841c868aac6574c2b/docs/advanced_features/sgl_model_gateway.md
		name: "smg and SGLang's router", path: "/metrics", mark: "smg_", late: true,
		retries:   []Alternatives{{"smg_worker_retries_total"}},
		shed:      []Alternatives{{`smg_http_rate_limit_total{result="rejected"}`, `smg_http_rate_limit_total{decision="rejected"}`}, {"smg_worker_overload_shed_total"}},
		hits:      []Alternatives{{`smg_cache_aware_policy_branch_total{branch="tree_match"}`}},
		decisions: []Alternatives{{"smg_cache_aware_policy_branch_total"}},
		perServer: Alternatives{"smg_worker_requests_total", "smg_worker_cb_outcomes_total"}, label: "worker", servers: Alternatives{"smg_worker_pool_size"},
	},
	{
		// https://github.com/sgl-project/sglang/blob/046ed665927fef15969f34e06a2552b721edd063/docs/advanced_features/router.md
		name: "SGLang's router before 0.3", path: "/metrics", mark: "sgl_router_", late: true,
		retries:   []Alternatives{{"sgl_router_retries_total"}},
		hits:      []Alternatives{{"sgl_router_cache_hits_total"}},
		decisions: []Alternatives{{"sgl_router_cache_hits_total"}, {"sgl_router_cache_misses_total"}},
		perServer: Alternatives{"sgl_router_processed_requests_total"}, label: "worker", servers: Alternatives{"sgl_router_active_workers"},
	},
	{
		// https://docs.litellm.ai/docs/proxy/prometheus. Its retries at the same deployment have no counter.
		name: "LiteLLM", path: "/metrics", mark: "litellm_", late: true,
		perServer: Alternatives{"litellm_deployment_total_requests_total"}, label: "model_id", group: "requested_model",
	},
	{
		// https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/upstream/cluster_manager/cluster_stats
		// https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_conn_man/stats
		// https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_filters/local_rate_limit_filter
		// https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_filters/rate_limit_filter
		// https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_filters/admission_control_filter
		name: "Envoy", path: "/stats/prometheus", mark: "envoy_",
		retries:  []Alternatives{{"envoy_cluster_upstream_rq_retry"}},
		overflow: []Alternatives{{"envoy_cluster_upstream_rq_pending_overflow"}, {"envoy_cluster_upstream_rq_retry_overflow"}},
		shed: []Alternatives{
			{"envoy_http_local_rate_limit_enforced"}, {"envoy_cluster_ratelimit_over_limit"},
			{"envoy_http_admission_control_rq_rejected"}, {"envoy_http_downstream_rq_overload_close"},
		},
	},
}

// gateways returns the kinds of gateways whose metrics these are.
func (f families) gateways() (kinds []gateway) {
	for _, k := range gateways {
		if f.has(k.mark) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
