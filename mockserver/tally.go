package mockserver

import (
	"encoding/binary"
	"strings"
)

// A tally is told each token of a prompt, in the order in which they stand in it;
// nil is told nothing.
type tally func(token string)

// count counts the words of a text, which are its tokens, and returns their
// number.
func (t tally) count(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		n++
		if t != nil {
			t(word)
		}
	}
	return n
}

// ids counts tokens that are ids.
func (t tally) ids(ids []uint32) int {
	if t != nil {
		for _, id := range ids {
			t(string(binary.LittleEndian.AppendUint32(nil, id)))
		}
	}
	return len(ids)
}

// A namer names the blocks of a prompt, so that prompts that begin alike have the
// same names as far as they do.
type namer struct {
	size  int // tokens in a block, 0 for no names
	n     int
	hash  uint64
	names []uint64
}

// tally returns what tells the namer of tokens.
func (b *namer) tally() tally {
	if b.size == 0 {
		return nil
	}
	return b.add
}

// add puts a token into the name of its block, which covers all that stands
// before it, too.
func (b *namer) add(token string) {
	b.hash = hashOf(b.hash, token)
	if b.n++; b.n%b.size == 0 {
		b.names = append(b.names, b.hash)
	}
}

// hashOf is FNV-1a in 64 bits, begun with what another has left, of a token and
// its end.
func hashOf(hash uint64, token string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash ^= offset
	for i := range len(token) {
		hash = (hash ^ uint64(token[i])) * prime
	}
	return (hash ^ 0xff) * prime // which is in no text
}
