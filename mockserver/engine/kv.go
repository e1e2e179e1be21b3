package engine

import "math"

// A cache is the KV cache: how many blocks are in use, and which hold the
// beginnings of prompts. Blocks that nobody uses but that hold such a beginning
// are free, too: they are dropped, the longest unused first, when room is needed.
type cache struct {
	size      int // tokens in a block
	total     int // blocks, math.MaxInt without a limit
	watermark int // blocks
	used      int // by sequences, each once
	named     map[uint64]*block
	idle      block // head of the ring of named blocks that no sequence uses, the longest unused next
	idles     int
	// places[r] is how many decoding sequences there are whose length, less the
	// engine's step count, is r modulo size. Which of them need another block in
	// the next m steps depends on nothing else.
	places []int
}

// A block is one with a name.
type block struct {
	name       uint64
	users      int
	prev, next *block // in the ring, while there are no users
}

func newCache(p *Profile) cache {
	c := cache{size: p.Block(), total: p.KVBlocks, watermark: int(p.Watermark * float64(p.KVBlocks))}
	if c.total == 0 {
		c.total = math.MaxInt
	}
	if p.PrefixCache {
		c.named = map[uint64]*block{}
	}
	c.places = make([]int, c.size)
	return c
}

// need is the number of blocks that so many tokens fill, the last maybe in part.
func (c *cache) need(tokens int) int { return (tokens + c.size - 1) / c.size }

// free is the number of blocks that no sequence uses.
func (c *cache) free() int { return c.total - c.used }

// take puts so many blocks, which are free, into use.
func (c *cache) take(n int) {
	c.used += n
	for c.idles > c.total-c.used {
		c.forget(c.idle.next)
	}
}

// forget drops an idle block.
func (c *cache) forget(b *block) {
	b.unlink()
	c.idles--
	delete(c.named, b.name)
}

func (b *block) unlink() {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
}

// match returns how many of the first names are in the cache.
func (c *cache) match(names []uint64) int {
	if c.named == nil {
		return 0
	}
	for i, name := range names {
		if c.named[name] == nil {
			return i
		}
	}
	return len(names)
}

// share gives the sequence the first n blocks of its prefix, which are in the
// cache.
func (c *cache) share(s *Sequence, n int) {
	for _, name := range s.Job.Prefix[:n] {
		b := c.named[name]
		if b.users == 0 {
			b.unlink()
			c.idles--
			c.take(1)
		}
		b.users++
		s.blocks = append(s.blocks, b)
	}
}

// unused returns how many of the first n blocks of a prefix nobody uses: sharing
// them takes room.
func (c *cache) unused(names []uint64, n int) int {
	count := 0
	for _, name := range names[:n] {
		if c.named[name].users == 0 {
			count++
		}
	}
	return count
}

// keep names the blocks of a prompt that has been computed and that the sequence
// has to itself.
func (c *cache) keep(s *Sequence) {
	if c.named == nil {
		return
	}
	for _, name := range s.Job.Prefix[len(s.blocks):] {
		if c.named[name] != nil {
			return // somebody else was quicker; one's own copies stay one's own
		}
		b := &block{name: name, users: 1}
		c.named[name] = b
		s.blocks = append(s.blocks, b)
	}
}

// release takes a sequence's blocks, so many in all, out of use. Those with names
// stay, idle: the last of them is the first to be dropped.
func (c *cache) release(s *Sequence, held int) {
	c.used -= held - len(s.blocks)
	for i := len(s.blocks) - 1; i >= 0; i-- {
		b := s.blocks[i]
		if b.users--; b.users > 0 {
			continue
		}
		c.used--
		if c.idle.next == nil {
			c.idle.next, c.idle.prev = &c.idle, &c.idle
		}
		b.prev, b.next = c.idle.prev, &c.idle
		b.prev.next, c.idle.prev = b, b
		c.idles++
	}
	s.blocks = s.blocks[:0]
}

// reset drops what no sequence uses.
func (c *cache) reset() {
	for c.idles > 0 {
		c.forget(c.idle.next)
	}
}

// place is the class of a sequence of that length at a step count.
func (c *cache) place(length, steps int) int {
	return ((length-steps)%c.size + c.size) % c.size
}

// growth is how many blocks all decoding sequences together fill newly in m steps
// from that step count on, b of them, a token each.
func (c *cache) growth(b, steps, m int) int {
	whole, rest := m/c.size, m%c.size
	n := whole * b
	if rest == 0 {
		return n
	}
	x := steps % c.size // length modulo size of those in place 0
	for _, count := range c.places {
		if x == 0 || x > c.size-rest {
			n += count
		}
		if x++; x == c.size {
			x = 0
		}
	}
	return n
}
