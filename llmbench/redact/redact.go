// Package redact hides credentials in texts that are shown to users. An example is an error in which a
// server repeats the header of a request.
//
// A process adds each secret once, by [Add]. [Known] then hides it everywhere. A secret is found however its
// characters are spelled: see [Secrets].
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	// Cut is the last character of a text that was shortened.
	Cut = "…"
	// hidden replaces a secret.
	hidden = "[redacted]"
	// least is the minimum length in bytes of a secret. Shorter secrets would also match parts of words and
	// numbers.
	least = 8
	// leastPart is the minimum length in bytes of a part of a secret. If a text was shortened within a
	// secret, the part that is left is hidden only if it has this length.
	leastPart = 4
)

// Secrets are texts to hide. The zero value has none. Secrets are safe for concurrent use.
//
// A secret is found in base64, also within a longer text that is encoded, such as user:password, and in
// hexadecimal digits. Each character of these forms and of the secret itself may be escaped as in JSON, in a
// URL, in HTML or in a string of Go, up to three times over. An apostrophe of the secret may be written as in a
// shell, and its bytes may be read as Latin-1. A form may continue on the next line.
type Secrets struct{ *set }

// A set has the forms of secrets.
type set struct {
	forms   []form
	first   [256][]int     // indices in forms, by the first byte
	pairs   [256][4]uint64 // which second byte follows which first byte in a form: a bit for each
	longest int            // length of the longest form in bytes
	least   int            // length of the shortest form in bytes
}

// A form is a secret as it is, or in an encoding of the whole secret.
type form struct {
	text   string
	base64 bool // the next character also has bits of the secret
}

// New returns the secrets to hide. It ignores secrets of less than eight bytes. Each line of a text with several
// lines, such as a private key, is a secret, too.
func New(texts []string) Secrets {
	s := &set{}
	seen := map[string]bool{}
	add := func(text string, base64 bool) {
		if seen[text] {
			return
		}
		seen[text] = true
		s.first[text[0]] = append(s.first[text[0]], len(s.forms))
		s.forms = append(s.forms, form{text, base64})
		s.pairs[text[0]][text[1]/64] |= 1 << (text[1] % 64)
		s.longest = max(s.longest, len(text))
		s.least = min(cmp.Or(s.least, len(text)), len(text))
	}
	for _, text := range texts {
		lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
		lines = append(lines, text)
		for _, line := range lines {
			lines = append(lines, inLatin1(line))
		}
		for _, line := range lines {
			if len(line) < least || strings.Contains(hidden, line) {
				continue
			}
			add(line, false)
			add(string([]rune(line)), false) // as in JSON, if some bytes are not UTF-8
			// as between apostrophes in a shell
			for _, quote := range []string{`'\''`, `'"'"'`} {
				add(strings.ReplaceAll(line, "'", quote), false)
			}
			for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				for before := range 3 {
					add(inBase64(encoding, line, before), true)
				}
			}
			digits := hex.EncodeToString([]byte(line))
			add(digits, false)
			add(strings.ToUpper(digits), false)
		}
	}
	if len(s.forms) == 0 {
		return Secrets{}
	}
	return Secrets{s}
}

