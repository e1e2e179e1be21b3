// Package markdown escapes texts in Markdown.
package markdown

import "strings"

// Escape returns text with everything escaped that GitHub Flavored Markdown (https://github.github.com/gfm/)
// would take for a column, for markup, for a link or for a mention of a user, also where a block begins. Ends of
// lines remain. GitHub looks for mentions in the rendered text, so that neither a backslash nor an entity prevents one, and
// an empty comment does (https://github.com/github/markup/issues/1168).
func Escape(text string) string {
	var b strings.Builder
	for line := range strings.Lines(EscapeInline(text)) {
		b.WriteString(escapeStart(line))
	}
	return b.String()
}

// EscapeInline is [Escape] for a text that follows another one on its line, or that is in a table.
var EscapeInline = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `~`, `\~`, `#`, `\#`, `$`, `\$`,
	`<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, `@`, `@<!-- -->`, `://`, `\://`, `www.`, `www\.`,
).Replace

// escapeStart escapes what would make a line an item of a list, code, a heading or a part of a table.
func escapeStart(line string) string {
	ends := func(i int, set string) bool {
		return i == len(line) || strings.IndexByte(set, line[i]) >= 0
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	switch {
	case digits == len(line):
	case digits > 0 && strings.IndexByte(".)", line[digits]) >= 0 && ends(digits+1, " \t\n"):
		return line[:digits] + `\` + line[digits:]
	case strings.IndexByte("-+=:", line[0]) >= 0 && ends(1, " \t\n-+=:"):
		return `\` + line
	case line[0] == ' ' || line[0] == '\t':
		return "&#32;" + line[1:]
	}
	return line
}
