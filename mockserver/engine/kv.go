package engine

import (
	"math"
	"slices"
)

// A cache is the KV cache: how many blocks are in use, and which blocks hold the
// beginnings of prompts. A named block that no sequence uses is idle. Idle blocks
// count as free: they are dropped, in the order of their last use, when their room
// is needed.
type cache struct {
	blockSize int // tokens in a block
	total     int // blocks, math.MaxInt without a limit
	watermark int // blocks
	used      int // blocks that sequences use; a shared block counts once
	named     map[uint64]*block
	idle      block // head of the ring of idle blocks; next is the one unused for longest
	idleCount int
	// residues[r] is the number of decoding sequences whose length minus the engine's
	// step count is r modulo blockSize. The number of blocks that they need in the
	// next m steps depends on nothing else.
	residues []int
}

// A block is a block with a name.
type block struct {
	name       uint64
	users      int
	prev, next *block // in the ring, while it is idle
}

func newCache(p *Profile) cache {
	c := cache{blockSize: p.Block(), total: p.KVBlocks, watermark: int(p.Watermark * float64(p.KVBlocks))}
	if c.total == 0 {
		c.total = math.MaxInt
	}
	if p.PrefixCache {
		c.named = map[uint64]*block{}
	}
	c.residues = make([]int, c.blockSize)
	return c
}

// blocksFor returns the number of blocks for that many tokens.
func (c *cache) blocksFor(tokens int) int { return (tokens + c.blockSize - 1) / c.blockSize }

// free returns the number of blocks that no sequence uses.
func (c *cache) free() int { return c.total - c.used }

// take puts n free blocks into use.
func (c *cache) take(n int) {
	c.used += n
	for c.idleCount > c.total-c.used {
		c.forget(c.idle.next)
	}
}

// forget drops an idle block.
func (c *cache) forget(b *block) {
	b.unlink()
	c.idleCount--
	delete(c.named, b.name)
}

// unlink takes an idle block out of the ring.
func (b *block) unlink() {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
}

// match returns how many names, up to the first that is not, are in the cache.
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

// share puts the named blocks, which are in the cache, into use by one more sequence
// and appends them to those it holds.
func (c *cache) share(held []*block, names []uint64) []*block {
	for _, name := range names {
		b := c.named[name]
		if b.users == 0 {
			b.unlink()
			c.idleCount--
			c.take(1)
		}
		b.users++
		held = append(held, b)
	}
	return held
}

// countIdle returns how many of the blocks with the first n names are idle. A sequence
// that shares an idle block takes a block of the room that is left.
func (c *cache) countIdle(names []uint64, n int) int {
	count := 0
	for _, name := range names[:n] {
		if c.named[name].users == 0 {
			count++
		}
	}
	return count
}

// nameBlocks gives names to the blocks of a prompt that has been computed, except for
// those that the sequence holds with a name already, and appends them to those.
func (c *cache) nameBlocks(held []*block, names []uint64) []*block {
	if c.named == nil {
		return held
	}
	for _, name := range names[len(held):] {
		if c.named[name] != nil {
			break // another sequence has named its own copies of the rest
		}
		b := &block{name: name, users: 1}
		c.named[name] = b
		held = append(held, b)
	}
	return held
}

// release takes the blocks of a sequence out of use: its named blocks, and others up
// to the total. A named block without users becomes idle. The last block of a prompt
// will be dropped first.
func (c *cache) release(held []*block, total int) {
	c.used -= total - len(held)
	for _, b := range slices.Backward(held) {
		if b.users--; b.users > 0 {
			continue
		}
		c.used--
		if c.idle.next == nil {
			c.idle.next, c.idle.prev = &c.idle, &c.idle
		}
		b.prev, b.next = c.idle.prev, &c.idle
		b.prev.next, c.idle.prev = b, b
		c.idleCount++
	}
}

// reset drops all idle blocks.
func (c *cache) reset() {
	for c.idleCount > 0 {
		c.forget(c.idle.next)
	}
}

// residue returns the index in residues of a sequence of that length at a step
// count.
func (c *cache) residue(length, steps int) int {
	return ((length-steps)%c.blockSize + c.blockSize) % c.blockSize
}

// growth returns how many blocks b decoding sequences need in the m steps from a step
// count on, with one token per step and sequence.
func (c *cache) growth(b, steps, m int) int {
	whole, rest := m/c.blockSize, m%c.blockSize
	n := whole * b
	if rest == 0 {
		return n
	}
	x := steps % c.blockSize // the length, modulo blockSize, of the sequences with residue 0
	for _, count := range c.residues {
		if x == 0 || x > c.blockSize-rest {
			n += count
		}
		if x++; x == c.blockSize {
			x = 0
		}
	}
	return n
}
