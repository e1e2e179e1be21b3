package llmbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// manyRepeated is the share of repeated prompts above which a prefix cache matters.
	manyRepeated = 0.1
	// controlTime bounds the time of a control of the prefix cache.
	controlTime = 30 * time.Second
	// controlOutput is how many output tokens a request of it asks for at most. Some APIs allow no fewer.
	controlOutput = 16
)

// judgeCache says in the records whether the server took prompts from its prefix cache. Where more than
// manyRepeated of the prompts repeat and the server states nothing, it asks the server, and adds the
// unit warm-cache if the cache is warm. It returns what a reader of the figures must know.
//
// The control is made after the passes, so that it changes none of their figures and costs nothing where
// prompts are new or the server states what it took from its cache. It sends requests of the last pass again, and in
// turn new ones of the same words in another order, one at a time, in random order. The new ones differ in each
// process, whatever the salt, because a server may have seen those of an earlier one. The control tells
// the state of the cache after the passes: what a long pass has pushed out of the cache counts as cold.
func (r *run) judgeCache(metrics map[string]float64) (notes []records.Note) {
	c := &records.PrefixCache{Prompts: r.prompts.all, Repeated: r.prompts.repeated}
	r.end.PrefixCache = c
	if r.stated(c, metrics) {
		return r.cacheNotes(c, metrics)
	}
	ctx, cancel := context.WithTimeout(Context(r.b), controlTime)
	defer cancel()
	v := prefix.Judge(r.client.controlCache(ctx, &r.load, r.prompts.last, prefix.Pairs, rand.Uint64()))
	c.By, c.Pairs, c.Ratio = records.CacheByControl, v.Pairs, v.Ratio
	switch {
	case v.Warm:
		c.Verdict = records.CacheWarm
		metrics[sample.WarmCache] = 1
	case v.Cold:
		c.Verdict = records.CacheCold
	default:
		c.Verdict, c.By = records.CacheUnknown, ""
	}
	return r.cacheNotes(c, metrics)
}

// stated fills in a verdict for which no control is needed, and reports whether there is one.
func (r *run) stated(c *records.PrefixCache, metrics map[string]float64) bool {
	cached, byAnswers := metrics["cached-%"]
	hits, byCounters := metrics["srv-prefix-hit-%"]
	t := r.client.target
	switch {
	case byAnswers:
		c.By, c.Cached = records.CacheByAnswers, cached/100
	case byCounters:
		c.By, c.Cached = records.CacheByCounters, hits/100
	case float64(c.Repeated) > manyRepeated*float64(c.Prompts) && r.crew == nil:
		if t.Truth == nil || t.Truth.PrefixCache {
			return false
		}
		c.By = records.CacheByCounters
	case c.Repeated > 0 || t.outlives() && (r.cfg.salt != nil || usedSalt.Load() != r.cfg.promptSalt(t)):
		c.Verdict = records.CacheUnknown
		return true
	default:
		c.Verdict = records.CacheNew
		return true
	}
	if c.Verdict = records.CacheCold; 100*c.Cached > manyCached {
		c.Verdict = records.CacheWarm
	}
	return true
}

// cacheNotes returns what a reader of the figures must know about the prefix cache. What answers state is
// said elsewhere.
func (r *run) cacheNotes(c *records.PrefixCache, metrics map[string]float64) []records.Note {
	units := firstTokens(metrics)
	n := records.Note{Kind: records.NoteCache, Units: units, Doubt: len(units) > 0}
	repeat := fmt.Sprintf("%d of %d prompts begin like an earlier one", c.Repeated, c.Prompts)
	pairs := fmt.Sprintf("in a control of %d pairs after the passes, the TTFT of prompts that were sent before was %.3g times that of new ones of the same words (median)", c.Pairs, c.Ratio)
	switch {
	case c.By == records.CacheByCounters && c.Verdict == records.CacheWarm:
		n.Text = fmt.Sprintf("the server took %.3g%% of the prompts' tokens from its prefix cache, by its own counters, which shortens the TTFT", 100*c.Cached)
	case c.By == records.CacheByControl && c.Verdict == records.CacheWarm:
		n.Text = fmt.Sprintf("the prefix cache is warm, which shortens the TTFT: %s, and %s", repeat, pairs)
	case c.By == records.CacheByControl:
		n.Doubt, n.Text = false, fmt.Sprintf("no prefix cache shortens the TTFT: %s, but %s", repeat, pairs)
	case c.Verdict == records.CacheUnknown && c.Pairs > 0:
		n.Text = fmt.Sprintf("cannot tell whether a prefix cache shortens the TTFT: %s, and %s, which decides nothing", repeat, pairs)
	case c.Verdict == records.CacheUnknown && c.Repeated > 0 && float64(c.Repeated) > manyRepeated*float64(c.Prompts):
		n.Text = fmt.Sprintf("cannot tell whether a prefix cache shortens the TTFT: %s, and the server states nothing", repeat)
	default:
		return nil
	}
	return []records.Note{n}
}

// controlCache sends up to n pairs of requests: one of the given ones again, evenly chosen, and a new one of the
// same words in another order. Fewer than n requests are sent again more than once. The random choices depend on seed. It ends early with ctx, and after a request that failed.
func (c *client) controlCache(ctx context.Context, l *Load, requests Lazy, n int, seed uint64) (pairs []prefix.Pair) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := newWorker(c, l, conn.NewClock(conn.WallClock), nil)
	w.cache = true
	for i := range n {
		again := requests.At(i * requests.N / n)
		again.Then, again.Check = nil, nil
		again.MaxTokens = min(again.MaxTokens, controlOutput)
		both := []Request{again, again.shuffled(r)}
		var took [2]time.Duration
		first := r.IntN(2)
		for _, k := range []int{first, 1 - first} {
			p, err := newPost(l, c.target, both[k])
			if err != nil {
				return pairs
			}
			s := w.do(ctx, p, 0, false)
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
