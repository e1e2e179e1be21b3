package mockserver

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A meter is what a server says of itself on /metrics, under vLLM's names. Its
// times are the clock's, as a client sees them: divided by the speed.
type meter struct {
	handler http.Handler
	open    atomic.Int64 // requests that are not counted yet

	prompt, generated          prometheus.Counter
	success                    *prometheus.CounterVec
	ttft, perToken, e2e, queue prometheus.Observer
}

// Upper bounds of the histograms, in seconds, those of vLLM.
var (
	ttftBounds     = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	perTokenBounds = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds  = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

func newMeter(model string, p plan) *meter {
	reg := prometheus.NewRegistry()
	labels := prometheus.Labels{"model_name": model, "engine": "0"}
	with := prometheus.WrapRegistererWith(labels, prometheus.WrapRegistererWithPrefix("vllm:", reg))
	gauge := func(name, help string, value func() float64) {
		with.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("num_requests_running", "Requests that have a slot.", func() float64 { return float64(p.load().Running) })
	gauge("num_requests_waiting", "Requests that wait for one.", func() float64 { return float64(p.load().Waiting) })
	gauge("kv_cache_usage_perc", "Share of the KV cache's blocks in use, 1 is all; 0 without a limit.", func() float64 {
		if l := p.load(); l.KVTotal > 0 {
			return float64(l.KVUsed) / float64(l.KVTotal)
		}
		return 0
	})
	so := func(name, help string, value func() int) {
		with.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
	}
	so("num_preemptions_total", "Sequences thrown out of the batch for want of KV cache.", func() int { return p.counts().Preempted })
	so("prefix_cache_queries_total", "Tokens looked for in the prefix cache.", func() int { return p.counts().Queried })
	so("prefix_cache_hits_total", "Tokens found in it.", func() int { return p.counts().Hit })

	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		with.MustRegister(c)
		return c
	}
	histogram := func(name, help string, bounds []float64) prometheus.Observer {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds})
		with.MustRegister(h)
		return h
	}
	m := &meter{
		prompt:    counter("prompt_tokens_total", "Prompt tokens of requests that have ended."),
		generated: counter("generation_tokens_total", "Tokens sent by requests that have ended."),
		success: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "request_success_total", Help: "Requests that have ended, by reason.",
		}, []string{"finished_reason"}),
		ttft:     histogram("time_to_first_token_seconds", "From a request's arrival to its first token.", ttftBounds),
		perToken: histogram("request_time_per_output_token_seconds", "From the first token to the last, by the tokens after the first.", perTokenBounds),
		e2e:      histogram("e2e_request_latency_seconds", "From a request's arrival to its last token.", requestBounds),
		queue:    histogram("request_queue_time_seconds", "From a request's arrival to its admission.", requestBounds),
	}
	with.MustRegister(m.success)
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mockserver_requests_open", Help: "Requests that have come and are in none of the counters yet.",
	}, func() float64 { return float64(m.open.Load()) }))
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	return m
}

// observe takes an exchange that is over into account. What a client may see of
// it, /mock/log tells exactly.
func (m *meter) observe(x *exchange) {
	rec := x.rec
	if rec.Admitted < 0 {
		return
	}
	since := func(at time.Duration) float64 { return (at - x.arrived).Seconds() }
	m.prompt.Add(float64(rec.PromptTokens))
	m.generated.Add(float64(len(rec.Tokens)))
	m.queue.Observe(x.queued.Seconds())
	if n := len(rec.Tokens); n > 0 {
		m.ttft.Observe(since(rec.Tokens[0]))
		if n > 1 {
			m.perToken.Observe((rec.Tokens[n-1] - rec.Tokens[0]).Seconds() / float64(n-1))
		}
	}
	reason := x.req.finish
	if rec.Aborted || rec.cut.Load() {
		reason = "abort"
	} else {
		m.e2e.Observe(since(rec.End))
	}
	m.success.WithLabelValues(reason).Inc()
}
