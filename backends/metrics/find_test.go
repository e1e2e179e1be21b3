package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// kinds holds two kinds of servers, whose metrics are at different paths.
var kinds = []metrics.Kind{
	{Name: "A", Mark: "a_", Names: metrics.Names{Path: "/a/metrics", Requests: metrics.Alternatives{"a_requests_total"}}},
	{Name: "B", Mark: "b_", Names: metrics.Names{Path: "/metrics", Requests: metrics.Alternatives{"b_requests_total"}}},
}

// at returns the address of a server whose handler answers requests at the given path.
func at(t *testing.T, path string, handler http.HandlerFunc) metrics.Address {
	a := source(t, metrics.Names{}, handler).Addresses[0]
	a.Path = path
	return a
}

// serving returns a handler that answers with a text at one path.
func serving(path, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}
}

func TestFind(t *testing.T) {
	const a, b = "a_requests_total 1\n", "b_requests_total 1\n"
	for _, c := range []struct {
		name       string
		addresses  []metrics.Address
		kind, path string // the path of the last address
		err        string
	}{
		{"the first kind", []metrics.Address{at(t, "", serving("/a/metrics", a))}, "A", "/a/metrics", ""},
		{"the second kind", []metrics.Address{at(t, "", serving("/metrics", "go_goroutines 3\n"+b))}, "B", "/metrics", ""},
		{"the first kind at the path of the second", []metrics.Address{at(t, "", serving("/metrics", a))}, "A", "/metrics", ""},
		{"a path of its own", []metrics.Address{at(t, "/x/", serving("/x/", b))}, "B", "/x/", ""},
		{"two replicas", []metrics.Address{at(t, "", serving("/metrics", b)), at(t, "/x", serving("/x", b))}, "B", "/x", ""},
		{"two kinds", []metrics.Address{at(t, "", serving("/metrics", b)), at(t, "/x", serving("/x", a))}, "", "", "server and server have metrics of B and A: want one kind of server"},
		{"one replica without metrics", []metrics.Address{at(t, "", serving("/metrics", b)), at(t, "", serving("/x", a))}, "", "", "GET /metrics: status 404 Not Found: 404 page not found"},
		{"no metrics", []metrics.Address{at(t, "", http.NotFound)}, "", "", "GET /metrics: status 404 Not Found: 404 page not found"},
		{"forbidden", []metrics.Address{at(t, "", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })}, "", "", "GET /metrics: status 403 Forbidden: no"},
		{"elsewhere", []metrics.Address{at(t, "/m", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/m/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		})}, "", "", "GET /m: status 307 Temporary Redirect: redirects are not followed, and this one leads to /m/: "},
		{"a page", []metrics.Address{at(t, "", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html>\n<html>") })}, "", "", "GET /metrics from server: the answer is not in the Prometheus text format: text format parsing error in line 1: invalid metric name"},
		{"JSON", []metrics.Address{at(t, "", serving("/metrics", "[]"))}, "", "", "GET /metrics from server: the answer is not in the Prometheus text format: text format parsing error in line 1: invalid metric name"},
		{"nothing", []metrics.Address{at(t, "", serving("/metrics", ""))}, "", "", "GET /metrics from server: these are not the metrics of a known server; known are A, B"},
		{"another server's", []metrics.Address{at(t, "", serving("/metrics", "go_goroutines 3\n"))}, "", "", "GET /metrics from server: these are not the metrics of a known server; known are A, B"},
		{"a router's", []metrics.Address{at(t, "", serving("/metrics", "b_qps 3\n"))}, "", "", "GET /metrics from server: metrics of B, but none of its counters of requests, tokens, prefix cache and queue"},
		{"cut off", []metrics.Address{at(t, "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, b)
		})}, "", "", "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, addresses, err := metrics.Find(t.Context(), c.addresses, kinds)
			if c.err != "" {
				assert.Error(t, err, c.err)
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, kinds[kind].Name, c.kind)
			assert.Equal(t, addresses[len(addresses)-1].Path, c.path)
		})
	}
}

// TestFindWaits checks that a server that does not answer, or whose answer does not end, delays a
// benchmark only for a limited time. It also checks that an interrupt ends the wait.
func TestFindWaits(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"an answer without an end": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "b_requests_total 1")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, _, err := metrics.Find(t.Context(), []metrics.Address{at(t, "", handler)}, kinds)
				assert.ErrorContains(t, err, "no answer in 10s")
				assert.Equal(t, time.Since(start), 10*time.Second)

				interrupted := errors.New("interrupted")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(interrupted) })
				_, _, err = metrics.Find(ctx, []metrics.Address{at(t, "", handler)}, kinds)
				assert.ErrorContains(t, err, "interrupted")
				assert.Equal(t, time.Since(start), 11*time.Second)
			})
		})
	}
}
