package scenarios

import (
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// fairness measures what a heavy tenant does to a light one. The light tenant sends a steady stream of
// requests, first alone and then beside the heavy tenant, which sends many at once before each of them. A
// fair gateway lets the light tenant wait hardly longer than alone; a queue for all lets it wait for all
// requests of the heavy one. The gateway tells the tenants apart by Options.Tenants.
func fairness(b *testing.B, s server) {
	t := pick(s,
		tenants{light: 64, burst: 32, interval: 2 * time.Second, in: 256, out: 64},
		tenants{light: 16, burst: 16, interval: 500 * time.Millisecond, in: 64, out: 16},
		tenants{light: 8, burst: 16, interval: 100 * time.Millisecond, in: 64, out: 16})
	t.headers = s.options.Tenants
	if t.headers[lightTenant] == nil && t.headers[heavyTenant] == nil {
		t.headers = defaultTenants
	}
	b.Run(fmt.Sprintf("workload=tenants-%dx%d-1-to-%d/stream=true/rate=%g", t.in, t.out, t.burst, 1/t.interval.Seconds()), func(b *testing.B) {
		requests := t.requests()
		s.run(b, s.fresh(b, t.load(requests), len(requests), 2, func(n int, seed uint64) ([]llmbench.Request, error) {
			all, err := s.prompts(t.in, t.out, seed).Requests(n)
			for i := range all {
				all[i].Header = t.headers[requests[i].tenant]
			}
			return all, err
		}))
	})
}

// The tenants of a load.
const (
	lightTenant = iota
	heavyTenant
)

// fairnessField is the field by which the endpoint picker of the Gateway API Inference Extension tells
// tenants apart (https://llm-d.ai/docs/api-reference/epp-http-headers).
const fairnessField = "X-Gateway-Inference-Fairness-Id"

// defaultTenants are the headers of the light and of the heavy tenant if the options have none.
var defaultTenants = [2]http.Header{{fairnessField: {"light"}}, {fairnessField: {"heavy"}}}

// tenants are a load: twice light requests of the light tenant, one in each interval. Before each of the
// second half, the heavy tenant sends burst requests at once.
type tenants struct {
	light, burst int
	interval     time.Duration
	in, out      int // tokens of each prompt and of its answer
	headers      [2]http.Header
}

// A tenantRequest is a request of a pass.
type tenantRequest struct {
	tenant int
	beside bool // the heavy tenant is there
	at     time.Duration
}

// requests returns the requests of a pass.
func (t tenants) requests() (all []tenantRequest) {
	for i := range 2 * t.light {
		at := time.Duration(i) * t.interval
		if i >= t.light {
			for range t.burst {
				all = append(all, tenantRequest{heavyTenant, true, at - t.interval/100})
			}
		}
		all = append(all, tenantRequest{lightTenant, i >= t.light, at})
	}
	return all
}

// load returns the load of a pass, without its requests.
func (t tenants) load(requests []tenantRequest) llmbench.Load {
	var at []time.Duration
	for _, r := range requests {
		at = append(at, r.at)
	}
	return llmbench.Load{Arrivals: arrivals.Replay{At: at}, Figures: func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		return fairnessFigures(requests, samples)
	}}
}

// fairnessFigures returns the figures of the tenants. samples are results of requests.
func fairnessFigures(requests []tenantRequest, samples iter.Seq[*sample.Sample]) map[string]float64 {
	var alone, light, heavy []time.Duration
	for s := range samples {
		ttft, has := s.TTFT()
		if !has || s.Outcome != sample.OK {
			continue
		}
		switch r := requests[s.Request]; {
		case r.tenant == heavyTenant:
			heavy = append(heavy, ttft)
		case r.beside:
			light = append(light, ttft)
		default:
			alone = append(alone, ttft)
		}
	}
	figures := map[string]float64{}
	addMedian(figures, "p50-ttft-alone-ns", alone)
	addMedian(figures, "p50-ttft-light-ns", light)
	addMedian(figures, "p50-ttft-heavy-ns", heavy)
	if figures["p50-ttft-alone-ns"] > 0 && figures["p50-ttft-light-ns"] > 0 {
		figures["light-slowdown"] = figures["p50-ttft-light-ns"] / figures["p50-ttft-alone-ns"]
	}
	return figures
}
