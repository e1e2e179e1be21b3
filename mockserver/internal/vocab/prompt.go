package vocab

import (
	"encoding/binary"
	"strings"
)

// A Sink is called with each token of a prompt, in order. A nil Sink ignores the tokens.
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

// IDs passes token ids to the sink, each as a token, and returns the number of ids.
func (s Sink) IDs(ids []uint32) int {
	if s != nil {
		for _, id := range ids {
			s(string(binary.LittleEndian.AppendUint32(nil, id)))
		}
	}
	return len(ids)
}

// Blocks computes the names of a prompt's blocks for a prefix cache. The name of a block is
// a hash of the block and everything before it. So two prompts have the same names for the
// blocks in their common beginning.
type Blocks struct {
	size  int // number of tokens in a block; 0 if blocks have no names
	n     int // number of tokens so far
	hash  uint64
	names []uint64
}

// NewBlocks returns a new Blocks. size is the number of tokens in a block; 0 means that
// there is no prefix cache, and that blocks have no names.
func NewBlocks(size int) *Blocks { return &Blocks{size: size} }

// Begin makes the names depend on text. Prompts that begin with different texts have no names in
// common. Begin must be called before the first token, at most once.
func (b *Blocks) Begin(text string) { b.hash = hash(b.hash, text) }

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

// hash continues a 64-bit FNV-1a hash with a token and a byte that marks the token's end.
// http://www.isthe.com/chongo/tech/comp/fnv/
func hash(h uint64, token string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h ^= offset
	for i := range len(token) {
		h = (h ^ uint64(token[i])) * prime
	}
	return (h ^ 0xff) * prime // no UTF-8 text contains the byte 0xff
}
