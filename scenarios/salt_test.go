package scenarios

import (
	"fmt"
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// saltOf sets LLMBENCH_SALT for the rest of t, and returns a server with that salt.
func saltOf(t *testing.T, salt string, target llmbench.Target, o Options) server {
	t.Helper()
	t.Setenv("LLMBENCH_SALT", salt)
	o, err := prepareServe(o, parse(t))
	assert.NilError(t, err)
	return server{options: o, target: target, tokens: tokenizer.Words{}, salt: target.Salt()}
}

// TestSaltKeepsFigures measures a simulated server with a prefix cache in virtual time. Its
// times depend on the lengths of prompts and on what is in the cache. Each salt gives the
// same times for each request, on a server that has seen another salt and on a new one. A salt
// that the server has seen does not.
func TestSaltKeepsFigures(t *testing.T) {
	e := engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 8, KVBlocks: 1 << 20, BlockTokens: 4, PrefixCache: true}
	for _, dataset := range []string{
		"random",
		"random-vllm?ratio=0.5",
		"generated-shared-prefix?per-group=4&system=64&question=16",
		"openqa:../benchdata/testdata/kinds/openqa.jsonl",
		"mooncake:../benchdata/testdata/kinds/mooncake.jsonl",
	} {
		o := Options{Dataset: dataset, Requests: 12, Seed: 1}
		measure := func(t *testing.T, target llmbench.Target, salt string) (times []string, cached int) {
			s := saltOf(t, salt, target, o)
			requests, err := s.drawDataset(12, 1, s.target.Salt("benchmark"))
			assert.NilError(t, err)
			result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: 1})
			assert.NilError(t, err)
			for r := range result.All() {
				assert.Equal(t, r.Outcome, sample.OK, "%v", r.Err)
				ttft, _ := r.TTFT()
				e2e, _ := r.E2E()
				times = append(times, fmt.Sprint(r.PromptTokens, r.CachedTokens, ttft, e2e))
				cached += r.CachedTokens
			}
			return times, cached
		}
		var first []string
		virtual(t, mockserver.Config{Engine: &e}, func(t *testing.T, target llmbench.Target) {
			var cached int
			first, cached = measure(t, target, "1")
			for _, salt := range []string{"2", "3"} {
				times, _ := measure(t, target, salt)
				assert.DeepEqual(t, times, first)
			}
			again, more := measure(t, target, "1")
			assert.Assert(t, more > cached && !slices.Equal(again, first), "%s: %d and then %d cached tokens", dataset, cached, more)
		})
		virtual(t, mockserver.Config{Engine: &e}, func(t *testing.T, target llmbench.Target) {
			times, _ := measure(t, target, "4")
			assert.DeepEqual(t, times, first)
		})
	}
}
