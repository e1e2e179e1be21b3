package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// gatewayAt returns the observer of a gateway whose metrics are the answers of handler.
func gatewayAt(t *testing.T, handler http.HandlerFunc) (o *metrics.GatewayObserver, known []string) {
	t.Helper()
	ln := memnet.Listen()
	srv := &http.Server{Handler: handler}
	go srv.Serve(ln)
	t.Cleanup(func() { assert.NilError(t, srv.Close()) })
	found, known, err := metrics.FindGateway(t.Context(), []metrics.Address{{Target: llmbench.Target{URL: "http://gateway", Dial: ln.Dial}}})
	assert.NilError(t, err)
	found.Logf = t.Logf
	return found.Observe().(*metrics.GatewayObserver), known
}

// observe reads pages before and after a pass of some requests.
func observe(t *testing.T, o *metrics.GatewayObserver, requests int) map[string]float64 {
	t.Helper()
	assert.NilError(t, o.Before(t.Context()))
	figures, err := o.After(t.Context())
	assert.NilError(t, err)
	samples := make([]sample.Sample, requests)
	for i := range samples {
		samples[i].Wrote = 1
	}
	maps.Copy(figures, o.FiguresOf(sample.All(samples...)))
	return figures
}

// TestGateways reads the metrics of real gateways before and after a number of requests. Behind them were two simulated
// servers, each of which refused every fourth request with status 503. The numbers of retries and of refusals are those
// that the servers and the client counted.
func TestGateways(t *testing.T) {
	for _, c := range []struct {
		gateway, kind string // kind is its name in messages
		requests      float64
		want          map[string]float64
		counter       string
		change        float64
	}{
		{"envoy", "Envoy", 12, map[string]float64{"retries/req": 4. / 12, "gw-overflow/req": 0, "gw-shed/req": 0}, `envoy_cluster_upstream_rq_retry{envoy_cluster_name="up"}`, 4},
		{"haproxy", "HAProxy", 12, map[string]float64{"retries/req": 4. / 12, "gw-shed/req": 0, "gw-imbalance": 1}, `haproxy_server_connection_attempts_total{proxy="b",server="s1"}`, 8},
		{"vllm-router", "vllm-router", 12, map[string]float64{"retries/req": 4. / 12, "gw-hit-%": 100 * 13. / 16, "gw-imbalance": 2}, `vllm_router_retries_total{route="/v1/chat/completions"}`, 4},
		{"smg", "smg and SGLang's router", 26, map[string]float64{"retries/req": 5. / 26, "gw-shed/req": 8. / 26, "gw-hit-%": 100 * 17. / 23, "gw-imbalance": 13 / 11.5}, `smg_http_rate_limit_total{result="rejected"}`, 8},
		{"sglang-router", "smg and SGLang's router", 26, map[string]float64{"retries/req": 5. / 26, "gw-shed/req": 9. / 26, "gw-imbalance": 2}, `smg_http_rate_limit_total{result="rejected"}`, 9},
	} {
		t.Run(c.gateway, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reading := 0 // the first one finds the gateway
				o, known := gatewayAt(t, func(w http.ResponseWriter, r *http.Request) {
					if want := "/metrics"; c.gateway == "envoy" && r.URL.Path == want {
						http.NotFound(w, r)
						return
					}
					name := "before"
					if reading++; reading == 3 {
						name = "after"
					}
					page, err := os.ReadFile(filepath.Join("testdata", "gateways", c.gateway+"."+name))
					assert.Check(t, err)
					w.Write(page)
				})
				assert.DeepEqual(t, known, []string{c.kind})
				got := observe(t, o, int(c.requests))
				assert.DeepEqual(t, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(c.want)))
				for unit, want := range c.want {
					assert.Assert(t, math.Abs(got[unit]-want) < 1e-9, "%s %v, want %v", unit, got[unit], want)
				}
				values := o.Counters()[c.counter]
				assert.Equal(t, values[1]-values[0], c.change, "%v", o.Counters())
			})
		})
	}
}

