package tinygguf

import (
	"maps"
	"slices"
)

// byteRunes returns the printable rune by which GPT-2 represents each byte. Printable Latin-1 bytes
// represent themselves. All other bytes are represented by runes from U+0100 on; a space is 'Ġ', U+0120.
// https://github.com/openai/gpt-2/blob/master/src/encoder.py (bytes_to_unicode)
func byteRunes() [256]rune {
	var m [256]rune
	next := rune(256)
	for b := range m {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			m[b] = rune(b)
		} else {
			m[b] = next
			next++
		}
	}
	return m
}

// A word is a word of the corpus, split into the tokens that exist so far.
type word struct {
	parts []string
	count int
}

// trainBPE creates up to n tokens by repeatedly merging the most frequent pair of neighbours
// (https://arxiv.org/abs/1508.07909). It returns the merges in the format of tokenizer.ggml.merges ("a b"),
// and the new tokens, both in the order of creation. Two merges may create the same token.
func trainBPE(counts map[string]int, n int) (merges, tokens []string) {
	runes := byteRunes()
	var words []word
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		w := word{count: counts[s]}
		for _, b := range []byte(s) {
			w.parts = append(w.parts, string(runes[b]))
		}
		words = append(words, w)
	}
	pairs := pairCounts{}
	for _, w := range words {
		pairs.add(w, w.count)
	}
	seen := map[string]bool{}
	for len(tokens) < n {
		left, right, ok := pairs.mostFrequent()
		if !ok {
			break
		}
		merges = append(merges, left+" "+right)
		if !seen[left+right] {
			seen[left+right] = true
			tokens = append(tokens, left+right)
		}
		for i := range words {
			words[i].merge(left, right, pairs)
		}
	}
	return merges, tokens
}

// pairCounts maps each pair of neighbours to the number of times that the pair occurs in the corpus.
type pairCounts map[[2]string]int

// add adds n to the count of each pair in w.
func (c pairCounts) add(w word, n int) {
	for i := 1; i < len(w.parts); i++ {
		c[[2]string{w.parts[i-1], w.parts[i]}] += n
	}
}

// mostFrequent returns the most frequent pair of neighbours. If several pairs are equally frequent, it
// returns the smallest one, so that the result does not depend on the order of a map.
func (c pairCounts) mostFrequent() (left, right string, ok bool) {
	var best [2]string
	most := 0
	for p, n := range c {
		if n > most || n == most && n > 0 && slices.Compare(p[:], best[:]) < 0 {
			best, most = p, n
		}
	}
	return best[0], best[1], most > 0
}

// merge joins every left and the right directly after it, and counts the pairs again.
func (w *word) merge(left, right string, pairs pairCounts) {
	if !w.has(left, right) {
		return
	}
	pairs.add(*w, -w.count)
	kept := w.parts[:0]
	for i := 0; i < len(w.parts); i++ {
		if i+1 < len(w.parts) && w.parts[i] == left && w.parts[i+1] == right {
			kept = append(kept, left+right)
			i++
		} else {
			kept = append(kept, w.parts[i])
		}
	}
	w.parts = kept
	pairs.add(*w, w.count)
}

// has reports whether right directly follows left in w.
func (w *word) has(left, right string) bool {
	for i := 1; i < len(w.parts); i++ {
		if w.parts[i-1] == left && w.parts[i] == right {
			return true
		}
	}
	return false
}
