// Package redact hides credentials in texts that are shown, such as errors in which a server
// repeats the header of a request.
package redact

import (
	"bytes"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// Cut is the last character of a text that was shortened.
	Cut = "…"
	// hidden replaces a secret.
	hidden = "[redacted]"
	// least is the length in bytes from which a secret is searched for. Shorter ones would
	// also match parts of words and figures.
	least = 8
	// leastPart is the length in bytes from which the beginning of a secret is hidden, where
	// the text was shortened within it.
	leastPart = 4
)

// Secrets are texts to hide. The zero value holds none. Secrets are safe for concurrent use.
type Secrets struct {
	spellings []string // the longest first
}

// New returns the secrets to hide. Secrets of less than eight bytes are ignored.
func New(secrets []string) Secrets {
	var all []string
	for _, s := range secrets {
		if len(s) >= least {
			all = append(all, spellings(s)...)
		}
	}
	// In this order a secret that is part of another one does not leave the rest visible.
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return Secrets{slices.Compact(all)}
}

// spellings returns s as it may stand in a server's answer or in an error of Go: as it is, in
// JSON, in a URL, in HTML, or quoted as in Go.
func spellings(s string) []string {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	all := []string{s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s)}
	quoted := []string{strings.TrimSuffix(plain.String(), "\n"), strconv.Quote(s), strconv.QuoteToASCII(s)}
	if b, err := json.Marshal(s); err == nil {
		quoted = append(quoted, string(b))
	}
	for _, q := range quoted {
		q = q[1 : len(q)-1]
		all = append(all, q, strings.ReplaceAll(q, "/", `\/`)) // some encoders of JSON escape slashes
	}
	return all
}

// Hide returns text as it may be shown: without the secrets, and with the control characters that
// could change a terminal written as in Go, such as \x1b. Tabs and newlines stay.
func (s Secrets) Hide(text string) string { return printable(s.Remove(text)) }

// printable writes control characters as in Go.
func printable(text string) string {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if !strings.ContainsFunc(text, control) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if control(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Remove returns text without the secrets. If text was shortened within a secret, and has [Cut]
// there, Remove also replaces the part of the secret.
func (s Secrets) Remove(text string) string {
	if len(s.spellings) == 0 {
		return text
	}
	parts := strings.Split(text, Cut)
	for i, part := range parts[:len(parts)-1] {
		if n := s.begun(part); n >= leastPart {
			parts[i] = part[:len(part)-n] + hidden
		}
	}
	text = strings.Join(parts, Cut)
	for _, secret := range s.spellings {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// begun returns the length of the longest beginning of a secret that text ends with. The secret
// does not go on with Cut.
func (s Secrets) begun(text string) int {
	longest := 0
	for _, secret := range s.spellings {
		for n := min(len(secret), len(text)); n > longest; n-- {
			if strings.HasSuffix(text, secret[:n]) && !strings.HasPrefix(secret[n:], Cut) {
				longest = n
			}
		}
	}
	return longest
}

// Longest returns the length of the longest spelling of a secret, in bytes. Whoever reads only
// the beginning of a text must read that much more than is shown.
func (s Secrets) Longest() int {
	if len(s.spellings) == 0 {
		return 0
	}
	return len(s.spellings[0])
}

// Excerpt returns text without the secrets and shortened as by the function
// [Excerpt].
func (s Secrets) Excerpt(text string, most int) string {
	if n := most + s.Longest(); len(text) > n {
		text = text[:n] + Cut // the rest need not be searched
	}
	return Excerpt(s.Hide(text), most)
}

// Excerpt returns the first most bytes of text, without a rune that is cut in two. A text that is
// shortened ends with [Cut].
func Excerpt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + Cut
}
