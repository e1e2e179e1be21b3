package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// Words is the tokenizer that takes every whitespace-separated word for one
// token. No model counts like that, but the project's mock server does, so
// with it a prompt of 512 tokens is 512 tokens on the wire. The zero value is
// ready; it is also what a nil [llmbench.Tokenizer] means in this package.
type Words struct{}

// Count returns the number of words in text, where words are separated by
// Unicode white space as [strings.Fields] separates them.
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
