package mockserver

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// vocabulary is the output of every request: token i is word i modulo the
// length, with the space before it. The words are plain ASCII that JSON need not
// escape, and no two are alike.
var vocabulary = [...]string{
	" the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", " while",
	" seven", " wizards", " mix", " very", " bad", " potions", " in", " quiet", " evenings", " again",
}

// A lexicon is a vocabulary of as many words and its spelling.
type lexicon struct {
	text [len(vocabulary)]string // what the words are
	json [len(vocabulary)]string // how they stand in a JSON string
}

// The lexicons, by mode. In those whose spelling no JSON decoder has to accept
// the text is what stands between the quotes.
var lexicons = map[shape.TextMode]*lexicon{
	shape.TextASCII:   newLexicon(func(i int, w string) (string, string) { return w, w }),
	shape.TextUnicode: newLexicon(unicodeWord),
	shape.TextNUL:     newLexicon(func(i int, w string) (string, string) { return w + "\x00", w + `\u0000` }),
	shape.TextNULRaw:  newLexicon(func(i int, w string) (string, string) { return w + "\x00", w + "\x00" }),
	shape.TextInvalid: newLexicon(func(i int, w string) (string, string) {
		w += [...]string{"\xff", "\xe4\xb8", "\xc3(", "\xf0\x9f\x98"}[i%4]
		return w, w
	}),
}

// unicodeWord adds a character of two, three or four bytes, so that no two words
// are alike still.
func unicodeWord(i int, w string) (text, json string) {
	w += [...]string{"é", "世界", "😀", "ß", "한"}[i%5]
	return w, w
}

func newLexicon(word func(i int, w string) (text, json string)) *lexicon {
	l := new(lexicon)
	for i, w := range vocabulary {
		l.text[i], l.json[i] = word(i, w)
	}
	return l
}

// lexicon returns the one of the shape.
func lexiconOf(s shape.Shape) *lexicon {
	return lexicons[s.TextMode()]
}

// append appends the spelling of tokens from up to, not including, to.
func (l *lexicon) append(b []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		b = append(b, l.json[i%len(l.json)]...)
	}
	return b
}

// firstID is the id of the first word; the others follow.
const firstID = 1000

// appendIDs appends the ids of the same tokens, with commas between them.
func appendIDs(b []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		b = appendInt(b, firstID+i%len(vocabulary))
	}
	return b
}

// cutAtStop returns how many of n tokens are left when the output is cut where
// it would contain one of the stop strings, and which one that was. The cut
// takes whole tokens: the one in which the stop string begins goes too. No stop
// string counts that begins before token from.
func (l *lexicon) cutAtStop(stops []string, from, n int) (left int, matched string) {
	if len(stops) == 0 || from >= n {
		return n, ""
	}
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	// The text repeats itself, so what does not begin in the first round never does.
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
