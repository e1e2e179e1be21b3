package engine

import (
	"math"
	"slices"
)

// A cache is the KV cache. It counts the blocks in use and knows which prompt prefixes are
// cached. A block with a name holds a part of a prompt that other prompts can share. If no
// sequence uses a named block, the block is idle. Idle blocks count as free: when room is
// needed, blocks without a name are used first, and then the least recently used idle block is
// dropped. This is what vLLM does since version 0.24 (free_blocks in vllm/v1/core/block_pool.py,
// https://docs.vllm.ai/en/latest/design/prefix_caching/), except that vLLM names blocks
// of output, too.
type cache struct {
	blockSize int               // tokens in a block
	total     int               // number of blocks, math.MaxInt if there is no limit
	watermark int               // number of blocks that an admission must leave free
	used      int               // number of blocks that sequences use; a shared block counts once
	named     map[uint64]*block // the first of the blocks with a name
	idle      block             // head of the ring of idle blocks; idle.next is the least recently used
	idleCount int
	offloaded tier
	// residues[r] is the number of decoding sequences with (length - step count of the
	// engine) mod blockSize = r. These numbers determine how many blocks the sequences need
	// in the next m steps.
	residues []int
}

// A block is a block of the KV cache that has a name. Sequences that compute the same prompt at the same
// time have a block each with the same name.
type block struct {
	name       uint64
	users      int
	twin       *block // the block that got the same name next
	prev, next *block // neighbors in the ring of idle blocks; nil if the block is in use
}

func newCache(p *Profile) cache {
	c := cache{blockSize: p.Block(), total: p.KVBlocks, watermark: int(p.Watermark * float64(p.KVBlocks))}
	if c.total == 0 {
		c.total = math.MaxInt
	}
	if p.PrefixCache {
		c.named, c.offloaded = map[uint64]*block{}, tier{size: p.OffloadBlocks, named: map[uint64]*block{}}
	}
	c.residues = make([]int, c.blockSize)
	return c
}

// blocksFor returns the number of blocks that the tokens need.
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
	switch first := c.named[b.name]; {
	case first != b:
		for first.twin != b {
			first = first.twin
		}
		first.twin = b.twin
	case b.twin != nil:
		c.named[b.name] = b.twin
	default:
		delete(c.named, b.name)
		c.offloaded.put(b.name)
	}
}

// push puts a block at the end of the ring with this head.
func (head *block) push(b *block) {
	if head.next == nil {
		head.next, head.prev = head, head
	}
	b.prev, b.next = head.prev, head
	b.prev.next, head.prev = b, b
}

// A tier has the blocks that were dropped last, outside of the KV cache. A block that is loaded from it stays there.
type tier struct {
	size  int
	named map[uint64]*block
	ring  block // ring.next is the least recently used
}

// put puts a block into the tier, or marks one that is there as used.
func (t *tier) put(name uint64) {
	b := t.named[name]
	switch {
	case t.size == 0:
		return
	case b != nil:
		b.unlink()
	default:
		b = &block{name: name}
		t.named[name] = b
	}
	if t.ring.push(b); len(t.named) > t.size {
		delete(t.named, t.ring.next.name)
		t.ring.next.unlink()
	}
}

// unlink takes an idle block out of the ring.
func (b *block) unlink() {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
}

// match returns how many of the names at the beginning of the list are in the cache or offloaded.
func (c *cache) match(names []uint64) int {
	if c.named == nil {
		return 0
	}
	for i, name := range names {
		if c.named[name] == nil && c.offloaded.named[name] == nil {
			return i
		}
	}
	return len(names)
}

// share gives a sequence the blocks with these names, which must be in the cache or offloaded. It appends them to held, the blocks
// that the sequence already has, and returns the number of those that were loaded.
func (c *cache) share(held []*block, names []uint64) (all []*block, loaded int) {
	first := len(held)
	for _, name := range names {
		b := c.named[name]
		held = append(held, b)
		if b == nil {
			c.offloaded.put(name)
			loaded++
			continue
		}
		if b.users == 0 {
			b.unlink()
			c.idleCount--
			c.take(1)
		}
		b.users++
	}
	if loaded == 0 {
		return held, 0
	}
	c.take(loaded)
	for i, name := range names {
		if held[first+i] == nil {
			held[first+i] = c.name(name)
		}
	}
	return held, loaded
}

// countFree returns how many free blocks a sequence needs for the first n of the names, which are in the cache or offloaded: for the
// idle blocks, which count as free, and for those that are offloaded.
func (c *cache) countFree(names []uint64, n int) int {
	count := 0
	for _, name := range names[:n] {
		if b := c.named[name]; b == nil || b.users == 0 {
			count++
		}
	}
	return count
}

// name returns a block in use with a name.
func (c *cache) name(name uint64) *block {
	b := &block{name: name, users: 1}
	if last := c.named[name]; last == nil {
		c.named[name] = b
	} else {
		for last.twin != nil {
			last = last.twin
		}
		last.twin = b
	}
	return b
}

// nameBlocks names the blocks of a prompt that has been computed. held are the sequence's
// blocks that already have names; nameBlocks appends the newly named blocks to them.
func (c *cache) nameBlocks(held []*block, names []uint64) []*block {
	if c.named == nil {
		return held
	}
	for _, name := range names[len(held):] {
		held = append(held, c.name(name))
	}
	return held
}

// release frees all blocks of a sequence: the named blocks in held, and the sequence's other
// blocks. total is the number of both. A named block without users becomes idle. The blocks
// become idle from last to first, so that the end of a prompt is dropped before its
// beginning.
func (c *cache) release(held []*block, total int) {
	c.used -= total - len(held)
	for _, b := range slices.Backward(held) {
		if b.users--; b.users > 0 {
			continue
		}
		c.used--
		c.idle.push(b)
		c.idleCount++
	}
}

// reset drops all idle blocks, and those that are offloaded.
func (c *cache) reset() {
	for c.idleCount > 0 {
		c.forget(c.idle.next)
	}
	c.offloaded = tier{size: c.offloaded.size, named: map[uint64]*block{}}
}

// residue returns the index in residues for a sequence, given its length and the engine's
// step count.
func (c *cache) residue(length, steps int) int {
	return ((length-steps)%c.blockSize + c.blockSize) % c.blockSize
}

// growth returns how many more blocks the b decoding sequences need in the next m steps, if
// each step adds one token to each sequence. steps is the engine's step count.
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
