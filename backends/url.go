package backends

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// URL is a server that somebody else runs.
type URL struct {
	URL     string // base URL, without /v1
	Name    string // what to call it; "" means "url"
	Model   string // "" means the only model that the server lists
	Dialect dialect.Dialect
	APIKey  env.Secret // bearer token, or none
	// Ready is how long the server may take to answer a completion; 0 means
	// one minute. A server that is there but refuses ends the wait at once.
	Ready time.Duration
}

// Start returns the server as a target, once it has answered a completion.
func (u URL) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	llmbench.Watch(tb)
	name := u.Name
	if name == "" {
		name = "url"
	}
	t := llmbench.Target{URL: u.URL, Model: u.Model, Dialect: u.Dialect, Header: http.Header{}}
	if key := u.APIKey.Reveal(); key != "" {
		t.Header.Set("Authorization", "Bearer "+key)
	}
	limit := u.Ready
	if limit == 0 {
		limit = time.Minute
	}
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
	// Not streamed, which every server can: the load may not want streams.
	if _, _, err := ready(ctx, t, false, tb.Logf); err != nil {
		if cause := context.Cause(llmbench.Context(tb)); cause != nil { // interrupted
			err = cause
		}
		tb.Fatalf("backends: %s: not ready after %v: %v", name, time.Since(began).Round(time.Millisecond), err)
	}
	t.Config = map[string]string{"backend": name, "model": t.Model}
	return t
}

// onlyModel asks the server which model it has.
func onlyModel(ctx context.Context, t llmbench.Target) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(t.URL, "/")+"/v1/models", nil)
	if err != nil {
		return "", fmt.Errorf("its URL cannot be used: want a base like http://127.0.0.1:8000")
	}
	req.Header = t.Header
	req.Close = true
	var resp *http.Response
	err = poll(ctx, func() (again bool, err error) {
		resp, err = http.DefaultClient.Do(req)
		if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
			resp.Body.Close()
			return true, fmt.Errorf("status %s", resp.Status)
		}
		return err != nil, err
	})
	if err != nil {
		return "", fmt.Errorf("/v1/models cannot be had: %w", err)
	}
	defer resp.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("/v1/models answered %s without a list of models", resp.Status)
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	if len(ids) != 1 {
		return "", fmt.Errorf("the server lists %d models: %s", len(ids), strings.Join(ids, ", "))
	}
	return ids[0], nil
}
