package metrics

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func init() { llmbench.RegisterUnits(units...) }

// imbalanceUnit is the name of the unit for how unevenly requests were distributed over replicas.
const imbalanceUnit = "srv-imbalance"

// units are the units of an [Observer], from the server's own counters. If a unit is missing in one pass, it is
// omitted from the result.
var units = []sample.Unit{
	{Name: sample.ServerHitShare, Better: "higher", Core: true, Same: "5", Means: "Prompt tokens that the server found in its prefix cache / prompt tokens that it looked up."},
	{Name: imbalanceUnit, Better: "lower", Core: true, Means: "Requests of the busiest replica / mean requests of a replica, by the counters of several replicas (`LLMBENCH_METRICS`). 1 is even."},
	{Name: "srv-preempt/op", Better: "lower", Core: true, Means: "Requests that the server preempted for lack of KV cache / passes."},
	{Name: "srv-kv-%", Means: "Largest share of the server's KV cache in use, read every two seconds."},
	{Name: "srv-max-queue-req", Better: "lower", Statistic: sample.Max, Means: "Most requests that waited in the server's queue, read every two seconds during passes. Missing if no pass lasts that long."},
	{Name: "srv-accept-len", Better: "higher", Core: true, Statistic: sample.Mean, Means: "Acceptance length of speculative decoding: 1 + accepted tokens / drafts. Unlike in accept-len, only steps with a draft count. SGLang reports only the value of its last steps."},
	{Name: "srv-accept-%", Better: "higher", Statistic: sample.Mean, Means: "Accepted tokens / drafted tokens."},
	{Name: retriesUnit, Better: "lower", Core: true, Means: "Requests that a gateway sent again / requests: those that reached a simulated server behind the gateway more often than the client sent them, or else by the gateway's own counter. Omitted if some requests did not reach the simulated server."},
	{Name: "srv-queue-ns", Better: "lower", Core: true, Statistic: sample.Mean, Means: "Mean time that a request waited in the server's queue."},
	{Name: ttftUnit, Better: "lower", Statistic: sample.Mean, Means: "Mean TTFT by the server's own histogram, of all requests that it counted in the passes. Compare mean-ttft-ns."},
	{Name: itlUnit, Better: "lower", Statistic: sample.Mean, Means: "Mean ITL by the server's own histogram. Compare mean-itl-ns."},
	{Name: e2eUnit, Better: "lower", Statistic: sample.Mean, Means: "Mean E2E latency by the server's own histogram. Compare mean-e2e-ns."},
	{Name: prefillUnit, Better: "higher", Statistic: sample.Mean, Means: "Prompt tokens that the server computed / time that their requests spent in the prefill, summed over requests. Prefills at the same time share the server, so that it is the speed that a request sees."},
	{Name: computedUnit, Better: "lower", Means: "Prompt tokens that the server computed / prompt tokens."},
	{Name: transferredUnit, Better: "higher", Means: "Prompt tokens whose KV cache came from another server or store / prompt tokens."},
	{Name: overflowUnit, Better: "lower", Core: true, Means: "Requests that a gateway refused, or did not send again, because a limit of its requests or connections was reached / requests, by the gateway's counters."},
	{Name: shedUnit, Better: "lower", Core: true, Means: "Requests that a gateway refused because of a limit of their rate, or of overload / requests, by the gateway's counters."},
	{Name: gatewayHitUnit, Better: "higher", Core: true, Same: "5", Means: "Decisions in which a router chose the server at which it expects the beginning of the prompt in the cache / its decisions, by the router's counters."},
	{Name: gatewayImbalanceUnit, Better: "lower", Core: true, Means: "Requests for the busiest server behind a gateway / mean requests for a server, by the gateway's counters. 1 is even."},
}

// retriesUnit is the name of the unit for how often a gateway sent requests again.
const retriesUnit = "retries/req"

// imbalanceOf returns the requests for the busiest of n servers / the mean of the n servers. Servers that are not in
// requests have none. It returns false if there was no request.
func imbalanceOf(requests []float64, n int) (imbalance float64, ok bool) {
	all := 0.0
	for _, r := range requests {
		all += r
	}
	if all == 0 {
		return 0, false
	}
	return slices.Max(requests) * float64(n) / all, true
}
