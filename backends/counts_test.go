package backends

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestMockCounts holds what the mock says it has counted since Before against what
// was sent since then, with a request that ended just before it.
func TestMockCounts(t *testing.T) {
	target := Mock{Config: &mockserver.Config{}}.Start(t)
	ask := func(tokens int) {
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c", MaxTokens: tokens, FixedOutput: true}, true)
		assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
	}
	o := target.Observe().(llmbench.Counter)
	for pass := range 3 {
		ask(100) // the warm-up
		assert.NilError(t, o.Before(t.Context()))
		for i := range 4 {
			ask(5 + i + pass)
		}
		figures, err := o.After(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, len(figures), 0)
		want := llmbench.Counts{Requests: 4, PromptTokens: 12, OutputTokens: 26 + 4*pass, Exact: true}
		var got llmbench.Counts
		for deadline := time.Now().Add(5 * time.Second); got != want && time.Now().Before(deadline); {
			got, err = o.Counts(t.Context())
			assert.NilError(t, err)
		}
		assert.Equal(t, got, want)
	}
}

// TestMockCountsOpen has a request under way when a pass begins: what will be
// counted is not of the pass alone, and the observer says so.
func TestMockCountsOpen(t *testing.T) {
	target := Mock{Config: &mockserver.Config{TTFT: time.Hour}}.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		llmbench.Do(ctx, target, llmbench.Request{Prompt: "a", MaxTokens: 1}, true)
		close(done)
	}()
	o := target.Observe().(*observer)
	for s := (reading{}); value(s.open) == 0; {
		var err error
		s, err = o.server.scrape(t.Context())
		assert.NilError(t, err)
	}
	assert.NilError(t, o.Before(t.Context()))
	counts, err := o.Counts(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, counts, llmbench.Counts{PromptTokens: 0, OutputTokens: 0, Requests: -1})
	cancel()
	<-done
}

// TestCounts reads counters as servers write them, and knows what one does not have.
func TestCounts(t *testing.T) {
	vllm, err := VLLM{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	sglang, err := SGLang{Container: Container{Model: "m"}}.spec()
	assert.NilError(t, err)
	for _, c := range []struct {
		spec    spec
		metrics string // with numbers that grow by 1, 10 and 100
		want    llmbench.Counts
	}{
		{vllm, "# TYPE vllm:request_success_total counter\nvllm:request_success_total{finished_reason=\"stop\"} %[1]d\nvllm:request_success_total{finished_reason=\"length\"} %[1]d\n" +
			"# TYPE vllm:prompt_tokens_total counter\nvllm:prompt_tokens_total{engine=\"0\"} %[2]d\n# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{engine=\"0\"} %[3]d\n",
			llmbench.Counts{Requests: 2, PromptTokens: 10, OutputTokens: 100}},
		{sglang, "# TYPE sglang:prompt_tokens_total counter\nsglang:prompt_tokens_total %[2]d\n# TYPE sglang:generation_tokens_total counter\nsglang:generation_tokens_total %[3]d\n",
			llmbench.Counts{Requests: -1, PromptTokens: 10, OutputTokens: 100}},
		{vllm, "# TYPE other counter\nother %[1]d\n", llmbench.Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1}},
	} {
		asked := 0
		r := served(t, c.spec, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, c.metrics, 7+asked, 70+10*asked, 700+100*asked)
				asked++
			}
		})
		o := &observer{server: r}
		assert.NilError(t, o.Before(t.Context()))
		got, err := o.Counts(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, got, c.want)
	}
}
