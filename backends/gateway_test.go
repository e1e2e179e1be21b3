package backends_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/haproxytest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestGatewayMetrics measures a server behind gateways whose pages differ. The environment names the pages.
func TestGatewayMetrics(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	pages := map[string]string{
		"/haproxy":           "# TYPE haproxy_backend_retry_warnings_total counter\nhaproxy_backend_retry_warnings_total 3\n",
		"/unknown":           "my_policy_total 1\n",
		"/html":              "<html>",
		"/stats/prometheus":  "envoy_cluster_upstream_rq_retry 1\n",
		"/secret-path/pages": "<html>",
	}
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, known := pages[r.URL.Path]; known {
			fmt.Fprint(w, page)
			return
		}
		mock.ServeHTTP(w, r)
	}))
	defer gateway.Close()
	for _, c := range []struct {
		page  string // behind the URL of the gateway, or a URL
		note  string // "" means none
		known bool   // whether the gateway is observed
	}{
		{"/haproxy", "", true},
		{"", "", true}, // Envoy's path is tried, because the mock's own metrics are at /metrics and are taken
		{"/unknown", "the gateway's counters are in the records (LLMBENCH_OUT) as they are, and no figure is computed from them: they are not named like the counters of HAProxy, vllm-router, smg and SGLang's router, SGLang's router before 0.3, LiteLLM, Envoy", true},
		{"/html", "the gateway's own counters are left out: GET /html from ", false},
		{"/none", "the gateway's own counters are left out: GET /none: status 404 Not Found", false},
		{"http://127.0.0.1:1/metrics", "the gateway's own counters are left out: GET /metrics from 127.0.0.1:1: connection refused", false},
	} {
		t.Run(c.page, func(t *testing.T) {
			url := c.page
			if !strings.HasPrefix(url, "http") {
				url = gateway.URL + c.page
			}
			n := &noting{TB: t}
			target := fromEnv(t, "LLMBENCH_URL="+gateway.URL, "LLMBENCH_METRICS=off", "LLMBENCH_GATEWAY_METRICS="+url).Start(n)
			assert.Equal(t, target.ObserveGateway != nil, c.known)
			if c.page == "" {
				return
			}
			if c.note == "" {
				assert.Equal(t, len(n.notes), 0, "%q", n.notes)
				return
			}
			assert.Equal(t, len(n.notes), 1, "%q", n.notes)
			assert.Assert(t, strings.HasPrefix(n.notes[0], c.note), n.notes[0])
		})
	}
}

func TestGatewayMetricsConfig(t *testing.T) {
	for environ, want := range map[string]string{
		"LLMBENCH_GATEWAY_METRICS=http://x/metrics":                           "LLMBENCH_GATEWAY_METRICS: means nothing without LLMBENCH_URL",
		"LLMBENCH_URL=http://x\nLLMBENCH_GATEWAY_METRICS=x:9000":              `LLMBENCH_GATEWAY_METRICS=[not shown]: URL "x:9000": want a base URL`,
		"LLMBENCH_URL=http://x\nLLMBENCH_GATEWAY_METRICS=http://u:p@x/secret": "with a user or a password",
	} {
		_, err := backends.ParseConfig(strings.Split(environ, "\n"))
		assert.ErrorContains(t, err, want)
		assert.Assert(t, !strings.Contains(err.Error(), "secret"), "%v", err)
	}
	c, err := backends.ParseConfig([]string{"LLMBENCH_BACKEND=process", "LLMBENCH_COMMAND=gateway {port}", "LLMBENCH_GATEWAY_METRICS=http://127.0.0.1:{port}/metrics"})
	assert.NilError(t, err)
	assert.DeepEqual(t, c.Gateway, []string{"http://127.0.0.1:{port}/metrics"})
	assert.DeepEqual(t, backends.Behind(c).Backend.(backends.URL).GatewayMetrics, []string(nil))
}

// TestGatewayAsServer checks what is said if LLMBENCH_METRICS names the metrics of a gateway.
func TestGatewayAsServer(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			fmt.Fprint(w, "haproxy_frontend_requests_denied_total 1\n")
			return
		}
		mock.ServeHTTP(w, r)
	}))
	defer gateway.Close()
	got := startError(t, fromEnv(t, "LLMBENCH_URL="+gateway.URL, "LLMBENCH_METRICS="+gateway.URL+"/metrics"))
	assert.Assert(t, strings.Contains(got, "these are the metrics of HAProxy, which is no server: LLMBENCH_GATEWAY_METRICS names their address"), got)
}

// TestHAProxyCounters measures through a real HAProxy in front of servers, one of which refuses requests. HAProxy sends
// these again, and denies requests of a tenant. Its retries are as many as the requests that reached the servers more
// often than the client sent them.
func TestHAProxyCounters(t *testing.T) {
	t.Run("to another server", func(t *testing.T) { testHAProxyCounters(t, nil, []fault.Fault{{Kind: "http-503", Every: 3}}) })
	t.Run("to the same server", func(t *testing.T) { testHAProxyCounters(t, []fault.Fault{{Kind: "http-503", Every: 3}}) })
}

func testHAProxyCounters(t *testing.T, faults ...[]fault.Fault) {
	var servers []*mockserver.Server
	var at []string
	for _, of := range faults {
		s, url := mockserver.Start(t, mockserver.Config{Faults: of})
		servers, at = append(servers, s), append(at, strings.TrimPrefix(url, "http://"))
	}
	url, page := haproxytest.Start(t, haproxytest.Options{
		Servers:  at,
		Frontend: []string{"http-request deny deny_status 429 if { req.hdr(x-tenant) -m str heavy }"},
		Backend:  []string{"balance roundrobin", "option redispatch 1", "retries 3", "retry-on 503"},
	})
	target := fromEnv(t, "LLMBENCH_URL="+url, "LLMBENCH_METRICS=off", "LLMBENCH_GATEWAY_METRICS="+page).Start(t)
	reached := func() (n int) {
		for _, s := range servers {
			n += len(s.Log())
		}
		return n
	}
	o := target.ObserveGateway().(interface {
		llmbench.SamplesObserver
		llmbench.CountersObserver
	})
	assert.NilError(t, o.Before(t.Context()))
	before := reached()
	var samples []sample.Sample
	const passed, denied = 24, 8
	for i := range passed + denied {
		r := llmbench.Request{Prompt: "a", MaxTokens: 2}
		if i >= passed {
			r.Header = http.Header{"X-Tenant": {"heavy"}}
		}
		s := llmbench.Do(t.Context(), target, r, true)
		assert.Equal(t, s.Outcome == sample.OK, i < passed, "%+v", s)
		samples = append(samples, s)
	}
	retries := reached() - before - passed
	assert.Assert(t, retries > 0)
	_, err := o.After(t.Context())
	assert.NilError(t, err)
	figures := o.FiguresOf(sample.All(samples...))
	assert.Equal(t, figures["retries/req"], float64(retries)/(passed+denied))
	assert.Equal(t, figures["gw-shed/req"], float64(denied)/(passed+denied))
	assert.Assert(t, figures["gw-imbalance"] >= 1 && figures["gw-imbalance"] <= 2, "%v", figures)
	values := o.Counters()[`haproxy_frontend_requests_denied_total{proxy="gateway"}`]
	assert.Equal(t, values[1]-values[0], float64(denied))
}
