package vocab

import (
	"encoding/binary"
	"strings"
)

// A Sink receives each token of a prompt, in order. A nil Sink receives nothing.
type Sink func(token string)

// Words passes the words of a text, which are its tokens, to the sink and returns
// their number.
func (s Sink) Words(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		n++
		if s != nil {
			s(word)
		}
	}
	return n
}

// IDs passes tokens that are given as ids to the sink and returns their number.
func (s Sink) IDs(ids []uint32) int {
	if s != nil {
		for _, id := range ids {
			s(string(binary.LittleEndian.AppendUint32(nil, id)))
		}
	}
	return len(ids)
}

// Blocks computes the names of a prompt's blocks for a prefix cache. The name of a
// block covers the block and everything before it, so two prompts share the names
// of the blocks in which they begin alike.
type Blocks struct {
	size  int // tokens in a block, 0 for no names
	n     int // tokens so far
	hash  uint64
	names []uint64
}

// NewBlocks returns the computation for blocks of that many tokens; 0 means that
// there is no prefix cache, and no names.
func NewBlocks(size int) *Blocks { return &Blocks{size: size} }

// Sink returns the sink for the prompt's tokens.
func (b *Blocks) Sink() Sink {
	if b.size == 0 {
		return nil
	}
	return b.add
}

// Names returns the names of the blocks that are full.
func (b *Blocks) Names() []uint64 { return b.names }

func (b *Blocks) add(token string) {
	b.hash = hash(b.hash, token)
	if b.n++; b.n%b.size == 0 {
		b.names = append(b.names, b.hash)
	}
}

// hash continues a 64-bit FNV-1a hash with a token and a byte that ends it.
// http://www.isthe.com/chongo/tech/comp/fnv/
func hash(h uint64, token string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h ^= offset
	for i := range len(token) {
		h = (h ^ uint64(token[i])) * prime
	}
	return (h ^ 0xff) * prime // no UTF-8 text contains the byte 0xff
}
