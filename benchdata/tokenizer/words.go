package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// Words counts each word as one token. Words are separated by white space. No model counts like
// this, but the simulated server (package mockserver) does: there, a prompt of 512 words has
// exactly 512 tokens.
type Words struct{}

// Count returns the number of words in text, which is len(strings.Fields(text)).
func (Words) Count(text string) int {
	n, inWord := 0, false
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		space := unicode.IsSpace(r)
		if !space && !inWord {
			n++
		}
		inWord = !space
		i += size
	}
	return n
}
