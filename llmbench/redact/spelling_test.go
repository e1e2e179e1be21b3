package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// escapes are ways to write one byte of a secret, which is ASCII here.
var escapes = map[string]func(c byte) string{
	"JSON":             func(c byte) string { return fmt.Sprintf(`\u%04x`, c) },
	"JSON, upper case": func(c byte) string { return fmt.Sprintf(`\u%04X`, c) },
	"JavaScript":       func(c byte) string { return fmt.Sprintf(`\u{%x}`, c) },
	"Go, 32 bits":      func(c byte) string { return fmt.Sprintf(`\U%08x`, c) },
	"Go":               func(c byte) string { return fmt.Sprintf(`\x%02x`, c) },
	"C":                func(c byte) string { return fmt.Sprintf(`\%03o`, c) },
	"URL":              func(c byte) string { return fmt.Sprintf("%%%02X", c) },
	"URL, lower case":  func(c byte) string { return fmt.Sprintf("%%%02x", c) },
	"HTML":             func(c byte) string { return fmt.Sprintf("&#%d;", c) },
	"HTML, zeros":      func(c byte) string { return fmt.Sprintf("&#%05d;", c) },
	"HTML, base 16":    func(c byte) string { return fmt.Sprintf("&#x%x;", c) },
	"HTML, upper case": func(c byte) string { return fmt.Sprintf("&#X%X;", c) },
	"slashes": func(c byte) string {
		if isAlphanumeric(c) {
			return string(c)
		}
		return `\` + string(c)
	},
}

// encodings are ways in which programs write a whole text.
var encodings = map[string]func(text string) string{
	"plain": func(text string) string { return text },
	"JSON": func(text string) string {
		b, _ := json.Marshal(text)
		return string(b[1 : len(b)-1])
	},
	"URL's query":      url.QueryEscape,
	"URL's path":       url.PathEscape,
	"HTML":             html.EscapeString,
	"Go":               func(text string) string { return fmt.Sprintf("%q", text) },
	"Go, ASCII":        func(text string) string { return fmt.Sprintf("%+q", text) },
	"base64":           func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
	"base64, raw":      func(text string) string { return base64.RawStdEncoding.EncodeToString([]byte(text)) },
	"base64, URL":      func(text string) string { return base64.URLEncoding.EncodeToString([]byte(text)) },
	"base64, URL, raw": func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) },
	"base64 of a user": func(text string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + text)) },
	"base64 in more":   func(text string) string { return base64.StdEncoding.EncodeToString([]byte("ab" + text + "cde")) },
	"hexadecimal":      func(text string) string { return hex.EncodeToString([]byte(text)) },
	"Latin-1":          inLatin1,
	"shell":            func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" },
	"shell, quotes":    func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'" },
	"HTML, names": func(text string) string {
		return strings.NewReplacer("+", "&plus;", "/", "&sol;", "=", "&equals;", "&", "&amp;", "<", "&lt;", ":", "&colon;").Replace(text)
	},
}

// TestEncodings checks that nothing is left of a secret in each encoding, and in each encoding of an encoding.
func TestEncodings(t *testing.T) {
	for _, secret := range []string{"sk-a+b/c=d&e<f>'g", `back\slash"quote %41 key`, "Zm9v+YmFy/0123456789==", "grüße-😀-schlüssel", "+/=&%\\+/=&%\\", "eightchr"} {
		s := New([]string{secret})
		for inner, one := range encodings {
			for outer, two := range encodings {
				if binary(outer) || outer == "Latin-1" || strings.HasPrefix(outer, "shell") { // an encoding of an escaped secret has other bytes
					continue
				}
				encoded := two(one(secret))
				for _, around := range [][2]string{{"", ""}, {"the key ", " is wrong"}, {`{"error":"`, `"}`}} {
					got := s.Remove(around[0] + encoded + around[1])
					assert.Assert(t, strings.Contains(got, hidden), "%s in %s: %q", inner, outer, got)
					left := strings.TrimSuffix(strings.TrimPrefix(got, around[0]), around[1])
					assert.Assert(t, len(left) <= len(hidden)+36, "%s in %s of %q: %q leaves %q", inner, outer, secret, encoded, left)
				}
			}
		}
		if !isASCII(secret) {
			continue
		}
		for name, escape := range escapes {
			var all, some strings.Builder
			for i := range len(secret) {
				all.WriteString(escape(secret[i]))
				if i%2 == 0 && secret[i] != '\\' {
					some.WriteByte(secret[i])
				} else {
					some.WriteString(escape(secret[i]))
				}
			}
			for _, text := range []string{all.String(), some.String(), encodings["JSON"](all.String()), url.QueryEscape(all.String()), html.EscapeString(all.String())} {
				assert.Equal(t, s.Remove("<"+text+">"), "<"+hidden+">", "%s: %s", name, text)
			}
		}
	}
}

// binary reports whether an encoding encodes bytes and not characters.
func binary(encoding string) bool {
	return strings.HasPrefix(encoding, "base64") || encoding == "hexadecimal"
}

func isASCII(text string) bool {
	return strings.Trim(fmt.Sprintf("%+q", text), `"`) == strings.Trim(fmt.Sprintf("%q", text), `"`)
}

