package scenarios

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// An lru is a cache of blocks that serves one prompt at a time. Blocks are named by the text up to their end; the least recently used is first.
type lru struct {
	blocks, size int
	idle         []string
}

// serve returns how many tokens of a prompt are in the cache, and puts its blocks there. At least one token is computed.
func (c *lru) serve(prompt []string, output int) int {
	var names []string
	for k := c.size; k <= len(prompt); k += c.size {
		names = append(names, strings.Join(prompt[:k], " "))
	}
	hits := 0
	for hits < len(names) && (hits+1)*c.size < len(prompt) {
		at := slices.Index(c.idle, names[hits])
		if at < 0 {
			break
		}
		c.idle = slices.Delete(c.idle, at, at+1)
		hits++
	}
	used := (len(prompt) + output + c.size - 1) / c.size
	c.idle = c.idle[max(0, len(c.idle)-(c.blocks-used)):]
	slices.Reverse(names)
	c.idle = append(c.idle, names...)
	return hits * c.size
}

// TestAgentCache replays the made-up sessions in virtual time, against simulated servers with caches of several sizes that serve one request at a
// time. What the cache has for each request must be what a computed LRU has. The last size has all blocks.
func TestAgentCache(t *testing.T) {
	all, err := (server{}).loadSessions(benchdata.Sessions{Seed: 1}, 0)
	assert.NilError(t, err)
	lost := false
	for _, blocks := range []int{150, 200, 250, 300, 350, 400, 600, 1 << 20} {
		virtual(t, mockserver.Config{Engine: &engine.Profile{Step: 1000, PrefillPerToken: 1, MaxBatch: 1, PrefixCache: true, KVBlocks: blocks}}, func(t *testing.T, target llmbench.Target) {
			result, err := llmbench.Pass(t.Context(), "agents", target, llmbench.Load{Requests: all.Requests, Concurrency: 6, ClientBound: llmbench.BoundReported})
			assert.NilError(t, err)
			defer result.Close()
			samples := slices.SortedFunc(result.All(), func(a, b *sample.Sample) int { return cmp.Compare(a.First, b.First) })
			reference := lru{blocks: blocks, size: 16}
			asked, cached, want := 0, 0, 0
			for _, s := range samples {
				assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
				messages := all.Requests[s.Request].Messages
				if s.Turn > 0 {
					messages = all.Requests[s.Request].Then[s.Turn-1].Messages
				}
				var prompt []string
				for _, m := range messages {
					prompt = append(prompt, strings.Fields(m.Content)...)
				}
				hit := reference.serve(prompt, s.OutputTokens)
				assert.Equal(t, s.CachedTokens, hit, "%d blocks, session %d, turn %d", blocks, s.Request, s.Turn)
				asked, cached, want = asked+s.AskedTokens, cached+s.CachedTokens, want+hit
			}
			t.Logf("%d blocks of 16 tokens: %.2f %% hits, the LRU %.2f %%, the file implies %.2f %%", blocks, 100*float64(cached)/float64(asked), 100*float64(want)/float64(asked), 100*all.ImpliedHits)
			lost = lost || blocks < 400 && float64(cached) < 0.9*all.ImpliedHits*float64(asked)
			assert.Assert(t, blocks < 1<<20 || float64(cached)/float64(asked) == all.ImpliedHits)
		})
	}
	assert.Assert(t, lost, "no cache was too small")
}
