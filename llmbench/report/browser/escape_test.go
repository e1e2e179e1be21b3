package browser

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	ghtml "github.com/yuin/goldmark/renderer/html"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/markdown"
)

var element = regexp.MustCompile(`<[^>]*>`)

// FuzzEscapeMarkdown renders escaped texts as GitHub does, wherever the reports have them. Each must read as the
// original text, and add no element.
func FuzzEscapeMarkdown(f *testing.F) {
	for _, seed := range []string{
		"plain text, 1.5 % of 3 at c=8", "*a* _b_ __c__ **d** ~~e~~ `f` \\g \\* \\", "[a](https://x.y) ![b](c) [ ] [^1] [x]: y",
		"<b>x</b> <script>alert(1)</script> &amp; &#64; <!-- a -->", "a | b || c", "# a", "## ", "- a", "-", "--- ", "- - -", "***", "+ a", "* a", "1. a", "12) a", "1.", "1.5 ms",
		"> a", "    code", "\tcode", "```", "~~~ a", "=== ", ":--", ":-:", "+1.5%", "-3 %", "https://example.org/a_b?c=d&e=f", "www.example.org", "ftp://a", "a@b.org", "@user #12",
		"$x$", ":smile:", "a\\\\b", "{a}(b)!", "&copy; & &lt;", "a\nb", "a\n- b", "a\n===", "a\n---", "a\n    b", "a   \nb", "2026-01-02T03:04:05Z x=1,y=2",
	} {
		f.Add(seed)
	}
	renderer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(ghtml.WithUnsafe()))
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\t' || unicode.IsPrint(r) && r != unicode.ReplacementChar {
				return r
			}
			return ' '
		}, text)
		oneLine := strings.ReplaceAll(text, "\n", " ")
		for _, c := range []struct{ before, text, after, tags string }{
			{"", text, "", "<p></p>"},
			{"a\n", text, "", "<p></p>"},
			{"### ", oneLine, "", "<h3></h3>"},
			{"- ", oneLine, "", "<ul><li></li></ul>"},
			{"**x ", oneLine, " x**", "<p><strong></strong></p>"},
			{"| a | b |\n| --- | --- |\n| ", oneLine, " | c |", "<table><thead><tr><th></th><th></th></tr></thead><tbody><tr><td></td><td></td></tr></tbody></table>"},
		} {
			if strings.TrimSpace(c.text) == "" || strings.Contains(c.text, "\n\n") || regexp.MustCompile(`\n[ \t]+\n`).MatchString("\n"+c.text+"\n") || strings.HasPrefix(c.text, "\n") {
				continue // a blank line ends a paragraph
			}
			var b bytes.Buffer
			source := c.before + markdown.Escape(c.text) + c.after
			if err := renderer.Convert([]byte(source), &b); err != nil {
				t.Fatal(err)
			}
			page := strings.ReplaceAll(b.String(), "<!-- -->", "")
			if regexp.MustCompile(`@\w`).MatchString(b.String()) {
				t.Errorf("%q is rendered as %q, which mentions somebody", source, b.String())
			}
			var tags strings.Builder
			for _, tag := range element.FindAllString(page, -1) {
				if tag != "<br>" { // a line break is where the text has one
					tags.WriteString(tag)
				}
			}
			words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
			shown := words(html.UnescapeString(element.ReplaceAllString(page, " ")))
			if tags.String() != c.tags || !strings.Contains(shown, words(c.text)) {
				t.Errorf("%q is rendered as %q, with the text %q", source, page, shown)
			}
		}
	})
}
