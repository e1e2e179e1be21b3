package scenarios

import (
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/patient"
)

// TestCountValid checks that answers that break their format are counted in every dialect that has
// formats, and that failed requests are not counted.
func TestCountValid(t *testing.T) {
	for _, c := range []struct {
		name      string
		shape     shape.Shape
		faults    []fault.Fault
		good, all int
	}{
		{"all", shape.Shape{}, nil, 8, 8},
		{"every fourth is broken", shape.Shape{}, []fault.Fault{{Kind: fault.Format, Every: 4}}, 6, 8},
		{"and every third fails", shape.Shape{}, []fault.Fault{{Kind: fault.Format, Every: 4}, {Kind: fault.HTTP500, Every: 3}}, 4, 6},
		{"the server knows no formats", shape.Shape{NoFormat: true}, nil, 0, 8},
	} {
		for _, d := range []dialect.Dialect{dialect.OpenAIChat{}, dialect.OpenAIResponses{}, dialect.Ollama{}, dialect.AnthropicMessages{}, dialect.Gemini{}, dialect.BedrockInvoke{}, dialect.Cohere{}} {
			for name, r := range map[string]llmbench.Request{
				"tools":  {Prompt: "a", MaxTokens: 100, Tools: []llmbench.Tool{weather}},
				"schema": {Prompt: "a", MaxTokens: 100, Schema: ticket},
			} {
				target := backends.Mock{Config: &mockserver.Config{Shape: c.shape, Faults: c.faults}, Dialect: d}.Start(t)
				l := llmbench.Load{Requests: []llmbench.Request{r, r, r, r, r, r, r, r}, Concurrency: 1, KeepText: true}
				result, err := llmbench.Pass(t.Context(), "", target, l)
				assert.NilError(t, err)
				good, all, first := countValid(r, result.All())
				at := fmt.Sprintf("%s, %s, %s: %v", c.name, d.Name(), name, first)
				assert.Equal(t, good, c.good, at)
				assert.Equal(t, all, c.all, at)
				assert.Equal(t, first == nil, good == all, at)
			}
		}
	}
}

// TestValidUnderLoad checks that valid-% finds a server that only breaks formats when it has
// several requests at the same time.
func TestValidUnderLoad(t *testing.T) {
	for name, r := range map[string]llmbench.Request{
		"tools":  {Prompt: "a", MaxTokens: 100, Tools: []llmbench.Tool{weather}},
		"schema": {Prompt: "a", MaxTokens: 100, Schema: ticket},
	} {
		target := backends.Mock{Config: &mockserver.Config{TTFT: 20 * time.Millisecond, Faults: []fault.Fault{{Kind: fault.Format, Every: 1, Above: 4}}}}.Start(t)
		for _, users := range []int{1, 8} {
			l := llmbench.Load{Requests: slices.Repeat([]llmbench.Request{r}, 24), Concurrency: users, KeepText: true}
			result, err := llmbench.Pass(t.Context(), "", target, l)
			assert.NilError(t, err)
			good, all, first := countValid(r, result.All())
			assert.Equal(t, all, 24)
			assert.Equal(t, good == all, users == 1, "%s, %d at once: %d of %d are valid: %v", name, users, good, all, first)
		}
	}
}

// TestOnce checks that a benchmark is skipped if the server cannot serve its requests, and that it
// fails if the server is broken. The server asks for a pause that is longer than the client is
// willing to wait. So no request is sent again.
func TestOnce(t *testing.T) {
	status := 0
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", fmt.Sprint(int(2*patient.Time.Seconds())))
		http.Error(w, `{"error":{"message":"tools are not supported"}}`, status)
	}))
	defer refusing.Close()
	mock := backends.Mock{Config: &mockserver.Config{}}.Start(t)
	r := llmbench.Request{Prompt: "a", MaxTokens: 100, Tools: []llmbench.Tool{weather}}
	for _, c := range []struct {
		name            string
		target          llmbench.Target
		status          int
		skipped, failed bool
	}{
		{"it can", mock, 0, false, false},
		{"the dialect has no tools", llmbench.Target{URL: mock.URL, Dialect: dialect.TGI{}}, 0, true, false},
		{"the dialect has no conversations", llmbench.Target{URL: mock.URL, Dialect: dialect.TGI{}}, -1, true, false},
		{"refused", llmbench.Target{URL: refusing.URL}, 400, true, false},
		{"no such path", llmbench.Target{URL: refusing.URL}, 404, true, false},
		{"broken", llmbench.Target{URL: refusing.URL}, 500, false, true},
		{"no key", llmbench.Target{URL: refusing.URL}, 401, false, true},
		{"too busy", llmbench.Target{URL: refusing.URL}, 503, false, true},
	} {
		status = c.status
		skipped, failed, answered := false, false, false
		testing.Benchmark(func(b *testing.B) {
			defer func() { skipped, failed = b.Skipped(), b.Failed() }()
			r := r
			if c.status < 0 {
				r.Tools, r.Then = nil, []llmbench.Turn{{Prompt: "b", MaxTokens: 1}}
			}
			answered = server{target: c.target}.once(b, r).Answer.ToolCalls != nil
		})
		assert.Equal(t, skipped, c.skipped, c.name)
		assert.Equal(t, failed, c.failed, c.name)
		assert.Equal(t, answered, !c.skipped && !c.failed, c.name)
	}
}

// TestPrefixHits checks that the hit rate that follows from the workload is equal to the hit rate
// in the simulated server's metrics and in its answers.
func TestPrefixHits(t *testing.T) {
	for _, perGroup := range []int{2, 8} {
		p := benchdata.SharedPrefix{PerGroup: perGroup, System: 64, Question: 16, Output: 2, InOrder: perGroup == 2, Seed: 1}
		requests, err := p.Requests(16)
		assert.NilError(t, err)
		c := mockserver.Config{}
		withPrefixCache(&c)
		result := onePass(t, func(b *testing.B) {
			s := server{target: backends.Mock{Config: &c}.Start(b), counter: counter{tokens: tokenizer.Words{}}}
			s.run(b, llmbench.Load{Requests: requests, Concurrency: 1,
				Figures: func(samples iter.Seq[*sample.Sample]) map[string]float64 {
					return hitFigures(prefixes(s, requests), len(requests), samples)
				}})
		})
		implied := 100 * float64(perGroup-1) / float64(perGroup) * 64 / 80
		for _, unit := range []string{"implied-hit-%", "srv-prefix-hit-%", "cached-%"} {
			assert.Assert(t, math.Abs(result.Extra[unit]-implied) < 1e-9, "%s: %v, want %v", unit, result.Extra[unit], implied)
		}
	}
}

// TestPrefixHitsAreFaster checks, in virtual time, that a hit is faster than a miss by the time
// that the prefill of the prefix takes.
func TestPrefixHitsAreFaster(t *testing.T) {
	requests, err := benchdata.SharedPrefix{PerGroup: 8, System: 64, Question: 16, Output: 2, InOrder: true, Seed: 1}.Requests(16)
	assert.NilError(t, err)
	c := mockserver.Config{}
	withPrefixCache(&c)
	virtual(t, c, func(t *testing.T, target llmbench.Target) {
		result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: 1})
		assert.NilError(t, err)
		figures := hitFigures(prefixes(server{target: target, counter: counter{tokens: tokenizer.Words{}}}, requests), len(requests), result.All())
		saved := time.Duration(figures["p50-ttft-miss-ns"] - figures["p50-ttft-hit-ns"])
		assert.Equal(t, saved.Round(100*time.Microsecond), 64*50*time.Microsecond)
	})
}
