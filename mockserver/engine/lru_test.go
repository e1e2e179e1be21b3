package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A pool is an independent implementation of vLLM's prefix cache (free_blocks, get_new_blocks and touch in vllm/v1/core/block_pool.py of
// https://github.com/vllm-project/vllm, since version 0.24, and docs/design/prefix_caching.md): blocks have numbers, free ones are in a
// queue from which the first is taken, and freed ones with a name go to its end, others to its beginning.
type pool struct {
	size  int              // tokens in a block
	names []uint64         // of each block; 0 if it has none
	users []int            // of each block
	free  []int            // blocks
	named map[uint64][]int // blocks, in the order of naming

	most      int      // number of blocks in the second cache
	loads     int      // number of blocks that were loaded from it
	offloaded []uint64 // the least recently used first
}

// A held has what the pool gave a sequence.
type held struct{ blocks []int }

func newPool(blocks, size, most int) *pool {
	p := &pool{size: size, most: most, names: make([]uint64, blocks), users: make([]int, blocks), named: map[uint64][]int{}}
	for b := range blocks {
		p.free = append(p.free, b)
	}
	return p
}

// grow gives a sequence blocks for n tokens.
func (p *pool) grow(h *held, n int) {
	for len(h.blocks)*p.size < n {
		h.blocks = append(h.blocks, p.get())
	}
}

// get returns a free block, which is then in use.
func (p *pool) get() int {
	b := p.free[0]
	p.free = p.free[1:]
	if name := p.names[b]; name != 0 {
		p.named[name] = slices.DeleteFunc(p.named[name], func(other int) bool { return other == b })
		p.names[b] = 0
		if len(p.named[name]) == 0 {
			p.offload(name)
		}
	}
	p.users[b]++
	return b
}

// offload puts a name at the end of the second cache.
func (p *pool) offload(name uint64) {
	p.offloaded = append(slices.DeleteFunc(p.offloaded, func(other uint64) bool { return other == name }), name)
	p.offloaded = p.offloaded[max(0, len(p.offloaded)-p.most):]
}

// admit gives a sequence the blocks of its prompt and of one token, and returns how many tokens are in a cache.
func (p *pool) admit(h *held, j Job) int {
	for _, name := range j.Prefix {
		if len(p.named[name]) == 0 && !slices.Contains(p.offloaded, name) || (len(h.blocks)+1)*p.size == j.Prompt {
			break
		}
		b := -1 // offloaded
		if len(p.named[name]) > 0 {
			b = p.named[name][0]
			if p.users[b] == 0 {
				p.free = slices.DeleteFunc(p.free, func(other int) bool { return other == b })
			}
			p.users[b]++
		}
		h.blocks = append(h.blocks, b)
	}
	cached := len(h.blocks) * p.size
	for i, b := range h.blocks {
		if b < 0 {
			p.offload(j.Prefix[i])
		}
	}
	for i, b := range h.blocks {
		if b < 0 {
			h.blocks[i] = p.get()
			p.loads++
		}
	}
	p.name(h, j.Prefix[:len(h.blocks)])
	p.grow(h, j.Prompt+1)
	return cached
}

// name names the blocks of a prompt that has been computed.
func (p *pool) name(h *held, names []uint64) {
	for i, name := range names {
		if b := h.blocks[i]; p.names[b] == 0 {
			p.names[b] = name
			p.named[name] = append(p.named[name], b)
		}
	}
}

// release frees the blocks of a sequence from last to first.
func (p *pool) release(h *held) {
	for _, b := range slices.Backward(h.blocks) {
		if p.users[b]--; p.users[b] > 0 {
			continue
		}
		if p.names[b] == 0 {
			p.free = slices.Insert(p.free, 0, b)
		} else {
			p.free = append(p.free, b)
		}
	}
}

