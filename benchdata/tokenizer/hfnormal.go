package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A normalizer rewrites the text between two added tokens. This happens before the text is split
// into pieces.
type normalizer func(text string) string

// An addedToken is a string, such as <|im_start|>, that is always one token where the text
// contains it. Merges do not apply to added tokens.
type addedToken struct {
	Content string `json:"content"`
	ID      int32  `json:"id"`
	// LeftStrip makes the white space before the token a part of the token, and RightStrip
	// the white space after the token.
	LeftStrip  bool `json:"lstrip"`
	RightStrip bool `json:"rstrip"`
	// SingleWord says that the token only matches if no letter, digit or underscore is
	// next to it.
	SingleWord bool `json:"single_word"`
}

// addedTokens has the added tokens, indexed by their first byte. In each list, the longest
// token comes first.
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

// next finds the first added token in text. It returns the text before the token, the token,
// and the text after the token. If there is no added token, ok is false and before is the
// whole text.
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

// touchesWord reports whether the last character of before or the first character of after is
// part of a word.
func touchesWord(before, after string) bool {
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return inWord(last) || inWord(first)
}