// inLatin1 returns text as a program reads it that takes each byte for a character, as many do in header fields.
func inLatin1(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// inBase64 returns the characters in the base64 form of a longer text that depend on nothing but the secret.
// The secret follows the given number of bytes, modulo 3.
func inBase64(encoding *base64.Encoding, secret string, before int) string {
	all := encoding.EncodeToString([]byte(strings.Repeat("x", before) + secret))
	return all[(before*8+5)/6 : (before+len(secret))*8/6]
}

// Hide returns text in a form that may be shown: without the secrets, and without characters that could act on
// a terminal or on a CI system. See [Printable].
func (s Secrets) Hide(text string) string { return Printable(s.Remove(text)) }

// Remove returns text without the secrets. If text was shortened within a secret, so that [Cut] follows a
// part of the secret, Remove also replaces this part.
func (s Secrets) Remove(text string) string { return s.RemoveAfter("", text) }

// RemoveAfter is like Remove, for a text that follows another one. It also replaces the rest of a secret that
// begins in the text before.
func (s Secrets) RemoveAfter(before, text string) string {
	var b strings.Builder
	at := len(before)
	text = before + text
	for _, found := range s.find(text) {
		if found.to > at {
			b.WriteString(text[at:max(at, found.from)])
			b.WriteString(hidden)
			at = found.to
		}
	}
	if b.Len() == 0 {
		return text[at:]
	}
	b.WriteString(text[at:])
	return b.String()
}

// A span is a part of a text, in bytes.
type span struct{ from, to int }

// find returns where the secrets are in text, in order and without overlaps.
func (s Secrets) find(text string) (found []span) {
	if s.set == nil {
		return nil
	}
	cut := strings.Index(text, Cut) // the next one
	if cut < 0 && len(text) < s.least {
		return nil
	}
	for i := range len(text) {
		if i > cut && cut >= 0 {
			if cut = strings.Index(text[i:], Cut); cut >= 0 {
				cut += i
			}
		}
		if !s.mayBegin(text[i:]) {
			continue
		}
		end := s.endOfSecret(text, i)
		if cut >= 0 && end < cut && cut-i <= s.Longest() && s.begins(text[i:cut], leastPart) {
			end = cut
		}
		switch n := len(found); {
		case end < 0:
		case n > 0 && i < found[n-1].to:
			found[n-1].to = max(found[n-1].to, end)
		default:
			found = append(found, span{i, end})
		}
	}
	return found
}

// endOfSecret returns the end of the longest secret that begins at text[i], or -1.
func (s Secrets) endOfSecret(text string, i int) int {
	end := -1
	s.candidates(text[i:], func(f form) bool {
		m := matcher{form: f.text, text: text[i:]}
		if n := m.match(); n >= 0 {
			n += i
			if f.base64 && n < len(text) && isBase64(text[n]) {
				n++
			}
			end = max(end, n)
		}
		return true
	})
	return end
}

// isBase64 reports whether c is a digit of base64, for texts or for URLs.
func isBase64(c byte) bool { return isAlphanumeric(c) || strings.IndexByte("+/-_", c) >= 0 }

// begins reports whether text is the beginning of a secret and has at least the given number of its bytes.
func (s Secrets) begins(text string, least int) (is bool) {
	s.candidates(text, func(f form) bool {
		m := matcher{form: f.text, text: text}
		is = m.match() < 0 && m.reached >= least
		return !is
	})
	return is
}

// candidates calls yield with each form that may be at the beginning of text, until yield returns false.
func (s Secrets) candidates(text string, yield func(form) bool) {
	if text == "" || !s.mayBegin(text) {
		return
	}
	for _, k := range s.first[text[0]] {
		if !yield(s.forms[k]) {
			return
		}
	}
	if !introduces[text[0]] || strings.HasPrefix(text, backslashes) {
		return
	}
	var firsts [256]bool
	firsts[text[0]] = true
	more := true
	read(text, levels, func(char string, _ int) {
		if firsts[char[0]] {
			return
		}
		firsts[char[0]] = true
		for _, k := range s.first[char[0]] {
			more = more && yield(s.forms[k])
		}
	})
}

// backslashes are more than one character can have before it. They are not read, to save time.
var backslashes = strings.Repeat(`\`, 1<<levels+1)

// mayBegin returns false if no form can be at the beginning of text, as in most places: its first two bytes begin no
// form, and no escape is there.
func (s Secrets) mayBegin(text string) bool {
	return len(text) < 2 || special[text[0]] || special[text[1]] || s.pairs[text[0]][text[1]/64]&(1<<(text[1]%64)) != 0
}

// Begun returns the length of the end of text that may be the beginning of a secret and that has at least the
// given number of its bytes. It returns 0 if there is no such end.
func (s Secrets) Begun(text string, least int) int {
	for i := max(0, len(text)-s.Longest()); i < len(text); i++ {
		if s.begins(text[i:], least) {
			return len(text) - i
		}
	}
	return 0
}

// RemoveBegun is like Remove, for a text that may end in the middle of a secret.
func (s Secrets) RemoveBegun(text string) string {
	text = s.Remove(text)
	if n := s.Begun(text, leastPart); n > 0 {
		return text[:len(text)-n] + hidden
	}
	return text
}

// spelled is the maximum length in bytes of a usual spelling of one byte, such as \u002B.
const spelled = 6

// Longest returns the length of the longest usual spelling of a secret, in bytes. A caller that reads only the
// beginning of a text must read this many bytes more than are shown.
func (s Secrets) Longest() int {
	if s.set == nil {
		return 0
	}
	return spelled * s.longest
}

// Excerpt removes the secrets from text, and then shortens text like the function [Excerpt].
func (s Secrets) Excerpt(text string, most int) string {
	if n := most + s.Longest() + utf8.UTFMax; len(text) > n {
		for n > most && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + Cut // secrets in the rest do not matter
	}
	return Excerpt(s.Hide(text), most)
}

// Excerpt returns the first most bytes of text. It does not include a rune that would be cut in two. If it
// shortens the text, the result ends with [Cut].
func Excerpt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + Cut
}
