// Package vocab has the text of requests and answers: the output's words and their ids,
// the tokens of a prompt, and instances of JSON schemas. One token is one word with the
// space before it.
package vocab

import (
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// vocabulary is the output of every request, repeated as often as needed: token i is
// vocabulary[i % len(vocabulary)]. The words are distinct. They consist of ASCII characters
// that JSON does not escape.
var vocabulary = [...]string{
	" the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", " while",
	" seven", " wizards", " mix", " very", " bad", " potions", " in", " quiet", " evenings", " again",
}

// A Lexicon is the vocabulary in a text mode.
type Lexicon struct {
	text [len(vocabulary)]string // the words
	json [len(vocabulary)]string // the words as parts of a JSON string
}

// lexicons has a lexicon for each text mode. In the modes whose output is not valid JSON,
// text and json are the same bytes.
var lexicons = map[shape.TextMode]*Lexicon{
	shape.TextASCII:   newLexicon(func(i int, w string) (string, string) { return w, w }),
	shape.TextUnicode: newLexicon(unicodeWord),
	shape.TextNUL:     newLexicon(func(i int, w string) (string, string) { return w + "\x00", w + `\u0000` }),
	shape.TextNULRaw:  newLexicon(func(i int, w string) (string, string) { return w + "\x00", w + "\x00" }),
	shape.TextInvalid: newLexicon(func(i int, w string) (string, string) {
		w += [...]string{"\xff", "\xe4\xb8", "\xc3(", "\xf0\x9f\x98"}[i%4]
		return w, w
	}),
}

// unicodeWord adds characters of two, three or four bytes to a word. The words remain
// distinct.
func unicodeWord(i int, w string) (text, json string) {
	w += [...]string{"é", "世界", "😀", "ß", "한"}[i%5]
	return w, w
}

func newLexicon(word func(i int, w string) (text, json string)) *Lexicon {
	l := new(Lexicon)
	for i, w := range vocabulary {
		l.text[i], l.json[i] = word(i, w)
	}
	return l
}

// LexiconFor returns the lexicon of a text mode. mode must not be empty.
func LexiconFor(mode shape.TextMode) *Lexicon { return lexicons[mode] }

// Append appends the tokens with indices from to to-1 as parts of a JSON string.
func (l *Lexicon) Append(b []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		b = append(b, l.json[i%len(l.json)]...)
	}
	return b
}

// firstID is the id of the first word of the vocabulary. The ids of the other words follow.
const firstID = 1000

// AppendIDs appends the ids of the tokens with indices from to to-1, separated by
// commas.
func AppendIDs(b []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(ID(i)), 10)
	}
	return b
}

// CutAtStop looks for the first stop string in an output of n tokens. It returns the stop
// string and the number of tokens before it. The token in which the stop string begins is
// not counted. Stop strings that begin before token from are ignored. If there is no stop
// string, CutAtStop returns n and "".
func (l *Lexicon) CutAtStop(stops []string, from, n int) (left int, matched string) {
	if len(stops) == 0 || from >= n {
		return n, ""
	}
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	// The text is periodic, so a string that does not begin in the first period does not
	// occur at all.
	var b strings.Builder
	for i := from; i < min(n, from+len(l.text)+longest); i++ {
		b.WriteString(l.text[i%len(l.text)])
	}
	text := b.String()
	at := len(text)
	for _, s := range stops {
		if i := strings.Index(text, s); i >= 0 && i < at {
			at, matched = i, s
		}
	}
	if matched == "" {
		return n, ""
	}
	for left = from; ; left++ {
		at -= len(l.text[left%len(l.text)])
		if at < 0 {
			return left, matched
		}
	}
}

// ID returns the id of output token i.
func ID(i int) int { return firstID + i%len(vocabulary) }

// otherIDs is the number of ids for words outside the vocabulary. Two such words
// may share an id.
const otherIDs = 1 << 17

// WordID returns the id of a word. If the word is not in the vocabulary, the id is larger
// than the ids of the vocabulary.
func WordID(word string) int {
	for i, known := range vocabulary {
		if known[1:] == word {
			return firstID + i
		}
	}
	return firstID + len(vocabulary) + int(hash(0, word)%otherIDs)
}