// TestGatewayPages reads pages that differ in what they have.
func TestGatewayPages(t *testing.T) {
	const key = "sk-of-a-user"
	for _, c := range []struct {
		name          string
		before, after string
		known         []string
		want          map[string]float64
		counters      map[string][2]float64
	}{
		{
			"an unknown gateway", "# TYPE my_spills_total counter\nmy_spills_total{to=\"a\"} 1\n# TYPE my_load gauge\nmy_load 1\nother 5\n",
			"# TYPE my_spills_total counter\nmy_spills_total{to=\"a\"} 4\nmy_spills_total{to=\"b\"} 2\n# TYPE my_load gauge\nmy_load 7\nother 5\n",
			nil, map[string]float64{}, map[string][2]float64{`my_spills_total{to="a"}`: {1, 4}, `my_spills_total{to="b"}`: {0, 2}},
		},
		{"an empty page", "", "", nil, map[string]float64{}, map[string][2]float64{}},
		{
			"two gateways", "envoy_cluster_upstream_rq_retry 1\nhaproxy_server_connection_reuses_total 1\n", "envoy_cluster_upstream_rq_retry 2\nhaproxy_server_connection_reuses_total 5\n",
			[]string{"HAProxy", "Envoy"}, map[string]float64{"retries/req": 0.5}, map[string][2]float64{"envoy_cluster_upstream_rq_retry": {1, 2}, "haproxy_server_connection_reuses_total": {1, 5}},
		},
		{
			"labels that are credentials", "litellm_a_total{hashed_api_key=\"" + key + "\",team=\"x\"} 1\n", "litellm_a_total{hashed_api_key=\"" + key + "\",team=\"x\"} 3\n",
			[]string{"LiteLLM"}, map[string]float64{}, map[string][2]float64{`litellm_a_total{hashed_api_key="[secret]",team="x"}`: {1, 3}},
		},
		{
			"a histogram", "# TYPE a_seconds histogram\na_seconds_bucket{le=\"+Inf\"} 1\na_seconds_sum 0.5\na_seconds_count 1\n", "# TYPE a_seconds histogram\na_seconds_bucket{le=\"+Inf\"} 3\na_seconds_sum 1.5\na_seconds_count 3\n",
			nil, map[string]float64{}, map[string][2]float64{"a_seconds_sum": {0.5, 1.5}, "a_seconds_count": {1, 3}},
		},
		{
			"counters that appear with their first event", "smg_worker_pool_size 4\n", "smg_worker_pool_size 4\nsmg_worker_requests_total{worker=\"a\"} 6\nsmg_worker_requests_total{worker=\"b\"} 2\n",
			[]string{"smg and SGLang's router"}, map[string]float64{"retries/req": 0, "gw-shed/req": 0, "gw-imbalance": 3},
			map[string][2]float64{`smg_worker_requests_total{worker="a"}`: {0, 6}, `smg_worker_requests_total{worker="b"}`: {0, 2}},
		},
		{
			"a server that is removed", "smg_worker_requests_total{worker=\"a\"} 6\n", "smg_worker_requests_total{worker=\"b\"} 2\n",
			[]string{"smg and SGLang's router"}, map[string]float64{"retries/req": 0, "gw-shed/req": 0, "gw-imbalance": 1}, map[string][2]float64{`smg_worker_requests_total{worker="b"}`: {0, 2}},
		},
		{
			"servers that do not share requests", `haproxy_server_http_responses_total{proxy="llm",server="a",code="2xx"} 0`, `haproxy_server_http_responses_total{proxy="llm",server="a",code="2xx"} 6
haproxy_server_http_responses_total{proxy="llm",server="a",code="5xx"} 2
haproxy_server_http_responses_total{proxy="llm",server="b",code="2xx"} 0
haproxy_server_http_responses_total{proxy="web",server="a",code="2xx"} 0
haproxy_server_http_responses_total{proxy="web",server="c",code="2xx"} 0`,
			[]string{"HAProxy"}, map[string]float64{"gw-imbalance": 2}, nil,
		},
		{"values that mean nothing", "haproxy_frontend_requests_denied_total NaN\na_total -5\nb_total 1\n", "haproxy_frontend_requests_denied_total +Inf\na_total NaN\nb_total +Inf\n", []string{"HAProxy"}, map[string]float64{}, map[string][2]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reading := 0
				o, known := gatewayAt(t, func(w http.ResponseWriter, _ *http.Request) {
					if reading++; reading == 3 {
						fmt.Fprint(w, c.after)
					} else {
						fmt.Fprint(w, c.before)
					}
				})
				assert.DeepEqual(t, known, c.known)
				assert.DeepEqual(t, observe(t, o, 10), c.want)
				if c.counters != nil {
					assert.DeepEqual(t, o.Counters(), c.counters)
				}
				assert.Assert(t, !strings.Contains(fmt.Sprint(o.Counters()), key))
			})
		})
	}
}

