package llmbench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// controlTime is the maximum duration of the control, the requests that test after the passes whether
	// the prefix cache is warm.
	controlTime = 30 * time.Second
	// controlOutput is the maximum number of output tokens that a request of the control asks for. Some
	// APIs allow no fewer.
	controlOutput = 16
)

// judgeCache writes to the records whether the server answered prompts from its prefix cache. If many
// prompts repeat and the server does not report cached tokens, judgeCache tests the cache with a control.
// If the control finds that the cache is warm, judgeCache adds the unit warm-cache to metrics. It returns
// notes for the reader of the metrics.
//
// The control runs after the passes, so it cannot change their metrics. It is skipped if the prompts are
// new or if the server reports cached tokens. It sends pairs of requests, one request at a time: a request
// of the last pass again, and a new request with the same words in another order. Chance decides which of
// the two is sent first. The new requests differ in each process, whatever the salt, because a server may
// have seen the prompts of an earlier process. The control finds the state of the cache after the passes: a
// prompt that a long pass has evicted from the cache counts as cold.
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

// toleratedHits is the largest difference between the hit rates that should be equal, in percentage points, that is not told.
const toleratedHits = 5

// tellHits tells if the prefix hits of sessions that their prompts imply, that answers state and that the server's metrics have differ.
func (r *run) tellHits(metrics map[string]float64) {
	var texts, units []string
	low, high := math.Inf(1), math.Inf(-1)
	for _, of := range [...]struct{ unit, by string }{{"implied-hit-%", "the prompts"}, {sample.CachedShare, "the usage of answers"}, {sample.ServerHitShare, "the server's metrics"}} {
		if v, known := metrics[of.unit]; known {
			texts, units = append(texts, fmt.Sprintf("%.1f %% by %s (%s)", v, of.by, of.unit)), append(units, of.unit)
			low, high = min(low, v), max(high, v)
		}
	}
	if len(units) > 1 && high-low > toleratedHits && r.prompts.sessions {
		r.tell(records.Note{Kind: records.NoteServer, Units: units}, "prefix hits differ: %s. Fewer than the prompts imply: the cache is too small for the sessions at once, or a router sends a session to several servers, or a chat template or a limit on what is cached changes the beginning of prompts. The metrics count all requests of the pass, with its warm-up", strings.Join(texts, ", "))
	}
}

// controlCache sends up to n pairs of requests: one of the given requests again, and a new request with the
// same words in another order. The given requests are chosen at even distances. If there are fewer than n,
// some are sent more than once. The seed determines the random choices. controlCache stops when ctx ends,
// and after a request that failed.
func controlCache(ctx context.Context, c *send.Client, t Target, l *Load, requests source, n int, seed uint64) (pairs []prefix.Pair) {
	r := rand.New(rand.NewPCG(seed, 1))
	options := l.options()
	w := send.NewWorker(c, &options, c.Clock(), nil)
	w.Prefix = "-cache"
	for i := range n {
		again := requests.at(i * requests.n / n)
		again.Then, again.Skip, again.Check = nil, 0, nil
		again.MaxTokens = min(again.MaxTokens, controlOutput)
		both := []Request{again, again.shuffled(r)}
		var took [2]time.Duration
		first := r.IntN(2)
		for _, k := range []int{first, 1 - first} {
			p, err := newPost(l, t, both[k])
			if err != nil {
				return pairs
			}
			t.countAside(1, "completions of controls of the prefix cache")
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