// TestLines checks that a secret is found if a line ends within it.
func TestLines(t *testing.T) {
	const secret = "sk-PlantedSecret/39"
	s := New([]string{secret})
	for _, end := range []string{"\n", "\r\n", "\n        ", "\n# ", `\n`, `\r\n    `, `\\n`, `\u000a`, "&#10;", "%0D%0A"} {
		for cut := 1; cut < len(secret); cut++ {
			assert.Equal(t, s.Remove("key: "+secret[:cut]+end+secret[cut:]+"."), "key: [redacted].")
			assert.Equal(t, s.RemoveAfter("key: "+secret[:cut]+end, secret[cut:]+"."), "[redacted].")
		}
	}
	assert.Equal(t, s.RemoveAfter("the key "+secret, " is wrong"), " is wrong")
	assert.Equal(t, New([]string{"first-line-of-key\nsecond-line-of-key"}).Remove("second-line-of-key"), "[redacted]")
}

// TestUnchanged checks that texts without the secrets stay as they are.
func TestUnchanged(t *testing.T) {
	s := New([]string{"sk-secret/key+two", "true", "1", "/root", "0123456", "redacted"})
	for _, text := range []string{
		"", "1", "true", "/root", "0123456", "[redacted]", `\u002B %2B &plus; &#43; + \`, "sk-secret/key", "SK-SECRET/KEY+TWO",
		"100 % done\r\n", `C:\users\u00`, "&&&;;; %%% \\\\\\", "sk-secret/key two\x00\xff", strings.Repeat(`\\\u005c%25&amp;`, 300),
	} {
		assert.Equal(t, s.Remove(text), text)
		assert.Equal(t, Secrets{}.Remove(text), text)
	}
}

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\tb\nc", "a\tb\nc"},
		{"\x1b[2J\r\a\x00", `\x1b[2J\r\a\x00`},
		{"é 日本 😀", "é 日本 😀"},
		{"raw \x9b2J", `raw \x9b2J`},
		{"a\u2028b\u2029c\u0085d", `a\u2028b\u2029c\u0085d`},
		{"a\u202eb\u2066c\u200bd\ufeff", `a\u202eb\u2066c\u200bd\ufeff`},
		{"::set-output name=a::b", `\x3a:set-output name=a::b`},
		{"x\n \t\u3000::stop-commands::y", "x\n \t\u3000\\x3a:stop-commands::y"},
		{"x ##[error]y ##vso[task.setvariable]z ##teamcity[a]", `x \x23#[error]y \x23#vso[task.setvariable]z \x23#teamcity[a]`},
		{"::1 is an address, and std::vector a name, ## [a](b)", "::1 is an address, and std::vector a name, ## [a](b)"},
	} {
		assert.Equal(t, Printable(c.text), c.want)
		assert.Equal(t, Printable(c.want), c.want)
	}
}

func TestAdd(t *testing.T) {
	Add("known-secret-1", "short")
	Add("known-secret-1", "known-secret-2")
	assert.Equal(t, Known().Remove("known-secret-1 known-secret-2 short"), "[redacted] [redacted] short")
}

// TestBegun checks that the end of a text is recognized as the beginning of a secret.
func TestBegun(t *testing.T) {
	s := New([]string{"sk-secret/key"})
	for _, c := range []struct {
		text string
		want int
	}{{"", 0}, {"a sk-", 0}, {"a sk-s", 4}, {"a sk-secret/ke", 12}, {"a sk-secret/key", 0}, {`a sk-secret\u00`, 13}, {"a sk-secret.", 0}} {
		assert.Equal(t, s.Begun(c.text, leastPart), c.want, c.text)
	}
	assert.Equal(t, s.RemoveBegun("sk-secret/key sk-sec"), "[redacted] [redacted]")
}

// FuzzSpellings checks that a secret is found if each of its characters is escaped in any way, wherever it is,
// and that the text around it is unchanged.
func FuzzSpellings(f *testing.F) {
	names := make([]string, 0, len(escapes))
	for name := range escapes {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Add("sk-secret/key+=", "before ", " after", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(`a"b<c>&d%\ef`, `\u00`, "%", []byte{20, 4, 20})
	f.Fuzz(func(t *testing.T, secret, before, after string, how []byte) {
		if len(secret) < least || len(secret)+len(before)+len(after) > 500 || len(how) == 0 || strings.ContainsAny(secret, "\n\r") || strings.Contains(hidden, secret) {
			return
		}
		s := New([]string{secret})
		var spelling strings.Builder
		for i := range len(secret) {
			c := secret[i]
			if k := int(how[i%len(how)]); k < len(names) && c < 0x80 && c >= ' ' {
				spelling.WriteString(escapes[names[k]](c))
			} else {
				spelling.WriteByte(c)
			}
		}
		text := before + spelling.String() + after
		got := s.Remove(text)
		assert.Assert(t, strings.Contains(got, hidden), "%q in %q", secret, text)
		// The text around it is unchanged, except where it continues a secret.
		if found := s.find(text); len(found) == 1 && found[0] == (span{len(before), len(before) + spelling.Len()}) {
			assert.Equal(t, got, before+hidden+after)
		}
		if plain := before + "\n" + after; len(s.find(plain)) == 0 {
			assert.Equal(t, s.Remove(plain), plain)
		}
	})
}
