package shard

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Limits of the bytes that are shown of what a process has sent before it has proved that it knows the token.
const (
	mostName   = 64
	mostReason = 2000
)

// quoted returns the beginning of a text that is not verified, in one line without control characters.
func quoted(text string, most int) string { return strconv.Quote(redact.Excerpt(text, most)) }

// readable returns a reason that is not verified. It is quoted only if it has more than printable characters, or if
// it is too long.
func readable(reason string) string {
	if len(reason) <= mostReason && utf8.ValidString(reason) && strings.IndexFunc(reason, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return reason
	}
	return quoted(reason, mostReason)
}