// TestGatewayFails checks that a gateway whose metrics cannot be read or used has no figures, and that this is told once.
func TestGatewayFails(t *testing.T) {
	for _, c := range []struct {
		name string
		page func(reading int) (status int, page string)
		want string
	}{
		{"no answer any more", func(n int) (int, string) { return map[bool]int{true: 200, false: 503}[n < 3], "a_total 1\n" }, "status 503"},
		{"no metrics any more", func(n int) (int, string) { return 200, map[bool]string{true: "a_total 1\n", false: "<html>"}[n < 3] }, "not in the Prometheus text format"},
		{"a restart", func(n int) (int, string) { return 200, fmt.Sprintf("haproxy_server_connection_reuses_total %d\n", 9-n) }, "a counter of retries/req fell from 7 to 6"},
		{"another process", func(n int) (int, string) { return 200, fmt.Sprintf("process_start_time_seconds %d\n", 100+n) }, "process_start_time_seconds has changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reading := 0
				o, _ := gatewayAt(t, func(w http.ResponseWriter, _ *http.Request) {
					reading++
					status, page := c.page(reading)
					w.WriteHeader(status)
					fmt.Fprint(w, page)
				})
				for pass := range 2 {
					assert.NilError(t, o.Before(t.Context()))
					figures, err := o.After(t.Context())
					assert.Equal(t, len(figures), 0)
					if pass == 0 {
						assert.ErrorContains(t, err, c.want)
					} else {
						assert.NilError(t, err)
					}
					assert.Equal(t, len(o.FiguresOf(sample.All(sample.Sample{Wrote: 1}))), 0)
				}
				assert.Equal(t, reading, 3)
			})
		})
	}
}

// TestGatewayLimits checks that a page with very many counters does not make the records long, and that the counters that
// are used stay.
func TestGatewayLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reading := 0
		o, _ := gatewayAt(t, func(w http.ResponseWriter, _ *http.Request) {
			reading++
			for i := range 3000 {
				fmt.Fprintf(w, "a_total{i=\"%d\"} %d\n", i, reading)
			}
			fmt.Fprintf(w, "b_total{i=%q} %d\nhaproxy_server_connection_reuses_total %[2]d\n", strings.Repeat("x", 2000), reading)
		})
		observe(t, o, 1)
		assert.Equal(t, len(o.Counters()), 1000)
		assert.Equal(t, o.Counters()["haproxy_server_connection_reuses_total"], [2]float64{2, 3})
	})
}

func TestFindGatewayErrors(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nothing listens") }
	_, _, err := metrics.FindGateway(t.Context(), []metrics.Address{{Target: llmbench.Target{URL: "http://gateway", Dial: dial}}})
	assert.ErrorContains(t, err, "from gateway: nothing listens")
	assert.Assert(t, !strings.Contains(err.Error(), "\n"))
}

func FuzzGatewayPages(f *testing.F) {
	f.Add([]byte("envoy_cluster_upstream_rq_retry 1\n"), []byte("envoy_cluster_upstream_rq_retry 3\n"))
	f.Add([]byte("smg_worker_requests_total{worker=\"a\\u0000\"} 1\n"), []byte("smg_worker_requests_total{worker=\"a\"} 1e300\n"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		figures, counters, err := metrics.GatewayFigures(before, after, 3)
		if err != nil {
			return
		}
		for unit, v := range figures {
			assert.Assert(t, v >= 0 && !math.IsNaN(v), "%s %v", unit, v)
		}
		for name, v := range counters {
			assert.Assert(t, !math.IsNaN(v[0]) && !math.IsInf(v[0], 0) && !math.IsNaN(v[1]) && !math.IsInf(v[1], 0), name)
		}
	})
}
