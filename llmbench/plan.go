package llmbench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// A plan is the requests of a pass, which have been checked. Their posts are built a bounded
// number ahead.
type plan struct {
	requests int
	samples  int                   // of all requests: one for each turn
	part     shard.Part            // of this process
	own      []int                 // the requests of the part; nil: all
	ahead    int                   // how many posts wait to be sent
	digest   string                // see newDigest; "" for a process that measures alone
	build    func(i int) send.Post // builds the post of a request
	unsent   func(i int) send.Post // the same without a body, for a request that is not sent
	source   Lazy                  // the requests
	openings []prefix.Opening      // of the first maxOpenings requests, and of their sessions' further turns
}

// maxOpenings is how many openings of prompts a plan has at most.
const maxOpenings = 1 << 20

const (
	// maxWaiting is how many posts wait to be sent at most.
	maxWaiting = 1024
	// maxWaitingBytes is how many bytes their bodies may have together, unless one body has more.
	maxWaitingBytes = 64 << 20
)

// newPlan checks requests. It builds each body once, so that a request that the dialect cannot
// express is an error before the pass.
func newPlan(l *Load, t Target, requests []Request) (*plan, error) {
	return newLazyPlan(l, t, Lazy{len(requests), func(i int) Request { return requests[i] }})
}

// plan returns the plan of l for each pass. Fresh must be nil.
func (l *Load) plan(t Target) (*plan, error) {
	if l.Lazy.N > 0 {
		return newLazyPlan(l, t, l.Lazy)
	}
	return newPlan(l, t, l.Requests)
}

// newLazyPlan is newPlan for requests that are not in memory.
func newLazyPlan(l *Load, t Target, requests Lazy) (*plan, error) {
	pl := &plan{requests: requests.N, source: requests}
	var digest digest
	if l.digest {
		digest.hash = sha256.New()
	}
	largest := 1
	for i := range requests.N {
		r := requests.At(i)
		p, err := checkRequest(l, t, r)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		largest = max(largest, len(p.Body))
		pl.samples += 1 + len(r.Then)
		digest.add(i, p, r.Then)
		for range min(1+len(r.Then), maxOpenings-len(pl.openings)) { // each turn repeats the first one
			pl.openings = append(pl.openings, r.opening())
		}
	}
	pl.ahead = min(requests.N, maxWaiting, max(1, maxWaitingBytes/largest))
	leaves := planLeaves(l.Cancel, requests)
	pl.digest = digest.sum(leaves)
	pl.build = func(i int) send.Post {
		p, err := newPost(l, t, requests.At(i))
		if err != nil {
			panic(fmt.Sprintf("llmbench: request %d was valid before the pass: %v", i, err))
		}
		p.Request, p.Leave = i, leaves[i]
		return p
	}
	pl.unsent = func(i int) send.Post { return send.Post{Request: i, Turns: turns(requests.At(i).Then)} }
	return pl, nil
}

// divide leaves this process its part of a plan for l.
func (pl *plan) divide(part shard.Part, l *Load) {
	pl.part, pl.own = part, part.Requests(pl.requests, l.Concurrency+l.MaxInFlight)
	if pl.own == nil {
		pl.own = []int{}
	}
	pl.ahead = min(pl.ahead, len(pl.own))
}

// count returns the number of requests of this process.
func (pl *plan) count() int {
	if pl.own == nil {
		return pl.requests
	}
	return len(pl.own)
}

// index returns the index of this process's k-th request among all.
func (pl *plan) index(k int) int {
	if pl.own == nil {
		return k
	}
	return pl.own[k]
}

// posts returns the posts of this process.
func (pl *plan) posts() send.Posts {
	return send.Posts{
		N:      pl.count(),
		Ahead:  pl.ahead,
		Index:  pl.index,
		Build:  func(k int) send.Post { return pl.build(pl.index(k)) },
		Unsent: func(k int) send.Post { return pl.unsent(pl.index(k)) },
	}
}

// pass returns what this process sends of a plan for l. The error says that the arrivals have no schedule.
func (pl *plan) pass(l *Load) (*send.Pass, error) {
	p := &send.Pass{
		Options:     l.options(),
		Shard:       pl.part.Index,
		Posts:       pl.posts(),
		Limit:       l.PassTimeout,
		Workers:     l.Concurrency,
		MaxInFlight: l.MaxInFlight,
		Offset:      time.Duration(pl.part.Worker(0)) * max(0, l.Stagger),
		Stagger:     time.Duration(pl.part.Stride()) * max(0, l.Stagger),
	}
	if pl.own != nil {
		p.Workers, p.MaxInFlight = pl.part.Workers(l.Concurrency), pl.part.Workers(l.MaxInFlight)
	}
	var err error
	if l.Arrivals != nil {
		p.Due, err = arrivals.Schedule(l.Arrivals, pl.requests)
	}
	return p, err
}

