// Package redact hides credentials in texts that are shown to users. An example is an error in which a
// server repeats the header of a request.
package redact

import (
	"bytes"
	"cmp"
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
	// least is the minimum length in bytes of a secret. Shorter secrets would also match parts of words and
	// numbers.
	least = 8
	// leastPart is the minimum length in bytes of a part of a secret. If a text was shortened within a
	// secret, the part that is left is hidden only if it has this length.
	leastPart = 4
)

// Secrets are texts to hide. The zero value has none. Secrets are safe for concurrent use.
type Secrets struct {
	spellings []string // the longest first
}

// New returns the secrets to hide. It ignores secrets of less than eight bytes.
func New(secrets []string) Secrets {
	var all []string
	for _, s := range secrets {
		if len(s) >= least {
			all = append(all, spellings(s)...)
		}
	}
	// The longest come first. Otherwise, a secret that is part of a longer one would be replaced first, and
	// the rest of the longer one would remain visible.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return Secrets{slices.Compact(all)}
}

// spellings returns the forms of s that may occur in a server's answer or in an error of Go: unchanged, and
// as in JSON, in a URL, in HTML or in a Go string.
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
		all = append(all, q, strings.ReplaceAll(q, "/", `\/`)) // some JSON encoders escape slashes
	}
	return all
}

// Hide returns text in a form that may be shown: without the secrets, and with control characters that
// could affect a terminal escaped as in Go, such as \x1b. Tabs and newlines are not escaped.
func (s Secrets) Hide(text string) string { return printable(s.Remove(text)) }

// printable escapes control characters as in Go.
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

// Remove returns text without the secrets. If text was shortened within a secret, so that [Cut] follows a
// part of the secret, Remove also replaces this part.
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

// begun looks for the beginning of a secret at the end of text, and returns the length of the longest. In
// the original text, a Cut follows. If the secret itself continues with a Cut, it was not shortened here,
// so begun ignores this beginning.
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

// Longest returns the length of the longest spelling of a secret, in bytes. A caller that reads only the
// beginning of a text must read this many bytes more than are shown.
func (s Secrets) Longest() int {
	if len(s.spellings) == 0 {
		return 0
	}
	return len(s.spellings[0])
}

// Excerpt removes the secrets from text, and then shortens text like the function [Excerpt].
func (s Secrets) Excerpt(text string, most int) string {
	if n := most + s.Longest(); len(text) > n {
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
