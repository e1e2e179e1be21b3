package compare

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// where says at which of the loads something holds.
func (p *pair) where(at []int) string {
	if p.key == "" {
		return ""
	}
	n, first, last := len(at), at[0], at[len(at)-1]
	low, high := number(p.loads[first]), Load(p.key, p.loads[last])
	run := last-first+1 == n
	switch {
	case n == 1:
		return "at " + high
	case run && n < len(p.loads) && first == 0:
		return "up to " + high
	case run && n < len(p.loads) && last == len(p.loads)-1 && !p.partial():
		return "from " + Load(p.key, p.loads[first]) + " on"
	case run:
		return "at " + low + " to " + high
	}
	var said []string
	for _, i := range at[:n-1] {
		said = append(said, number(p.loads[i]))
	}
	return "at " + enumerate(append(said, high))
}

// Load spells a load: "16 users", or "0.5 req/s". The key is one of the keys that [Of] takes, except "".
func Load(key string, v float64) string { return number(v) + " " + noun(key, v) }

func noun(key string, v float64) string {
	noun := "users"
	switch {
	case Open(key):
		noun = "req/s"
	case key == "streams":
		noun = "streams"
	}
	if v == 1 && !Open(key) {
		noun = noun[:len(noun)-1]
	}
	return noun
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func join(a, b string) string { return strings.TrimSpace(a + " " + b) }

// capital returns the text with its first letter in upper case.
func capital(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[n:]
}