// options returns how answers are asked for and read.
func (l *Load) options() send.Options {
	return send.Options{Stream: !l.NoStream, Timeout: l.Timeout, IdleTimeout: l.IdleTimeout, KeepText: l.KeepText, Tokenizer: l.Tokenizer, Compared: l.tokenized}
}

// A digest is a hash of what all processes send together: the path and the body of each request, its
// further turns, which of them are checked, and when its client leaves. The zero digest stands for a process alone, and hashes
// nothing.
type digest struct{ hash hash.Hash }

// add adds the request of an index.
func (d digest) add(i int, p send.Post, then []Turn) {
	if d.hash == nil {
		return
	}
	fmt.Fprintf(d.hash, "%d %s %d %s %t\n", i, p.Path, len(p.Body), p.Body, p.Check != nil)
	for _, t := range then {
		fmt.Fprintf(d.hash, "%q %d %t %v %t\n", t.Prompt, t.MaxTokens, t.FixedOutput, t.Think, t.Check != nil)
	}
}

// sum returns the hash, with the clients that leave.
func (d digest) sum(leaves map[int]send.Leave) string {
	if d.hash == nil {
		return ""
	}
	for _, i := range slices.Sorted(maps.Keys(leaves)) {
		fmt.Fprintf(d.hash, "%d %+v\n", i, leaves[i])
	}
	return hex.EncodeToString(d.hash.Sum(nil)[:8])
}

// newPost returns the post for r.
func newPost(l *Load, t Target, r Request) (send.Post, error) {
	if len(r.Then) > 0 {
		r.Messages = r.conversation()
	}
	d := t.dialect()
	q := dialect.Query{
		Model:       t.Model,
		Prompt:      r.Prompt,
		Messages:    r.Messages,
		MaxTokens:   r.MaxTokens,
		FixedOutput: r.FixedOutput,
		Stream:      !l.NoStream,
		Tools:       r.Tools,
		Schema:      r.Schema,
	}
	body, err := d.Body(q)
	if err == nil && len(t.Body) > 0 {
		body, err = mergepatch.Apply(body, t.Body)
	}
	p := send.Post{Path: d.Path(q), Body: body, Chars: r.chars(), PromptTokens: r.PromptTokens, MaxTokens: r.MaxTokens, FixedOutput: r.FixedOutput, Check: r.Check}
	if len(r.Then) > 0 {
		p.Turns = turns(r.Then)
		p.Next = func(replies []string) (send.Post, error) { return newPost(l, t, r.after(replies)) }
	}
	return p, err
}

// checkRequest returns an error if r cannot be sent, or its post. The further turns of a session are
// checked without the replies.
func checkRequest(l *Load, t Target, r Request) (send.Post, error) {
	if len(r.Then) > 0 && (len(r.Tools) > 0 || len(r.Schema) > 0) {
		return send.Post{}, errors.New("a session with tools or a schema; its replies are texts")
	}
	for i, turn := range r.Then {
		if turn.Think < 0 {
			return send.Post{}, fmt.Errorf("turn %d: think time %v; must be at least 0", i+1, turn.Think)
		}
		if _, err := newPost(l, t, turn.request(r.conversation())); err != nil {
			return send.Post{}, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return newPost(l, t, r)
}

// planLeaves draws which clients leave, and when, by the index of their request.
func planLeaves(c Cancel, requests Lazy) map[int]send.Leave {
	leaves := map[int]send.Leave{}
	if c.Share == 0 {
		return leaves
	}
	r := rand.New(rand.NewPCG(c.Seed, 0x6c6566742d656172))
	n := int(math.Round(c.Share * float64(requests.N)))
	for _, i := range r.Perm(requests.N)[:n] {
		l := send.Leave{Turn: r.IntN(1 + len(requests.At(i).Then))}
		if c.Deltas > 0 {
			l.Deltas = 1 + r.IntN(c.Deltas)
		} else {
			l.After = 1 + time.Duration(r.Int64N(int64(c.Time)))
		}
		leaves[i] = l
	}
	return leaves
}

// turns returns the further turns of a session as they are sent.
func turns(then []Turn) (all []send.Turn) {
	for _, t := range then {
		all = append(all, send.Turn{Think: t.Think, Check: t.Check})
	}
	return all
}
