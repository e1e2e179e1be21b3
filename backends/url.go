package backends

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	URL     string // base URL, as [llmbench.Target] describes it
	Name    string // value of backend= in benchmark names and results; "" means "url"
	Model   string // "" means the only model that the server lists
	Dialect dialect.Dialect
	APIKey  env.Secret      // bearer token, or none
	Header  http.Header     // further fields of each request; see [llmbench.Target]
	Body    json.RawMessage // changes the body of each completion; see [llmbench.Target]
	TLS     *tls.Config     // see [llmbench.Target]
	// Compressed allows answers that are compressed; see [llmbench.Target].
	Compressed bool
	// Ready is how long the server may take to answer a completion; 0 means
	// one minute. A server that answers with a refusal ends the wait at once.
	Ready time.Duration
	// Metrics are the names of the server's Prometheus metrics, such as
	// VLLM{}.Metrics(). The zero value reads none. The metrics must be those of
	// one server, and not of a random one behind a load balancer.
	Metrics metrics.Names
}

// Start returns the server as a target when the server has answered a completion. If that takes
// about a second or more, Start says what it waits for; see [llmbench.Note].
func (u URL) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	llmbench.Watch(tb)
	name := cmp.Or(u.Name, "url")
	t := u.target()
	if err := t.Check(); err != nil {
		tb.Fatalf("backends: %s: %v", name, err)
	}
	limit := cmp.Or(u.Ready, time.Minute)
	ctx, cancel := context.WithTimeoutCause(llmbench.Context(tb), limit, fmt.Errorf("no answer in %v", limit))
	defer cancel()
	began := time.Now()
	w := probe.NewWatch(func(waited time.Duration, last error) {
		llmbench.Note(tb, fmt.Sprintf("waiting for %s: %s; %v left", t.Where(), t.Redact(probe.Reason(last)), (limit-waited).Round(time.Second)))
	})
	defer w.Stop()
	if err := u.ready(ctx, &t, w.Failed); err != nil {
		if cause := context.Cause(llmbench.Context(tb)); cause != nil { // interrupted
			err = cause
		}
		tb.Fatalf("backends: %s: %s is not ready after %v: %s", name, t.Where(), time.Since(began).Round(time.Millisecond), t.Redact(probe.Reason(err)))
	}
	t.Config = map[string]string{"backend": name, "model": t.Model}
	if u.Metrics.Path != "" {
		t.Observe = metrics.Source{Names: u.Metrics, Target: t, Logf: tb.Logf}.Observe
	}
	return t
}

// target returns the server without a model that it lists.
func (u URL) target() llmbench.Target {
	t := llmbench.Target{URL: u.URL, Model: u.Model, Dialect: u.Dialect, Header: maps.Clone(u.Header), Body: u.Body, Compressed: u.Compressed, TLS: u.TLS}
	if t.Header == nil {
		t.Header = http.Header{}
	}
	if key := u.APIKey.Reveal(); key != "" {
		t.Header.Set("Authorization", "Bearer "+key)
	}
	return t
}

// ready waits until the server answers a completion, and sets the model of t unless it is set.
func (u URL) ready(ctx context.Context, t *llmbench.Target, failed func(error)) error {
	if t.Model == "" {
		model, err := onlyModel(ctx, *t, failed)
		if err != nil {
			return err
		}
		t.Model = model
	}
	// The probe is not streamed: every server can answer it, and the load that
	// follows may not need streams.
	_, _, err := probe.Completion(ctx, *t, false, failed)
	return err
}

// onlyModel returns the name of the only model that the server lists.
func onlyModel(ctx context.Context, t llmbench.Target, failed func(error)) (string, error) {
	server := probe.Server{Target: t}
	var names []string
	err := probe.Poll(ctx, func() (again bool, err error) {
		names, err = server.Models(ctx, "/v1/models")
		if mistake := probe.Mistake(ctx, t, err); mistake != nil {
			return false, mistake
		}
		var status probe.StatusError
		var transport *url.Error
		if again = errors.As(err, &transport) || errors.As(err, &status) && probe.RefusedForNow(status.Code); again {
			failed(err)
		}
		return again, err
	})
	if err != nil {
		return "", fmt.Errorf("LLMBENCH_MODEL is not set, and the list of models cannot be read: %w", err)
	}
	if len(names) != 1 {
		return "", fmt.Errorf("LLMBENCH_MODEL is not set, and the server lists %d models: %s", len(names), strings.Join(names, ", "))
	}
	return names[0], nil
}
