package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A span is a part of the text. Splitters cut spans into smaller spans. The final spans are the
// pieces: tokens are only merged within a piece.
type span struct {
	text  string
	first bool // the span is at the beginning of the text
}

// A splitter is a pre-tokenizer.
type splitter interface {
	// split cuts s into smaller spans and appends the spans that are not empty to out. It may
	// change the text of the spans.
	split(out []span, s span) []span
}

// A behavior says what a splitter does with the matches of its pattern. The values are spelled as
// in tokenizer.json.
type behavior string

const (
	isolated           behavior = "Isolated"
	removed            behavior = "Removed"
	mergedWithPrevious behavior = "MergedWithPrevious"
	mergedWithNext     behavior = "MergedWithNext"
	contiguous         behavior = "Contiguous"
)

// A mark is a part of a span: a match of the pattern, or the text between two matches.
type mark struct {
	text  string
	match bool
}

// cut splits s into smaller spans and appends them to out. The marks must cover the whole text of
// s.
func (b behavior) cut(out []span, s span, marks []mark) []span {
	start, end := 0, 0 // offsets of the next span to append
	flush := func() {
		if start < end {
			out = append(out, span{s.text[start:end], s.first && start == 0})
		}
		start = end
	}
	for i, m := range marks {
		switch previous := i > 0 && marks[i-1].match; {
		case b == isolated, b == removed:
			flush()
		case b == contiguous && m.match != previous:
			flush()
		case b == mergedWithPrevious && (!m.match || previous):
			flush()
		case b == mergedWithNext && (m.match || !previous):
			flush()
		}
		end += len(m.text)
		if b == removed && m.match {
			start = end
		}
	}
	flush()
	return out
}

// byteLevelPattern is the pattern of the ByteLevel pre-tokenizer. It is GPT-2's pattern
// (https://github.com/openai/gpt-2/blob/master/src/encoder.py).
const byteLevelPattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// A patternSplit is the Split pre-tokenizer. If invert is true, the matches and the text between
// matches change roles.
type patternSplit struct {
	pattern  pattern
	behavior behavior
	invert   bool
}

func (p patternSplit) split(out []span, s span) []span {
	found := p.pattern.find(s.text)
	marks := make([]mark, 0, 2*len(found)+1)
	end := 0
	for _, f := range found {
		if end < f[0] {
			marks = append(marks, mark{s.text[end:f[0]], p.invert})
		}
		marks = append(marks, mark{s.text[f[0]:f[1]], !p.invert})
		end = f[1]
	}
	if end < len(s.text) {
		marks = append(marks, mark{s.text[end:], p.invert})
	}
	return p.behavior.cut(out, s, marks)
}

// digits is the Digits pre-tokenizer. It makes each number a separate span or, if individual is
// true, each digit.
type digits struct{ individual bool }

func (d digits) split(out []span, s span) []span {
	b := contiguous
	if d.individual {
		b = isolated
	}
	return b.cut(out, s, markRunes(s.text, unicode.IsNumber))
}

// markRunes returns a mark for each wanted character, and a mark for each part of the text
// between wanted characters.
func markRunes(text string, wanted func(rune) bool) []mark {
	var marks []mark
	rest := 0 // offset after the last wanted character
	for i, r := range text {
		if !wanted(r) {
			continue
		}
		if rest < i {
			marks = append(marks, mark{text[rest:i], false})
		}
		rest = i + utf8.RuneLen(r)
		marks = append(marks, mark{text[i:rest], true})
	}
	if rest < len(text) {
		marks = append(marks, mark{text[rest:], false})
	}
	return marks
}

// metaspace is the Metaspace pre-tokenizer. Like SentencePiece, it replaces spaces by a visible
// character, and puts this character before the text.
type metaspace struct {
	space   rune
	prepend string // "always", "first" (only at the beginning of the text) or "never"
	splits  bool   // every space begins a new piece
}

func (m metaspace) split(out []span, s span) []span {
	s.text = strings.ReplaceAll(s.text, " ", string(m.space))
	if m.prepend == "always" || m.prepend == "first" && s.first {
		if !strings.HasPrefix(s.text, string(m.space)) {
			s.text = string(m.space) + s.text
		}
	}
	if !m.splits {
		return append(out, s)
	}
	isSpace := func(r rune) bool { return r == m.space }
	return mergedWithNext.cut(out, s, markRunes(s.text, isSpace))
}

// byteLevel is the ByteLevel pre-tokenizer. It replaces every byte of the text by one visible
// character, so that no character is unknown.
type byteLevel struct {
	prefixSpace bool     // put a space before each span that does not begin with a space
	words       splitter // splits by GPT-2's pattern; nil means that the text is not split
}

func (b byteLevel) split(out []span, s span) []span {
	if b.prefixSpace && !strings.HasPrefix(s.text, " ") {
		s.text = " " + s.text
	}
	begin := len(out)
	if b.words == nil {
		out = append(out, s)
	} else {
		out = b.words.split(out, s)
	}
	for i := begin; i < len(out); i++ {
		out[i].text = visible(out[i].text)
	}
	return out
}

// visible replaces each byte of text by a character. A byte that is a printable character of
// Latin-1 becomes this character. The other bytes, in order, become the characters from U+0100
// (bytes_to_unicode in https://github.com/openai/gpt-2/blob/master/src/encoder.py).
func visible(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for i := range len(text) {
		b.WriteRune(byteRunes[text[i]])
	}
	return b.String()
}

// byteRunes has the character for each byte.
var byteRunes = func() (runes [256]rune) {
	next := rune(0x100)
	for b := range runes {
		switch {
		case '!' <= b && b <= '~', 0xa1 <= b && b <= 0xac, 0xae <= b && b <= 0xff:
			runes[b] = rune(b)
		default:
			runes[b] = next
			next++
		}
	}
	return runes
}()
