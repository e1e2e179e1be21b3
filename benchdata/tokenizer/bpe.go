package tokenizer

import "slices"

// A bpe is the byte-pair-encoding model of a tokenizer.json. It has the strings that are
// tokens, and the order in which pairs of neighboring tokens are merged into one token.
type bpe struct {
	vocab  map[string]int32
	merges map[[2]int32]merged
	// unknown is the token for a character that is not in vocab; -1 means that
	// such a character has no token.
	unknown int32
	// fuseUnknown makes a run of unknown characters one token.
	fuseUnknown bool
	// byteFallback replaces an unknown character by one token for each of its bytes, if
	// all these bytes have tokens. bytes[b] is the token of byte b, whose name in vocab is
	// <0x00> to <0xFF>; -1 means that vocab has no such token.
	byteFallback bool
	bytes        [256]int32
	// ignoreMerges encodes a piece that is in vocab as one token, even if no sequence of
	// merges produces this token.
	ignoreMerges bool
}

// A merged is the token into which a pair of tokens is merged. Pairs with a lower rank are
// merged earlier.
type merged struct{ rank, id int32 }

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
		m.enqueue(int32(i), s)
	}
	// Merge the pair with the lowest rank first. Of pairs with the same rank, merge the
	// leftmost first, as the Rust library does (tokenizers/src/models/bpe/word.rs). Skip a
	// candidate whose tokens have changed since it was queued.
	for len(s.heap) > 0 {
		c := s.pop()
		left := &s.symbols[c.left]
		if left.id < 0 || left.next < 0 {
			continue
		}
		right := &s.symbols[left.next]
		if got, ok := m.merges[[2]int32{left.id, right.id}]; !ok || got.id != c.id {
			continue
		}
		left.id, left.next, right.id = c.id, right.next, -1
		if left.next >= 0 {
			s.symbols[left.next].prev = c.left
			m.enqueue(c.left, s)
		}
		if left.prev >= 0 {
			m.enqueue(left.prev, s)
		}
	}
	for _, sym := range s.symbols {
		if sym.id >= 0 {
			ids = append(ids, sym.id)
		}
	}
	return ids
}

// symbols adds the tokens of the characters of piece to s.
func (m *bpe) symbols(piece string, s *bpeScratch) {
	for i, r := range piece { // piece is valid UTF-8
		char := piece[i : i+len(string(r))]
		if id, ok := m.vocab[char]; ok {
			s.add(id)
			continue
		}
		if m.byteFallback && !slices.ContainsFunc([]byte(char), func(b byte) bool { return m.bytes[b] < 0 }) {
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

// enqueue queues the merge of symbol index and the symbol after it, if merges has this pair.
func (m *bpe) enqueue(index int32, s *bpeScratch) {
	sym := s.symbols[index]
	if sym.next < 0 {
		return
	}
	if got, ok := m.merges[[2]int32{sym.id, s.symbols[sym.next].id}]; ok {
		s.push(mergeCandidate{got, index})
	}
}

// A bpeScratch is the memory for merging one piece. It is reused for the next piece.
type bpeScratch struct {
	symbols     []bpeSymbol
	heap        []mergeCandidate
	lastUnknown bool
}

// A bpeSymbol is a token in a doubly linked list. An id of -1 means that the symbol was
// merged into the symbol before it. A prev or next of -1 marks the end of the list.
type bpeSymbol struct{ id, prev, next int32 }

// A mergeCandidate is a possible merge of symbol left and the symbol after it.
type mergeCandidate struct {
	merged
	left int32
}

func (c mergeCandidate) before(d mergeCandidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.left < d.left
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

// push adds a candidate. push and pop maintain a binary heap. Unlike container/heap, they do
// not convert each candidate to an interface value, which is faster.
func (s *bpeScratch) push(c mergeCandidate) {
	s.heap = append(s.heap, c)
	for i := len(s.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.heap[i].before(s.heap[parent]) {
			return
		}
		s.heap[i], s.heap[parent] = s.heap[parent], s.heap[i]
		i = parent
	}
}

// pop removes and returns the first candidate in the order of before.
func (s *bpeScratch) pop() mergeCandidate {
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
