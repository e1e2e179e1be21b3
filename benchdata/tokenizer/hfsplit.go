package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A span is a part of the text on its way from the whole to the pieces that
// are merged one by one.
type span struct {
	text  string
	first bool // nothing of the text comes before it
}

// A splitter is one pre-tokenizer: it cuts a span into smaller ones, and may
// rewrite them. It leaves out empty spans.
type splitter interface {
	split(out []span, s span) []span
}

// delimited is what a splitter does with the parts that its pattern matches,
// by the names in tokenizer.json.
type delimited string

const (
	isolated           delimited = "Isolated"
	removed            delimited = "Removed"
	mergedWithPrevious delimited = "MergedWithPrevious"
	mergedWithNext     delimited = "MergedWithNext"
	contiguous         delimited = "Contiguous"
)

// A mark is a part of a span, and whether the pattern matched it.
type mark struct {
	text  string
	match bool
}

// cut appends the spans that marks make, which together are the text of s.
func (d delimited) cut(out []span, s span, marks []mark) []span {
	start, end := 0, 0 // the span being built
	flush := func() {
		if start < end {
			out = append(out, span{s.text[start:end], s.first && start == 0})
		}
		start = end
	}
	for i, m := range marks {
		switch previous := i > 0 && marks[i-1].match; {
		case d == isolated, d == removed:
			flush()
		case d == contiguous && m.match != previous:
			flush()
		case d == mergedWithPrevious && (!m.match || previous):
			flush()
		case d == mergedWithNext && (m.match || !previous):
			flush()
		}
		end += len(m.text)
		if d == removed && m.match {
			start = end
		}
	}
	flush()
	return out
}

// byteLevelPattern is how the ByteLevel pre-tokenizer splits: GPT-2's own
// pattern, https://github.com/openai/gpt-2/blob/master/src/encoder.py.
const byteLevelPattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// patternSplit is the Split pre-tokenizer.
type patternSplit struct {
	pattern   pattern
	behaviour delimited
	invert    bool
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
	return p.behaviour.cut(out, s, marks)
}

// digits is the Digits pre-tokenizer: numbers apart from the rest, or each
// digit apart.
type digits struct{ individual bool }

func (d digits) split(out []span, s span) []span {
	behaviour := contiguous
	if d.individual {
		behaviour = isolated
	}
	return behaviour.cut(out, s, markRunes(s.text, unicode.IsNumber))
}

// markRunes marks each character that is wanted, and what is between them.
func markRunes(text string, wanted func(rune) bool) []mark {
	var marks []mark
	rest := 0 // where the unwanted characters before i begin
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

// metaspace is the Metaspace pre-tokenizer, SentencePiece's way to write
// spaces: as a visible character, with one put before the text.
type metaspace struct {
	space   rune
	prepend string // always, first or never
	apart   bool   // every space begins a piece
}

func (m metaspace) split(out []span, s span) []span {
	s.text = strings.ReplaceAll(s.text, " ", string(m.space))
	if m.prepend == "always" || m.prepend == "first" && s.first {
		if !strings.HasPrefix(s.text, string(m.space)) {
			s.text = string(m.space) + s.text
		}
	}
	if !m.apart {
		return append(out, s)
	}
	isSpace := func(r rune) bool { return r == m.space }
	return mergedWithNext.cut(out, s, markRunes(s.text, isSpace))
}

// byteLevel is the ByteLevel pre-tokenizer: every byte of the text is written
// as one visible character, so that no character can be unknown.
type byteLevel struct {
	prefixSpace bool
	words       splitter // GPT-2's pattern; nil where another one has split
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

// visible writes each byte of text as a character: the printable ones of
// Latin-1 as themselves, all others in order from U+0100 on.
// https://github.com/openai/gpt-2/blob/master/src/encoder.py, bytes_to_unicode
func visible(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for i := range len(text) {
		b.WriteRune(byteRunes[text[i]])
	}
	return b.String()
}

// byteRunes is the character that stands for each byte.
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
