package scenarios

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// prefixCache measures groups of prompts that begin alike, as if each group had its own system prompt.
// implied-hit-% is the hit rate of a cache that keeps every prefix, on a server that receives one prompt
// after another. It is reported together with the server's own metrics: srv-prefix-hit-% from its
// Prometheus metrics, and cached-% from its answers. The benefit of the cache appears in the TTFT of
// prompts whose prefix was sent before (p50-ttft-hit-ns) and of other prompts (p50-ttft-miss-ns).
func prefixCache(b *testing.B, s server) {
	// The full form uses SGLang's defaults for its generated-shared-prefix workload.
	p := pick(s, benchdata.SharedPrefix{PerGroup: 16, System: 2048, Question: 128, Output: 256},
		benchdata.SharedPrefix{PerGroup: 8, System: 512, Question: 64, Output: 16, InOrder: true})
	p, s, err := s.prefixed(p)
	if err != nil {
		b.Fatal(err)
	}
	p.Salt = s.salt
	n := s.requests(pick(s, 64, 4) * p.PerGroup)
	groups := (n + p.PerGroup - 1) / p.PerGroup
	b.Run(fmt.Sprintf("workload=prefixes-%dx%d-%dx%d/stream=true", groups, p.PerGroup, p.System, p.Question), func(b *testing.B) {
		s.perUsers(b, pick(s, []int{1, 16}, []int{1}), func(b *testing.B, users int) {
			s.run(b, s.prefixLoad(b, llmbench.Load{Concurrency: users}, n, func(seed uint64) benchdata.SharedPrefix {
				p := p
				p.Seed = seed
				return p
			}))
		})
	})
}

// fitsPrefixes returns an error unless a data set has groups of prompts that begin alike.
func fitsPrefixes(dataset string) error {
	if kindOf(dataset) != "generated-shared-prefix" {
		return fmt.Errorf("dataset %q: want generated-shared-prefix", dataset)
	}
	return nil
}

// prefixed returns own with the lengths in the options and in their data set, and s with its configuration lines. If there
// is a data set, it also determines the order.
func (s server) prefixed(own benchdata.SharedPrefix) (benchdata.SharedPrefix, server, error) {
	own.Tokenizer, own.Template, own.Output = s.tokens, s.template, cmp.Or(s.options.Output, own.Output)
	if s.options.Dataset == "" {
		return own, s.withConfig(configLines(s.options)), nil
	}
	data, err := s.dataset(0, 0)
	if err != nil {
		return own, s, err
	}
	set := data.(benchdata.SharedPrefix) // see fitsPrefixes
	own.PerGroup, own.System, own.Question = cmp.Or(set.PerGroup, own.PerGroup), cmp.Or(set.System, own.System), cmp.Or(set.Question, own.Question)
	own.Ratio, own.InOrder = set.Ratio, set.InOrder
	return own, s.withConfig(configLines(s.options)), nil
}

// prefixLoad sets the requests of l: each pass sends n prompts of the data set that of returns for a seed. It
// sets the figures of l to the hits that the prefixes of all measured passes imply.
func (s server) prefixLoad(b *testing.B, l llmbench.Load, n int, of func(seed uint64) benchdata.SharedPrefix) llmbench.Load {
	b.Helper()
	var sent []prefix // in all measured passes
	measured := false // the warm-up is drawn before
	l.MeasuresCache = true
	l = s.fresh(b, l, n, 2, func(n int, seed uint64) ([]llmbench.Request, error) {
		requests, err := of(seed).Requests(n)
		if measured {
			sent = append(sent, prefixes(s, requests)...)
		}
		return requests, err
	})
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 { return hitFigures(sent, n, samples) }
	measured = true
	return l
}

// A prefix is what is remembered of a request, because a long run has too many prompts to keep them all.
type prefix struct {
	hash   uint64 // hash of the prefix's text
	tokens int    // tokens of the prefix's text and the template
	prompt int    // tokens of the whole prompt
}

// hashSeed is the seed of the hashes of prefixes.
var hashSeed = maphash.MakeSeed()

// prefixes returns the prefixes of requests.
func prefixes(s server, requests []llmbench.Request) []prefix {
	all := make([]prefix, len(requests))
	for i, r := range requests {
		system, _, _ := strings.Cut(r.Prompt, "\n\n") // the separator is before the question
		all[i] = prefix{maphash.String(hashSeed, system), s.tokens.Count(system) + s.template, r.PromptTokens}
	}
	return all
}

// hitFigures returns the hit rate that the prefixes in sent imply, the median TTFT of requests whose prefix
// was sent before, and the median TTFT of the others. samples are the results of these requests; each pass
// has n requests.
func hitFigures(sent []prefix, n int, samples iter.Seq[*sample.Sample]) map[string]float64 {
	measured := map[int]time.Duration{} // TTFT by request
	for r := range samples {
		if ttft, has := r.TTFT(); has && r.Outcome == sample.OK {
			measured[r.Pass*n+r.Request] = ttft
		}
	}
	seen := map[uint64]bool{}
	var hits, misses []time.Duration
	hitTokens, allTokens := 0, 0
	for i, p := range sent {
		allTokens += p.prompt
		ttft, has := measured[i]
		switch {
		case seen[p.hash]:
			hitTokens += p.tokens
			if has {
				hits = append(hits, ttft)
			}
		case has:
			misses = append(misses, ttft)
		}
		seen[p.hash] = true
	}
	figures := map[string]float64{"implied-hit-%": 100 * float64(hitTokens) / float64(allTokens)}
	addMedian(figures, "p50-ttft-hit-ns", hits)
	addMedian(figures, "p50-ttft-miss-ns", misses)
	return figures
}
