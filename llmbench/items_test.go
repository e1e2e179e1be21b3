package llmbench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// itemDialects returns the dialects whose answers have an item for each input.
func itemDialects(t *testing.T) (all []dialect.ItemsDialect) {
	for _, name := range dialect.Names() {
		d, err := dialect.ByName(name)
		assert.NilError(t, err)
		if d, ok := d.(dialect.ItemsDialect); ok {
			all = append(all, d)
		}
	}
	return all
}

// inputs returns n requests of three inputs.
func inputs(d dialect.ItemsDialect, n int) (all []Request) {
	for i := range n {
		r := Request{Inputs: []string{fmt.Sprintf("first of %d", i), "the same text", "the same text"}}
		if d.Ranks() {
			r.Prompt = "the query"
		}
		all = append(all, r)
	}
	return all
}

// TestItems sends requests in each dialect with inputs. It checks the answers, the samples and the metrics.
func TestItems(t *testing.T) {
	for _, d := range itemDialects(t) {
		srv, target := loopback(t, mockserver.Config{TTFT: ms})
		target.Dialect = d
		load := Load{Requests: inputs(d, 4), Concurrency: 2, NoStream: true}
		checked := 0
		for i := range load.Requests {
			load.Requests[i].Check = func(a Answer) error {
				checked++
				if d.Ranks() && len(a.Scores) == 3 && len(a.Vectors) == 0 {
					return nil
				}
				if len(a.Vectors) == 3 && slices.Equal(a.Vectors[1], a.Vectors[2]) && !slices.Equal(a.Vectors[0], a.Vectors[1]) {
					return nil
				}
				return errors.New("wrong items")
			}
		}
		samples := onePass(t, target, load)
		assert.Equal(t, checked, 4, d.Name())
		dimensions, tokens := 384, 9
		if d.Name() == "vllm-classify" {
			dimensions = 2
		}
		if d.Ranks() {
			dimensions, tokens = 0, 15
		}
		stated := tokens
		if strings.HasPrefix(d.Name(), "tei-") {
			stated = 0
		}
		for _, s := range samples {
			assert.Equal(t, s.Outcome, sample.OK, "%s: %v", d.Name(), s.Err)
			assert.Assert(t, s.Correct, "%s: %s", d.Name(), s.Wrong)
			assert.Equal(t, [4]int{s.Inputs, s.Dimensions, s.PromptTokens, s.OutputTokens}, [4]int{3, dimensions, stated, 0}, d.Name())
			assert.Equal(t, s.TokenSource, sample.NoOutput)
		}
		for _, e := range srv.Log() {
			assert.Equal(t, [2]int{e.PromptTokens, e.OutputTokens}, [2]int{tokens, 0}, d.Name())
		}
		m := sample.Summarize(sample.All(samples...), 2000*ms, sample.SLO{}).Metrics
		assert.Equal(t, m["inputs/s"], 6.0, d.Name())
		assert.Equal(t, m["prompt-tok/s"], float64(2*stated), d.Name())
		assert.Equal(t, m["dimensions"], float64(dimensions), d.Name())
		for _, unit := range []string{"output-tok/s", "out-tok/req", "total-tok/s", "user-tok/s", "p50-ttft-ns"} {
			_, has := m[unit]
			assert.Assert(t, !has, "%s: %s = %v", d.Name(), unit, m[unit])
		}
		assert.Assert(t, m["p50-e2e-ns"] > float64(ms), d.Name())
	}
}

// TestItemsOutcomes checks the outcome of each fault of the simulated server. None may become a fast
// success.
func TestItemsOutcomes(t *testing.T) {
	runtest.CheckLeaks(t)
	harmless := []string{"slow-header", "wrong-type", "json", "no-done", "endless", "format", "wrong", "swap"}
	want := map[string]sample.Outcome{
		"empty": sample.Empty, "error-event": sample.ServerError, "named-error": sample.ServerError, "error-string": sample.ServerError,
		"truncate": sample.Malformed, "malformed": sample.Malformed, "gzip": sample.Malformed, "html-200": sample.Malformed, "short": sample.Malformed,
		"fin": sample.Truncated, "reset": sample.Connect, "die": sample.Connect, "stall": sample.Timeout,
	}
	for name := range fault.Names() {
		for _, d := range itemDialects(t) {
			outcome := want[name]
			switch {
			case slices.Contains(harmless, name):
				outcome = sample.OK
			case name == "http-429" || name == "http-529":
				outcome = sample.Shed
			case strings.HasPrefix(name, "http-") || name == "html-502":
				outcome = sample.HTTP
			case name == "long-line":
				continue // the answer is large, and the limit the same in all dialects
			}
			t.Run(name+"/"+d.Name(), func(t *testing.T) {
				t.Parallel()
				f, err := fault.Parse(name + ",every=1")
				assert.NilError(t, err)
				_, target := loopback(t, mockserver.Config{Faults: []fault.Fault{f}})
				target.Dialect = d
				l := Load{Requests: inputs(d, 1), Concurrency: 1, NoStream: true}
				if outcome == sample.Timeout {
					l.Timeout = 200 * ms
				}
				s := onePass(t, target, l)[0]
				assert.Equal(t, s.Outcome, outcome, "%v", s.Err)
			})
		}
	}
}

// TestItemsInvalidLoads checks the errors of loads that mix generated text with inputs.
func TestItemsInvalidLoads(t *testing.T) {
	for _, tt := range []struct {
		d      dialect.Dialect
		r      Request
		stream bool
		err    string
	}{
		{dialect.Embeddings{}, Request{Prompt: "p", MaxTokens: 1}, false, "embeddings: no inputs: want at least one"},
		{dialect.Embeddings{}, Request{Inputs: []string{"a"}}, true, "embeddings: a stream; the answer is one JSON document"},
		{dialect.OpenAIChat{}, Request{Inputs: []string{"a"}, MaxTokens: 1}, true, "openai-chat: 1 inputs; the API generates text for a prompt"},
		{dialect.Rerank{}, Request{Inputs: []string{"a"}, Prompt: "p", Then: []Turn{{Prompt: "q", MaxTokens: 1}}}, false, "a session with tools, a schema or inputs; its replies are texts"},
	} {
		s := Do(t.Context(), Target{URL: "http://127.0.0.1:1", Dialect: tt.d}, tt.r, tt.stream)
		assert.ErrorContains(t, s.Err, tt.err)
	}
}
