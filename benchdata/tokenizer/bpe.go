package tokenizer

import "fmt"

// bpe is a byte-pair-encoding model as a tokenizer.json states it: which
// strings are tokens, and which two neighbours become one token first.
type bpe struct {
	vocab  map[string]int32
	merges map[[2]int32]merged
	// unknown stands for a character that is no token, -1 for nothing at all.
	unknown int32
	// fuseUnknown makes a run of such characters one token.
	fuseUnknown bool
	// bytes are the tokens <0x00> to <0xFF> that stand for such a character
	// when none of its own is missing (-1).
	bytes        [256]int32
	byteFallback bool
	// ignoreMerges takes a piece that is a token as a whole for that token,
	// whether or not merges lead to it.
	ignoreMerges bool
}

// merged is what a pair of tokens becomes, and how early: the lowest rank
// goes first.
type merged struct{ rank, id int32 }

// newMerges reads the merges, each two strings, in order of rank. Both strings
// and the two together must be in vocab.
func newMerges(vocab map[string]int32, pairs [][2]string) (map[[2]int32]merged, error) {
	merges := make(map[[2]int32]merged, len(pairs))
	for rank, p := range pairs {
		a, okA := vocab[p[0]]
		b, okB := vocab[p[1]]
		ab, okAB := vocab[p[0]+p[1]]
		if !okA || !okB || !okAB {
			return nil, fmt.Errorf("merge %d is %q and %q, both and the two together must be in the vocabulary", rank, p[0], p[1])
		}
		merges[[2]int32{a, b}] = merged{int32(rank), ab}
	}
	return merges, nil
}

// append appends the tokens of one piece of text to ids.
func (m *bpe) append(ids []int32, piece string, s *bpeScratch) []int32 {
	if m.ignoreMerges {
		if id, ok := m.vocab[piece]; ok {
			return append(ids, id)
		}
	}
	s.reset()
	m.symbols(piece, s)
	for i := 0; i+1 < len(s.symbols); i++ {
		m.offer(int32(i), s)
	}
	// The lowest rank first, the leftmost of equals, as the Rust library does
	// (tokenizers/src/models/bpe/word.rs); an offer whose pair has changed
	// meanwhile is void.
	for len(s.heap) > 0 {
		o := s.pop()
		left := &s.symbols[o.at]
		if left.id < 0 || left.next < 0 {
			continue
		}
		right := &s.symbols[left.next]
		if got, ok := m.merges[[2]int32{left.id, right.id}]; !ok || got.id != o.id {
			continue
		}
		left.id, left.next, right.id = o.id, right.next, -1
		if left.next >= 0 {
			s.symbols[left.next].prev = o.at
			m.offer(o.at, s)
		}
		if left.prev >= 0 {
			m.offer(left.prev, s)
		}
	}
	for _, sym := range s.symbols {
		if sym.id >= 0 {
			ids = append(ids, sym.id)
		}
	}
	return ids
}

// symbols fills s with the characters of piece as tokens.
func (m *bpe) symbols(piece string, s *bpeScratch) {
	for i, r := range piece { // piece is valid UTF-8
		char := piece[i : i+len(string(r))]
		if id, ok := m.vocab[char]; ok {
			s.add(id)
			continue
		}
		if m.byteFallback && m.hasBytes(char) {
			for _, b := range []byte(char) {
				s.add(m.bytes[b])
			}
			continue
		}
		if m.unknown >= 0 && !(m.fuseUnknown && s.lastUnknown) {
			s.add(m.unknown)
			s.lastUnknown = true
		}
	}
}

// hasBytes reports whether there is a token for each byte of char.
func (m *bpe) hasBytes(char string) bool {
	for _, b := range []byte(char) {
		if m.bytes[b] < 0 {
			return false
		}
	}
	return true
}

// offer queues the merge of the symbol at and the one after it, if any.
func (m *bpe) offer(at int32, s *bpeScratch) {
	sym := s.symbols[at]
	if sym.next < 0 {
		return
	}
	if got, ok := m.merges[[2]int32{sym.id, s.symbols[sym.next].id}]; ok {
		s.push(bpeOffer{got, at})
	}
}

// bpeScratch is the memory that merging one piece needs, kept for the next.
type bpeScratch struct {
	symbols     []bpeSymbol
	heap        []bpeOffer
	lastUnknown bool
}

// bpeSymbol is a token in a doubly linked list; -1 is no token, or the end.
type bpeSymbol struct{ id, prev, next int32 }

type bpeOffer struct {
	merged
	at int32
}

func (o bpeOffer) before(p bpeOffer) bool {
	return o.rank < p.rank || o.rank == p.rank && o.at < p.at
}

func (s *bpeScratch) reset() {
	s.symbols, s.heap, s.lastUnknown = s.symbols[:0], s.heap[:0], false
}

func (s *bpeScratch) add(id int32) {
	n := int32(len(s.symbols))
	if n > 0 {
		s.symbols[n-1].next = n
	}
	s.symbols = append(s.symbols, bpeSymbol{id, n - 1, -1})
	s.lastUnknown = false
}

// push and pop keep heap a binary heap, as container/heap does, without
// making an interface value of each offer.
func (s *bpeScratch) push(o bpeOffer) {
	s.heap = append(s.heap, o)
	for i := len(s.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.heap[i].before(s.heap[parent]) {
			return
		}
		s.heap[i], s.heap[parent] = s.heap[parent], s.heap[i]
		i = parent
	}
}

func (s *bpeScratch) pop() bpeOffer {
	top, last := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && s.heap[child+1].before(s.heap[child]) {
			child++
		}
		if !s.heap[child].before(s.heap[i]) {
			return top
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}
