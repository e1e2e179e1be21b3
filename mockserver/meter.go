package mockserver

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
)

// A meter serves the server's metrics on /metrics, under vLLM's names. The metrics give
// real times, as a client sees them: the configured times divided by the speed.
type meter struct {
	handler http.Handler
	open    atomic.Int64 // requests that no counter includes yet
	arrived atomic.Int64 // requests for completions, including refused ones

	prompt, generated          prometheus.Counter
	success                    *prometheus.CounterVec
	ttft, perToken, e2e, queue prometheus.Observer
}

// The upper bounds of the histograms, in seconds, as in vLLM.
var (
	ttftBounds     = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	perTokenBounds = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds  = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// newMeter returns the meter of a server. p is the server's plan, and loras are its adapters, which may be
// nil.
func newMeter(cfg *Config, p pace.Plan, loras *adapters) *meter {
	reg := prometheus.NewRegistry()
	labels := prometheus.Labels{"model_name": cfg.Model, "engine": "0"}
	prefixed := prometheus.WrapRegistererWithPrefix("vllm:", reg)
	vllm := prometheus.WrapRegistererWith(labels, prefixed)
	registerPlan(vllm, p)
	if loras != nil {
		prefixed.MustRegister(loras)
	}
	if e := cfg.Engine; e != nil {
		if e.Draft > 0 {
			registerDrafts(vllm, p, e.Draft)
		}
		vllm.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cache_config_info", Help: "The KV cache: tokens in a block, and blocks; 0 blocks for no limit.",
			ConstLabels: prometheus.Labels{"block_size": strconv.Itoa(e.Block()), "num_gpu_blocks": strconv.Itoa(e.KVBlocks)},
		}, func() float64 { return 1 }))
	}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		vllm.MustRegister(c)
		return c
	}
	histogram := func(name, help string, bounds []float64) prometheus.Observer {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds})
		vllm.MustRegister(h)
		return h
	}
	m := &meter{
		prompt:    counter("prompt_tokens_total", "Prompt tokens of requests that have ended."),
		generated: counter("generation_tokens_total", "Tokens sent by requests that have ended."),
		success: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "request_success_total", Help: "Requests that have ended, by reason.",
		}, []string{"finished_reason"}),
		ttft:     histogram("time_to_first_token_seconds", "Time from a request's arrival to its first token.", ttftBounds),
		perToken: histogram("request_time_per_output_token_seconds", "Time from the first token to the last, divided by the number of tokens after the first.", perTokenBounds),
		e2e:      histogram("e2e_request_latency_seconds", "Time from a request's arrival to its last token.", requestBounds),
		queue:    histogram("request_queue_time_seconds", "Time from a request's arrival to its admission.", requestBounds),
	}
	vllm.MustRegister(m.success)
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mockserver_requests_open", Help: "Requests that have arrived and are in no counter yet.",
	}, func() float64 { return float64(m.open.Load()) }))
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "mockserver_requests_total", Help: "Requests for completions that have arrived, including refused ones.",
	}, func() float64 { return float64(m.arrived.Load()) }))
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	return m
}

// registerPlan registers the metrics that are read from the plan.
func registerPlan(reg prometheus.Registerer, p pace.Plan) {
	gauge := func(name, help string, value func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	counter := func(name, help string, value func() int) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
	}
	gauge("num_requests_running", "Requests that have a slot.", func() float64 { return float64(p.Load().Running) })
	gauge("num_requests_waiting", "Requests that wait for a slot.", func() float64 { return float64(p.Load().Waiting) })
	usage := func() float64 {
		if l := p.Load(); l.KVTotal > 0 {
			return float64(l.KVUsed) / float64(l.KVTotal)
		}
		return 0
	}
	gauge("kv_cache_usage_perc", "Share of the KV cache's blocks that are in use, 0 to 1; 0 if the cache has no limit.", usage)
	gauge("gpu_cache_usage_perc", "The former name of kv_cache_usage_perc.", usage)
	counter("num_preemptions_total", "Sequences that lost their place in the batch because the KV cache was full.", func() int { return p.Counts().Preempted })
	counter("prefix_cache_queries_total", "Tokens looked up in the prefix cache.", func() int { return p.Counts().Queried })
	counter("prefix_cache_hits_total", "Tokens found in the prefix cache.", func() int { return p.Counts().Hit })
}

// registerDrafts registers vLLM's metrics of speculative decoding
// (https://docs.vllm.ai/en/latest/features/spec_decode.html). draft is the number of tokens in a draft.
func registerDrafts(reg prometheus.Registerer, p pace.Plan, draft int) {
	counter := func(name, help string, labels prometheus.Labels, value func(engine.Counts) int) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value(p.Counts())) }))
	}
	counter("spec_decode_num_drafts_total", "Drafts that were verified.", nil, func(c engine.Counts) int { return c.Drafts })
	counter("spec_decode_num_draft_tokens_total", "Tokens of these drafts.", nil, func(c engine.Counts) int { return c.Drafted })
	counter("spec_decode_num_accepted_tokens_total", "Tokens of these drafts that were accepted.", nil, func(c engine.Counts) int { return c.Accepted })
	for i := range draft {
		counter("spec_decode_num_accepted_tokens_per_pos_total", "Tokens that were accepted at a position of a draft.",
			prometheus.Labels{"position": strconv.Itoa(i)}, func(c engine.Counts) int { return c.AcceptedAt[i] })
	}
}

// observe counts a request that has ended. The finish reason is the one in the answer, or
// "abort" if the answer was cut short.
func (m *meter) observe(rec *record, arrived, queued time.Duration, finish string) {
	if rec.Admitted < 0 {
		return
	}
	since := func(at time.Duration) float64 { return (at - arrived).Seconds() }
	m.prompt.Add(float64(rec.PromptTokens))
	m.generated.Add(float64(len(rec.Tokens)))
	m.queue.Observe(queued.Seconds())
	if n := len(rec.Tokens); n > 0 {
		m.ttft.Observe(since(rec.Tokens[0]))
		if n > 1 {
			m.perToken.Observe((rec.Tokens[n-1] - rec.Tokens[0]).Seconds() / float64(n-1))
		}
	}
	if rec.Aborted || rec.cut.Load() {
		finish = "abort"
	} else {
		m.e2e.Observe(since(rec.End))
	}
	m.success.WithLabelValues(finish).Inc()
}
