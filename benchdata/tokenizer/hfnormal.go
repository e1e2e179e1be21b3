package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A normalizer rewrites the text between two added tokens, before the text is
// split into pieces.
type normalizer func(text string) string

// prepend returns a normalizer that puts before in front of a text that is not empty.
func prepend(before string) normalizer {
	return func(text string) string {
		if text == "" {
			return text
		}
		return before + text
	}
}

// replace returns a normalizer that replaces every old by content.
func replace(old, content string) normalizer {
	return func(text string) string { return strings.ReplaceAll(text, old, content) }
}

// An addedToken is a string, such as <|im_start|>, that is one token wherever the
// text contains it. Merges do not apply to it.
type addedToken struct {
	Content string `json:"content"`
	ID      int32  `json:"id"`
	// LeftStrip and RightStrip make white space on that side part of the token.
	LeftStrip  bool `json:"lstrip"`
	RightStrip bool `json:"rstrip"`
	// SingleWord matches only where no letter, digit or underscore is adjacent.
	SingleWord bool `json:"single_word"`
}

// addedTokens holds the added tokens by their first byte, the longest first.
type addedTokens [256][]addedToken

func newAddedTokens(list []addedToken) *addedTokens {
	var a addedTokens
	for _, t := range list {
		if t.Content != "" {
			a[t.Content[0]] = append(a[t.Content[0]], t)
		}
	}
	for _, same := range a {
		slices.SortStableFunc(same, func(x, y addedToken) int {
			return cmp.Compare(len(y.Content), len(x.Content))
		})
	}
	return &a
}

// next finds the first added token in text, and returns the text before the token,
// the token, and the text after it. Without such a token ok is false and before
// is the whole text.
func (a *addedTokens) next(text string) (before string, t addedToken, after string, ok bool) {
	for i := range len(text) {
		for _, t := range a[text[i]] {
			if !strings.HasPrefix(text[i:], t.Content) {
				continue
			}
			before, after = text[:i], text[i+len(t.Content):]
			if t.SingleWord && touchesWord(before, after) {
				continue
			}
			if t.LeftStrip {
				before = strings.TrimRightFunc(before, unicode.IsSpace)
			}
			if t.RightStrip {
				after = strings.TrimLeftFunc(after, unicode.IsSpace)
			}
			return before, t, after, true
		}
	}
	return text, addedToken{}, "", false
}

// touchesWord reports whether the last character of before or the first of after
// is part of a word.
func touchesWord(before, after string) bool {
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return inWord(last) || inWord(first)
}
