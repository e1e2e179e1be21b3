package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// levels is how many times a character may be escaped over, such as the "+" in \\u002B, whose backslash is
// itself escaped.
const levels = 3

// introduces has the bytes with which an escape begins. special also has the bytes with which a line ends.
var introduces, special = func() (a, b [256]bool) {
	for _, c := range []byte(`\%&+`) {
		a[c], b[c] = true, true
	}
	b['\n'], b['\r'] = true, true
	return a, b
}()

// A matcher compares a form of a secret with the beginning of a text.
type matcher struct {
	form, text string
	reached    int            // the largest number of bytes of the form that were found when text ended
	ends       map[[2]int]int // what from returned where text has several readings
}

// match returns the number of bytes of the longest spelling of the form at the beginning of text, or -1.
func (m *matcher) match() int { return m.from(0, 0) }

// from is like match, for what follows the first j bytes of the form and the first i bytes of text.
func (m *matcher) from(j, i int) int {
	for j < len(m.form) {
		if i >= len(m.text) {
			m.reached = max(m.reached, j)
			return -1
		}
		c := m.text[i]
		if !special[c] {
			if c != m.form[j] {
				return -1
			}
			i, j = i+1, j+1
			continue
		}
		if end, known := m.ends[[2]int{j, i}]; known {
			return end
		}
		end := m.branch(j, i)
		if m.ends == nil {
			m.ends = map[[2]int]int{}
		}
		m.ends[[2]int{j, i}] = end
		return end
	}
	return i
}

// branch is like from, where the first byte of text may begin an escape or the end of a line.
func (m *matcher) branch(j, i int) int {
	end, c := -1, m.text[i]
	if c == m.form[j] {
		end = m.from(j+1, i+1)
	}
	if !introduces[c] {
		if n := lineEnd(m.text[i:]); end < 0 && j > 0 && n > 0 {
			end = m.from(j, i+n)
		}
		return end
	}
	read(m.text[i:], levels, func(char string, n int) {
		if j > 0 && (char == "\n" || char == "\r") { // the end of a line, as in JSON
			rest := m.text[i+n:]
			end = max(end, m.from(j, len(m.text)-len(strings.TrimLeft(rest, indentation))))
		}
		if (n > 1 || char[0] != c) && strings.HasPrefix(m.form[j:], char) {
			end = max(end, m.from(j+len(char), i+n))
		}
	})
	if end < 0 && len(m.text)-i < longestEscape {
		m.reached = max(m.reached, j) // text may end within the escape
	}
	return end
}

// longestEscape is the length in bytes of the longest usual escape.
const longestEscape = len(`\U0000002B`)

// lineEnd returns the length of a line's end at the beginning of text, with the indentation of the next line.
// It returns 0 if there is none.
func lineEnd(text string) int {
	rest, found := strings.CutPrefix(strings.TrimPrefix(text, "\r"), "\n")
	if !found {
		return 0
	}
	return len(text) - len(strings.TrimLeft(rest, indentation))
}

// indentation has the characters with which a continued line may begin.
const indentation = " \t#|>"

