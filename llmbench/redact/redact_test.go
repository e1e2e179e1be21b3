package redact

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestHide(t *testing.T) {
	s := New([]string{"short", "Bearer sk-secret/key", "sk-secret/key", "sk-secret/key-two", `quo"te<d>&ü key`})
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"nothing", "nothing"},
		{"short is not searched", "short is not searched"},
		{"no Bearer sk-secret/key here", "no [redacted] here"},
		{"sk-secret/key-two, sk-secret/key", "[redacted], [redacted]"},
		{`{"k":"sk-secret\/key"}`, `{"k":"[redacted]"}`},
		{"?key=sk-secret%2Fkey", "?key=[redacted]"},
		{"<a>quo&#34;te&lt;d&gt;&amp;ü key</a>", "<a>[redacted]</a>"},
		{`"quo\"te\u003cd\u003e\u0026ü key"`, `"[redacted]"`},
		{fmt.Sprintf("%+q", `quo"te<d>&ü key`), `"[redacted]"`},
		{"cut sk-s…", "cut [redacted]…"},
		{"cut sk-secret/key-t… and Bear… on", "cut [redacted]… and [redacted]… on"},
		{"three characters tell nothing: sk-…", "three characters tell nothing: sk-…"},
		{"not cut: sk-secret", "not cut: sk-secret"},
	} {
		assert.Equal(t, s.Hide(tt.text), tt.want, "Hide(%q)", tt.text)
	}
	assert.Equal(t, Secrets{}.Hide("a … b"), "a … b")
}

// TestExcerptStraddles checks that an excerpt never shows more than leastPart-1 bytes of a secret, wherever
// the secret is: before the end of the excerpt or across it.
func TestExcerptStraddles(t *testing.T) {
	const secret, most = "key/39:0123456789abcdefghijklmnopqrstuv", 200
	s := New([]string{secret})
	for _, text := range []string{secret, strings.ReplaceAll(secret, "/", `\/`), secret + secret + secret, secret + strings.Repeat("x", 100)} {
		for before := range 2 * most {
			got := s.Excerpt(strings.Repeat(".", before)+text, most)
			assert.Assert(t, !strings.Contains(got, secret[:leastPart]), "after %d bytes: %s", before, got)
			assert.Assert(t, len(got) <= most+len(Cut), "%d bytes", len(got))
		}
	}
	assert.Equal(t, s.Excerpt("all of it", most), "all of it")
	assert.Equal(t, Excerpt("äääää", 3), "ä…")
}

func FuzzHide(f *testing.F) {
	f.Add("sk-secret/key", "no ", " here", 5)
	f.Add(`a"b<c>&d`+"\x00\xff", "", "…", 0)
	f.Fuzz(func(t *testing.T, secret, before, after string, most int) {
		s := New([]string{secret})
		if len(secret) < least || strings.Contains(hidden, secret) || len(secret)+len(before)+len(after) > 1000 || most < 0 || most > 1<<20 {
			return
		}
		encoded, _ := json.Marshal(secret)
		for _, spelling := range []string{secret, url.QueryEscape(secret), html.EscapeString(secret), string(encoded[1 : len(encoded)-1])} {
			text := before + spelling + after
			assert.Assert(t, !strings.Contains(s.Hide(text), spelling) || strings.Contains(hidden+after, spelling) || strings.Contains(before+hidden, spelling), "Hide(%q)", text)
			got := s.Excerpt(text, most)
			assert.Assert(t, len(got) <= most+len(Cut), "Excerpt(%q, %d) has %d bytes", text, most, len(got))
		}
	})
}
