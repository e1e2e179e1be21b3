package redact

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// command matches where a CI system would read a command: GitHub's ::name:: at the beginning of a line, and
// ##[name] or Azure's and TeamCity's ##name[ anywhere
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
var command = regexp.MustCompile(`(?m)^[\s\pZ]*::[A-Za-z]|##[A-Za-z]*\[`)

// escaped reports whether a character is escaped, or is what a byte that is not UTF-8 is read as.
func escaped(r rune) bool {
	return r == utf8.RuneError || r != '\n' && r != '\t' && !unicode.IsGraphic(r)
}

// Printable returns text without characters and words that could act on what shows the text. Characters that
// are not graphic, such as the control characters of a terminal, separators of lines and marks of direction,
// are escaped as in Go, such as \x1b. Newlines and tabs are not escaped. The first character of a command to a
// CI system is escaped, too.
func Printable(text string) string {
	if !strings.ContainsFunc(text, escaped) && !strings.Contains(text, "::") && !strings.Contains(text, "##") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[0]), 16))
		case r != utf8.RuneError && escaped(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return command.ReplaceAllStringFunc(b.String(), func(found string) string {
		at := strings.IndexAny(found, ":#")
		return found[:at] + `\x` + strconv.FormatUint(uint64(found[at]), 16) + found[at+1:]
	})
}

// Line is like [Printable], and also replaces newlines and tabs by spaces, so that the text is a part of one line.
func Line(text string) string {
	return Printable(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
}