// read calls yield with each way to read the beginning of text as one character that is escaped at most the
// given number of times. The argument n is the number of bytes that the character has in text.
func read(text string, levels int, yield func(char string, n int)) {
	if text == "" {
		return
	}
	yield(text[:1], 1)
	if levels == 0 || !introduces[text[0]] {
		return
	}
	read(text, levels-1, func(char string, n int) {
		after := func(char string, more int) { yield(char, n+more) }
		switch char {
		case `\`:
			readBackslash(text[n:], levels-1, after)
		case "%":
			if v, err := strconv.ParseUint(head(text[n:], 2), 16, 8); err == nil && len(text) >= n+2 {
				after(string([]byte{byte(v)}), 2)
			}
		case "&":
			readEntity(text[n:], levels-1, after)
		case "+":
			after(" ", 0)
		}
	})
}

// head returns the first n bytes of text, or all.
func head(text string, n int) string { return text[:min(n, len(text))] }

// readBackslash reads what follows a backslash, as in JSON, Go, C, JavaScript or a shell.
func readBackslash(text string, levels int, yield func(char string, n int)) {
	read(text, levels, func(char string, n int) {
		c := char[0]
		switch {
		case c == 'u':
			if v, ok := hexadecimal(text[n:], 4); ok {
				yield(string(rune(v)), n+4)
				readSurrogate(rune(v), text[n+4:], levels, func(char string, more int) { yield(char, n+4+more) })
			}
			readBraces(text[n:], levels, func(char string, more int) { yield(char, n+more) })
		case c == 'U':
			if v, ok := hexadecimal(text[n:], 8); ok {
				yield(string(rune(v)), n+8)
			}
		case c == 'x':
			if v, ok := hexadecimal(text[n:], 2); ok {
				readByte(byte(v), n+2, yield)
			}
		case c >= '0' && c <= '7':
			for digits := 1; digits <= 3; digits++ {
				if v, err := strconv.ParseUint(head(text, digits), 8, 8); err == nil && len(text) >= digits {
					readByte(byte(v), digits, yield)
				}
			}
		case strings.IndexByte("abfnrtv", c) >= 0:
			yield(string("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)]), n)
		case c < utf8.RuneSelf && !isAlphanumeric(c):
			yield(char, n)
		}
	})
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// readBraces reads a number in braces, as in \u{2B}.
func readBraces(text string, levels int, yield func(char string, n int)) {
	read(text, levels, func(open string, n int) {
		digits := alphanumeric(text[n:])
		v, ok := hexadecimal(text[n:], digits)
		if open != "{" || !ok {
			return
		}
		read(text[n+digits:], levels, func(end string, more int) {
			if end == "}" {
				yield(string(rune(v)), n+digits+more)
			}
		})
	})
}

// alphanumeric returns the number of letters and digits at the beginning of text. It counts no more than the
// longest name of a character in HTML has.
func alphanumeric(text string) (n int) {
	for n < min(32, len(text)) && isAlphanumeric(text[n]) {
		n++
	}
	return n
}

// readByte reads a number below 256, which is a byte in Go and C, and a character in JavaScript and Python.
func readByte(v byte, n int, yield func(char string, n int)) {
	yield(string([]byte{v}), n)
	if v >= utf8.RuneSelf {
		yield(string(rune(v)), n)
	}
}

// hexadecimal reads a number of n digits at the beginning of text.
func hexadecimal(text string, n int) (uint64, bool) {
	if n == 0 || n > 8 || len(text) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(text[:n], 16, 32)
	return v, err == nil
}

// readSurrogate reads the second half of a pair \uD83D\uDE00 after the first.
func readSurrogate(first rune, text string, levels int, yield func(char string, n int)) {
	if !utf16.IsSurrogate(first) {
		return
	}
	read(text, levels, func(char string, n int) {
		if v, ok := hexadecimal(strings.TrimPrefix(text[n:], "u"), 4); ok && char == `\` && strings.HasPrefix(text[n:], "u") {
			if r := utf16.DecodeRune(first, rune(v)); r != utf8.RuneError {
				yield(string(r), n+5)
			}
		}
	})
}

// readEntity reads what follows an ampersand: a name or a number of HTML, and a semicolon.
func readEntity(text string, levels int, yield func(char string, n int)) {
	read(text, levels, func(char string, n int) {
		name := ""
		switch {
		case char == "#":
			name = "#"
		case isAlphanumeric(char[0]) && n == 1:
			n = 0
		default:
			return
		}
		length := alphanumeric(text[n:])
		name += text[n : n+length]
		read(text[n+length:], levels, func(end string, more int) {
			if end != ";" {
				return
			}
			if char := html.UnescapeString("&" + name + ";"); !strings.HasPrefix(char, "&"+name) {
				yield(char, n+length+more)
			}
		})
	})
}
