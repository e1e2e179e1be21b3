package llmbench

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// controlTime bounds the time of a control of the prefix cache.
	controlTime = 30 * time.Second
	// controlOutput is how many output tokens a request of it asks for at most. Some APIs allow no fewer.
	controlOutput = 16
)

// judgeCache says in the records whether the server took prompts from its prefix cache. Where many
// prompts repeat and the server states nothing, it asks the server, and adds the
// unit warm-cache if the cache is warm. It returns what a reader of the figures must know.
//
// The control is made after the passes, so that it changes none of their figures and costs nothing where
// prompts are new or the server states what it took from its cache. One at a time, it sends
// requests of the last pass again, each beside a new one of the same words in another order; chance decides which
// of the two is first. The new ones differ in each process, whatever the salt, because a server may have seen the prompts of an earlier process. The control tells
// the state of the cache after the passes: what a long pass has pushed out of the cache counts as cold.
func (r *run) judgeCache(ctx context.Context, metrics map[string]float64) (notes []records.Note) {
	t := r.target
	c, stated := judge.StatedCache(judge.Prompts{
		All: r.prompts.all, Repeated: r.prompts.repeated,
		Uncached: t.Truth != nil && !t.Truth.PrefixCache,
		Seen:     t.outlives() && (r.cfg.Salt != nil || usedSalt.Load() != promptSalt(r.cfg, t)),
		Control:  r.party.Part().Alone(),
	}, metrics)
	r.end.PrefixCache = c
	if !stated {
		ctx, cancel := context.WithTimeout(ctx, controlTime)
		defer cancel()
		pairs := controlCache(ctx, r.client, t, &r.load, r.prompts.last, prefix.Pairs, rand.Uint64())
		judge.ControlledCache(c, pairs, metrics)
	}
	return judge.CacheNotes(c, metrics)
}

// controlCache sends up to n pairs of requests: one of the given ones again, evenly chosen, and a new one of the
// same words in another order. Fewer than n requests are sent again more than once. The random choices depend on seed. It ends early with ctx, and after a request that failed.
func controlCache(ctx context.Context, c *send.Client, t Target, l *Load, requests Lazy, n int, seed uint64) (pairs []prefix.Pair) {
	r := rand.New(rand.NewPCG(seed, 1))
	options := l.options()
	w := send.NewWorker(c, &options, c.Clock(), nil)
	w.Prefix = "-cache"
	for i := range n {
		again := requests.At(i * requests.N / n)
		again.Then, again.Check = nil, nil
		again.MaxTokens = min(again.MaxTokens, controlOutput)
		both := []Request{again, again.shuffled(r)}
		var took [2]time.Duration
		first := r.IntN(2)
		for _, k := range []int{first, 1 - first} {
			p, err := newPost(l, t, both[k])
			if err != nil {
				return pairs
			}
			s := w.Do(ctx, p, 0, false)
			d, has := s.TTFT()
			if !s.Streamed {
				d, has = s.E2E()
			}
			if s.Outcome != sample.OK || !has {
				return pairs
			}
			took[k] = d
		}
		pairs = append(pairs, prefix.Pair{Repeated: took[0], New: took[1]})
	}
	return pairs
}
