package tokenizer

import (
	"strings"
	"unicode"
)

// This file implements the published rules of tokenizers a second time, in the
// simplest way, without regular expressions and without code of the package. Tests
// compare both implementations.

// A reference is a tokenizer with one set of rules.
type reference struct {
	normal func(text string) string // nil leaves the text as it is
	split  func(text []rune) int    // returns the length of the first piece
	vocab  map[string]int
	merges [][2]string // in order of rank
}

func (ref reference) encode(text string) []int {
	if ref.normal != nil {
		text = ref.normal(text)
	}
	var ids []int
	for rest := []rune(text); len(rest) > 0; {
		n := ref.split(rest)
		ids = append(ids, ref.merge(refVisible(string(rest[:n])))...)
		rest = rest[n:]
	}
	return ids
}

// merge repeatedly takes the merge with the lowest rank that applies, and joins all its pairs.
func (ref reference) merge(symbols []string) []int {
	for {
		best := -1
		for rank, m := range ref.merges {
			for i := 0; i+1 < len(symbols) && best < 0; i++ {
				if symbols[i] == m[0] && symbols[i+1] == m[1] {
					best = rank
				}
			}
			if best >= 0 {
				break
			}
		}
		if best < 0 {
			break
		}
		var next []string
		for i := 0; i < len(symbols); i++ {
			if i+1 < len(symbols) && symbols[i] == ref.merges[best][0] && symbols[i+1] == ref.merges[best][1] {
				next = append(next, symbols[i]+symbols[i+1])
				i++
				continue
			}
			next = append(next, symbols[i])
		}
		symbols = next
	}
	ids := make([]int, len(symbols))
	for i, s := range symbols {
		ids[i] = ref.vocab[s]
	}
	return ids
}

// refVisible replaces each byte by the character that represents the byte in byte-level models.
func refVisible(text string) []string {
	var symbols []string
	for _, b := range []byte(text) {
		symbols = append(symbols, string(refRune(b)))
	}
	return symbols
}

func refRune(b byte) rune {
	switch {
	case b <= 0x20:
		return 0x100 + rune(b)
	case b >= 0x7f && b <= 0xa0:
		return 0x121 + rune(b-0x7f)
	case b == 0xad:
		return 0x143
	}
	return rune(b)
}

func isOther(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// run returns the number of runes at the start of text for which kind is true.
func run(text []rune, kind func(rune) bool) int {
	n := 0
	for n < len(text) && kind(text[n]) {
		n++
	}
	return n
}

// contraction returns the length of the contraction ('s, 't, 're, 've, 'm, 'll or
// 'd) at the start of text, or 0.
func contraction(text []rune, same func(a, b string) bool) int {
	for _, c := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if n := len(c); n <= len(text) && same(string(text[:n]), c) {
			return n
		}
	}
	return 0
}

// blanks returns the length of the white space at the start of text that is a piece in both
// patterns. If a word follows, the last character of the white space belongs to the word.
func blanks(text []rune) int {
	n := run(text, unicode.IsSpace)
	if n > 1 && n < len(text) {
		return n - 1
	}
	return n
}

// gpt2Piece returns the length of the first piece by GPT-2's pattern.
func gpt2Piece(text []rune) int {
	if n := contraction(text, func(a, b string) bool { return a == b }); n > 0 {
		return n
	}
	skip := 0
	if text[0] == ' ' {
		skip = 1
	}
	for _, kind := range []func(rune) bool{unicode.IsLetter, unicode.IsNumber, isOther} {
		if n := run(text[skip:], kind); n > 0 {
			return skip + n
		}
	}
	return blanks(text)
}

// qwen2Piece returns a function that returns the length of the first piece by the pattern of Qwen 2
// (maxDigits 1) or Llama 3 (maxDigits 3).
func qwen2Piece(maxDigits int) func(text []rune) int {
	return func(text []rune) int {
		if n := contraction(text, strings.EqualFold); n > 0 {
			return n
		}
		if c := text[0]; c != '\r' && c != '\n' && !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			if n := run(text[1:], unicode.IsLetter); n > 0 {
				return 1 + n
			}
		}
		if n := run(text, unicode.IsLetter); n > 0 {
			return n
		}
		if n := run(text, unicode.IsNumber); n > 0 {
			return min(n, maxDigits)
		}
		newline := func(r rune) bool { return r == '\r' || r == '\n' }
		skip := 0
		if text[0] == ' ' {
			skip = 1
		}
		if n := run(text[skip:], isOther); n > 0 {
			return skip + n + run(text[skip+n:], newline)
		}
		for n := run(text, unicode.IsSpace); n > 0; n-- {
			if newline(text[n-1]) {
				return n
			}
		}
		return blanks(text)
	}
}