// watch returns a watcher that does in a pool what an engine does, and calls check with the tokens that the pool has for each sequence.
func (p *pool) watch(check func(s *Sequence, cached int)) Watcher {
	all := map[*Sequence]*held{}
	return Watcher{
		Admitted: func(s *Sequence, _ time.Duration) {
			all[s] = &held{}
			check(s, p.admit(all[s], s.Job))
		},
		Token: func(s *Sequence, at time.Duration) {
			if s.First == at && s.Tokens() == 1 {
				p.name(all[s], s.Job.Prefix)
			}
			p.grow(all[s], s.length())
		},
		Ended: func(s *Sequence, _ time.Duration) {
			if h := all[s]; h != nil {
				p.release(h)
			}
		},
	}
}

// sessionCalls draws calls whose prompts go on with earlier prompts, or with a part of them, or are the same again.
func sessionCalls(r *rand.Rand, size, n int) []call {
	type session struct {
		names []uint64
		rest  int
	}
	var sessions []session
	var calls []call
	var now time.Duration
	next := uint64(0)
	for range n {
		var s session
		if len(sessions) > 0 && r.IntN(4) > 0 {
			s = sessions[r.IntN(len(sessions))]
			s.names = slices.Clone(s.names[:len(s.names)-r.IntN(min(3, len(s.names)+1))])
		}
		for range r.IntN(4) {
			next++
			s.names = append(s.names, next)
		}
		s.rest = r.IntN(2) * r.IntN(size)
		sessions = append(sessions, s)
		now += time.Duration(r.IntN(2)*r.IntN(300)) * time.Millisecond
		c := call{at: now, job: Job{Prompt: len(s.names)*size + s.rest, Prefix: s.names, Output: 1 + r.IntN(3*size)}}
		if r.IntN(8) == 0 {
			c.gone = c.at + time.Duration(r.IntN(300))*time.Millisecond
		}
		calls = append(calls, c)
	}
	return calls
}

// TestCacheIsLRU compares what the prefix cache has for each of random prompts, at random sizes and with several sequences at a time, with vLLM's
// cache.
func TestCacheIsLRU(t *testing.T) {
	hits, evicted, loaded := 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := randomProfile(r)
		p.PrefixCache, p.MaxBatch, p.MaxQueue, p.MaxContext, p.Watermark = true, 1+r.IntN(4), 0, 0, 0
		p.OffloadBlocks = r.IntN(2) * r.IntN(60)
		p.Step++ // above 0, so that time passes
		calls := sessionCalls(r, p.Block(), 80)
		most := 0
		for _, c := range calls {
			most = max(most, (c.job.Prompt+c.job.Output)/p.Block()+1)
		}
		p.KVBlocks = p.MaxBatch*most + r.IntN(4*most) // so that none is preempted
		reference := newPool(p.KVBlocks, p.Block(), p.OffloadBlocks)
		e, err := New(p, reference.watch(func(s *Sequence, cached int) {
			if s.Cached != cached {
				t.Errorf("seed %d, %d blocks of %d: the prompt %d of %d tokens has %d in the cache, want %d", seed, p.KVBlocks, p.Block(), s.Job.Prefix, s.Job.Prompt, s.Cached, cached)
			}
			hits += cached
		}))
		if err != nil {
			t.Fatal(err)
		}
		seqs := make([]*Sequence, len(calls))
		for _, ev := range eventsOf(calls) {
			if ev.gone {
				e.Cancel(ev.at, seqs[ev.i])
			} else if seqs[ev.i], err = e.Submit(ev.at, calls[ev.i].job); err != nil {
				t.Fatal(err)
			}
		}
		e.Advance(horizon)
		if e.Counts().Preempted > 0 {
			t.Fatalf("seed %d: %d sequences were preempted, want none", seed, e.Counts().Preempted)
		}
		distinct := map[uint64]bool{}
		for _, c := range calls {
			for _, name := range c.job.Prefix {
				distinct[name] = true
			}
		}
		loaded += reference.loads
		evicted += max(0, len(distinct)-p.KVBlocks)
		if t.Failed() {
			return
		}
	}
	if hits < 100_000 || evicted < 1000 || loaded < 1000 {
		t.Errorf("%d tokens were in the cache, at least %d blocks dropped and %d loaded, want 100000, 1000 and 1000 or more", hits, evicted, loaded)
	}
}
