package backends_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestMock checks that the mock server behaves as its fields say.
func TestMock(t *testing.T) {
	srv, target := backends.Mock{Speed: 10}.Serve(t)
	s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "one two three", MaxTokens: 5}, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.PromptTokens, 3)
	assert.Equal(t, s.OutputTokens, 5)
	assert.Equal(t, len(srv.Log()), 1)
	assert.DeepEqual(t, target.Config, map[string]string{"backend": "mock", "mock-speed": "10"})
	assert.Assert(t, strings.Contains(startError(t, backends.Mock{Profile: "h100"}), `profile "h100": not known`))
}

// TestMockTruth compares the client's values with those in the server's log. The log holds the
// server's own times, which do not include the way to the client. In an open loop these times start
// when requests were due.
func TestMockTruth(t *testing.T) {
	target := backends.Mock{Config: &mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 2 * time.Millisecond, Slots: 4}}.Start(t)
	assert.Equal(t, target.Truth.Speed, "TTFT 20ms, TPOT 2ms, 4 requests at once")
	assert.Equal(t, target.Truth.PrefixCache, false)
	requests := make([]llmbench.Request, 8)
	for i := range requests {
		requests[i] = llmbench.Request{Prompt: "one two", MaxTokens: 5, FixedOutput: true}
	}
	for _, c := range []struct {
		name string
		load llmbench.Load
		want []string
	}{
		{"closed", llmbench.Load{Requests: requests, Concurrency: 4}, []string{"mean-tpot-ns", "p50-e2e-ns", "p50-ttft-ns"}},
		{"open", llmbench.Load{Requests: requests, Arrivals: arrivals.Constant{Rate: 1000}}, []string{"mean-tpot-ns", "p50-e2e-ns", "p50-ttft-ns"}},
		{"whole", llmbench.Load{Requests: requests, Concurrency: 4, NoStream: true}, []string{"p50-e2e-ns"}},
	} {
		result, err := llmbench.Pass(t.Context(), c.name, target, c.load)
		assert.NilError(t, err)
		truth := target.Truth.Figures(result.All())
		measured := sample.Summarize(result.All(), result.Elapsed, sample.SLO{}).Metrics
		for _, unit := range c.want {
			assert.Assert(t, truth[unit] > 0, "%s: %s is not in %v", c.name, unit, truth)
			if unit != "mean-tpot-ns" { // the client's times are longer by the way to the server and back
				assert.Assert(t, truth[unit] < measured[unit], "%s: %s: %v by the log, %v measured", c.name, unit, truth[unit], measured[unit])
			}
		}
		if first := truth["p50-ttft-ns"]; first > 0 {
			assert.Assert(t, first >= 20e6, "%s: %v", c.name, truth)
		}
		assert.NilError(t, result.Close())
	}
}

// TestMockProfiles sends a request to each profile that LLMBENCH_MOCK can select.
func TestMockProfiles(t *testing.T) {
	files, err := filepath.Glob("../mockserver/internal/profiles/*.json")
	assert.NilError(t, err)
	assert.Assert(t, len(files) > 20, "%q", files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			c, err := backends.ParseConfig([]string{"LLMBENCH_MOCK=" + name + ",speed=1000"})
			assert.NilError(t, err)
			all, err := backends.FromConfig(c, nil)
			assert.NilError(t, err)
			assert.Equal(t, len(all), 1)
			target := all[0].Start(t)
			assert.Equal(t, target.Config["mock-profile"], name)
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "one two three", MaxTokens: 5, FixedOutput: true}, true)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.OutputTokens, 5)
			assert.Equal(t, s.PromptTokens, 3)
		})
	}
}

// TestMockCounts compares what the mock server counts in a pass with what was sent. A request that
// ends just before the pass must not be counted.
func TestMockCounts(t *testing.T) {
	target := backends.Mock{Config: &mockserver.Config{}}.Start(t)
	send := func(tokens int) {
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c", MaxTokens: tokens, FixedOutput: true}, true)
		assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
	}
	o := target.Observe().(llmbench.Counter)
	for pass := range 3 {
		send(100) // a warm-up
		assert.NilError(t, o.Before(t.Context()))
		for i := range 4 {
			send(5 + i + pass)
		}
		figures, err := o.After(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, len(figures), 0)
		want := llmbench.Counts{Requests: 4, PromptTokens: 12, OutputTokens: 26 + 4*pass, Complete: true, Alone: true}
		var got llmbench.Counts
		for deadline := time.Now().Add(time.Minute); got != want && time.Now().Before(deadline); {
			got, err = o.Counts(t.Context())
			assert.NilError(t, err)
		}
		assert.Equal(t, got, want)
	}
}

// TestMockCountsOpenRequest begins a pass while an earlier request is still open. The counts will
// include that request, so they must not claim to be complete.
func TestMockCountsOpenRequest(t *testing.T) {
	target := backends.Mock{Config: &mockserver.Config{TTFT: time.Hour}}.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		llmbench.Do(ctx, target, llmbench.Request{Prompt: "a", MaxTokens: 1}, true)
		close(done)
	}()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(metricsOf(t, target), "\nmockserver_requests_open 1\n"); {
		assert.Assert(t, time.Now().Before(deadline), "the mock has no open request")
	}
	o := target.Observe().(llmbench.Counter)
	assert.NilError(t, o.Before(t.Context()))
	counts, err := o.Counts(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, counts, llmbench.Counts{PromptTokens: 0, OutputTokens: 0, Requests: -1, Alone: true})
	cancel()
	<-done
}

// metricsOf returns the metrics of a server in the form in which it serves them.
func metricsOf(t *testing.T, target llmbench.Target) string {
	t.Helper()
	res, err := http.Get(target.URL + "/metrics")
	assert.NilError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	assert.NilError(t, err)
	return string(text)
}

// TestMockReset checks that the prefix cache of a mock server is emptied before each pass, and that
// the mock server reports how well the cache works.
func TestMockReset(t *testing.T) {
	profile, err := mockserver.Load("vllm-qwen2-7b-t4")
	assert.NilError(t, err)
	assert.Assert(t, profile.Engine != nil)
	engine := *profile.Engine
	engine.PrefixCache = true
	profile.Engine, profile.Speed = &engine, 1000
	target := backends.Mock{Config: &profile}.Start(t)
	o := target.Observe()
	request := llmbench.Request{Prompt: strings.Repeat("sea ", 256), MaxTokens: 1, FixedOutput: true}
	var figures map[string]float64
	for range 2 {
		assert.NilError(t, o.Before(t.Context()))
		for range 2 {
			s := llmbench.Do(t.Context(), target, request, true)
			assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
		}
		figures, err = o.After(t.Context())
		assert.NilError(t, err)
	}
	// In each pass one request misses the cache and one hits it, apart from the last block of a
	// prompt.
	hit := figures["srv-prefix-hit-%"]
	assert.Assert(t, hit > 40 && hit <= 50, "%v", figures)
}
