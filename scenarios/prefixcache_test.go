package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// BenchmarkPrefixCache is groups of prompts that begin alike, as with a system
// prompt of their own. implied-hit-% is what a cache that keeps all of them could
// find, of a server that waits for each answer; beside it stands what the server
// says: srv-prefix-hit-% of its metrics, cached-% of its answers. The TTFT of
// prompts whose prefix was sent before, and of those whose was not, tell what it is
// worth.
func BenchmarkPrefixCache(b *testing.B) {
	flow(b, func(b *testing.B, s server, full bool) {
		s = s.changed(b, prefixMock)
		p := pick(full, prefixes, benchdata.SharedPrefix{PerGroup: 8, System: 512, Question: 64, Output: 16, InOrder: true})
		p.Tokenizer, p.Template = s.tokens, s.template
		groups := pick(full, 64, 4)
		b.Run(fmt.Sprintf("workload=prefixes-%dx%d-%dx%d/stream=true", groups, p.PerGroup, p.System, p.Question), func(b *testing.B) {
			for _, c := range pick(full, []int{1, 16}, []int{1}) {
				b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
					var sent []llmbench.Request // in all measured passes
					measured := false
					draw := func(n int, seed uint64) ([]llmbench.Request, error) {
						p := p
						p.Seed = seed
						requests, err := p.Requests(n)
						if measured {
							sent = append(sent, requests...)
						}
						return requests, err
					}
					l := s.fresh(b, llmbench.Load{Concurrency: c, Units: []string{"cached-%"}}, groups*p.PerGroup, 2, draw)
					l.Figures = func(samples []sample.Sample) map[string]float64 { return hitFigures(s, sent, samples) }
					measured = true
					s.run(b, l)
				})
			}
		})
	})
}

// prefixMock gives the mock a prefix cache, and an engine if it has none.
func prefixMock(c *mockserver.Config) {
	if c.Engine == nil { // as quick as the mock's default
		*c = mockserver.Config{Engine: &engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 32}}
	}
	e := *c.Engine
	e.PrefixCache = true
	c.Engine = &e
}

// prefixes is SGLang's default of its generated-shared-prefix workload.
var prefixes = benchdata.SharedPrefix{PerGroup: 16, System: 2048, Question: 128, Output: 256}

// hitFigures are what the prefixes of requests imply, and the TTFT of those that
// were sent before and of those that were not. The samples are those of the requests.
func hitFigures(s server, requests []llmbench.Request, samples []sample.Sample) map[string]float64 {
	before := map[string]bool{}
	var hits, misses []time.Duration
	var found, all float64
	for i, r := range requests {
		system, _, _ := strings.Cut(r.Prompt, "\n\n") // which parts it from the question
		all += float64(r.PromptTokens)
		ttft, has := samples[i].TTFT()
		has = has && samples[i].Outcome == sample.OK
		switch {
		case before[system]:
			found += float64(s.tokens.Count(system) + s.template)
			if has {
				hits = append(hits, ttft)
			}
		case has:
			misses = append(misses, ttft)
		}
		before[system] = true
	}
	figures := map[string]float64{"implied-hit-%": 100 * found / all}
	for unit, ttfts := range map[string][]time.Duration{"p50-ttft-hit-ns": hits, "p50-ttft-miss-ns": misses} {
		if slices.Sort(ttfts); len(ttfts) > 1 {
			figures[unit] = sample.Quantile(ttfts, 0.5)
		}
	}
	return figures
}
