package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// URL is a server that already runs, such as a gateway.
type URL struct {
	URL     string // base URL, without /v1
	Name    string // value of backend= in benchmark names and results; "" means "url"
	Model   string // "" means the only model that the server lists
	Dialect dialect.Dialect
	APIKey  env.Secret // bearer token, or none
	// Ready is how long the server may take to answer a completion; 0 means
	// one minute. A server that answers with a refusal ends the wait at once.
	Ready time.Duration
	// Metrics are the names of the server's Prometheus metrics, such as
	// VLLM{}.Metrics(). The zero value reads none. The metrics must be those of
	// one server, and not of a random one behind a load balancer.
	Metrics metrics.Names
}

// Start returns the server as a target when the server has answered a completion.
func (u URL) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	llmbench.Watch(tb)
	name := cmp.Or(u.Name, "url")
	t := llmbench.Target{URL: u.URL, Model: u.Model, Dialect: u.Dialect, Header: http.Header{}}
	if key := u.APIKey.Reveal(); key != "" {
		t.Header.Set("Authorization", "Bearer "+key)
	}
	limit := cmp.Or(u.Ready, time.Minute)
	ctx, cancel := context.WithTimeoutCause(llmbench.Context(tb), limit, fmt.Errorf("no answer in %v", limit))
	defer cancel()
	if t.Model == "" {
		model, err := onlyModel(ctx, t)
		if err != nil {
			tb.Fatalf("backends: %s: LLMBENCH_MODEL is not set, and %v", name, err)
		}
		t.Model = model
	}
	began := time.Now()
	// The probe is not streamed: every server can answer it, and the load that
	// follows may not need streams.
	if _, _, err := probe.Completion(ctx, t, false, tb.Logf); err != nil {
		if cause := context.Cause(llmbench.Context(tb)); cause != nil { // interrupted
			err = cause
		}
		tb.Fatalf("backends: %s: not ready after %v: %v", name, time.Since(began).Round(time.Millisecond), err)
	}
	t.Config = map[string]string{"backend": name, "model": t.Model}
	if u.Metrics.Path != "" {
		t.Observe = metrics.Source{Names: u.Metrics, URL: u.URL, Header: t.Header, Client: probe.ThroughProxy, Logf: tb.Logf}.Observe
	}
	return t
}

// onlyModel returns the name of the only model that the server lists.
func onlyModel(ctx context.Context, t llmbench.Target) (string, error) {
	if u, err := url.Parse(t.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("the URL cannot be used: want a base URL like http://127.0.0.1:8000") // the URL may hold a secret
	}
	server := probe.Server{URL: strings.TrimSuffix(t.URL, "/"), Header: t.Header, Client: probe.ThroughProxy}
	var names []string
	err := probe.Poll(ctx, func() (again bool, err error) {
		names, err = server.Models(ctx, "/v1/models")
		var status probe.StatusError
		var transport *url.Error
		again = errors.As(err, &transport) || errors.As(err, &status) && status.Code == http.StatusServiceUnavailable
		return again, err
	})
	if err != nil {
		return "", fmt.Errorf("the list of models cannot be read: %w", err)
	}
	if len(names) != 1 {
		return "", fmt.Errorf("the server lists %d models: %s", len(names), strings.Join(names, ", "))
	}
	return names[0], nil
}
