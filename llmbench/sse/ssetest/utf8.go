package ssetest

import "strings"

// decodeUTF8 is the UTF-8 decoder of the Encoding standard
// (https://encoding.spec.whatwg.org/#utf-8-decoder). It replaces each maximal part of an invalid sequence
// by one U+FFFD, whereas Go's conversion to runes replaces each byte.
func decodeUTF8(b []byte) string {
	var out strings.Builder
	var seq []byte // the current sequence
	var needed int // the number of bytes that seq still lacks
	lower, upper := byte(0x80), byte(0xBF)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if needed > 0 {
			if c < lower || c > upper {
				out.WriteRune('\uFFFD')
				needed = 0
				i-- // c begins the next sequence
			} else if seq = append(seq, c); needed == 1 {
				out.Write(seq)
				needed = 0
			} else {
				needed--
			}
			lower, upper = 0x80, 0xBF
			continue
		}
		seq = append(seq[:0], c)
		switch {
		case c < 0x80:
			out.WriteByte(c)
		case 0xC2 <= c && c <= 0xDF:
			needed = 1
		case 0xE0 <= c && c <= 0xEF:
			needed = 2
			if c == 0xE0 {
				lower = 0xA0
			} else if c == 0xED {
				upper = 0x9F
			}
		case 0xF0 <= c && c <= 0xF4:
			needed = 3
			if c == 0xF0 {
				lower = 0x90
			} else if c == 0xF4 {
				upper = 0x8F
			}
		default:
			out.WriteRune('\uFFFD')
		}
	}
	if needed > 0 {
		out.WriteRune('\uFFFD')
	}
	return out.String()
}
