package history

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestMarkdownIsEscaped checks that no name in a result file mentions a user or draws a link or an image in an issue, and
// that no name controls the terminal.
func TestMarkdownIsEscaped(t *testing.T) {
	const bad = "@octocat![x](https://example.com/i.png)[y](//example.com)<img/src=z>https://example.org\x1b[31m"
	edit := func(last int) func(int, []string) []string {
		return func(night int, lines []string) []string {
			for i := range lines {
				lines[i] = strings.Replace(lines[i], "BenchmarkServing", "BenchmarkServing"+bad, 1)
			}
			if night == last {
				lines[0] = "gpu: " + bad + "\n" + lines[0]
			}
			return lines
		}
	}
	about := func(night int, a *About) { a.Machine, a.Commit, a.Server = bad, bad+string(rune('a'+night)), bad }
	code := regexp.MustCompile("(?m)`[^`\n]*`|^    .*$")
	for name, p := range map[string]*project{
		"alarm":             {nights: 40, rows: 4, noise: 0.01, step: slower(30, 0.3, 2), edit: edit(-1), about: about},
		"all slow":          {nights: 40, rows: 4, noise: 0.01, step: slower(39, 0.3, 0, 1, 2, 3), edit: edit(-1), about: about},
		"configuration":     {nights: 40, rows: 4, noise: 0.01, edit: edit(39), about: about},
		"several machines":  {nights: 40, rows: 4, noise: 0.01, edit: edit(-1), about: func(night int, a *About) { about(night, a); a.Machine += string(rune('0' + night%2)) }},
		"a machine is gone": {nights: 40, rows: 4, noise: 0.01, edit: edit(-1), about: func(night int, a *About) { about(night, a); a.Machine += string(rune('0' + night/28)) }},
		"missing": {nights: 40, rows: 4, noise: 0.01, about: about, edit: func(night int, lines []string) []string {
			lines = edit(-1)(night, lines)
			if night == 39 {
				return lines[1:]
			}
			return lines
		}},
	} {
		t.Run(name, func(t *testing.T) {
			runs := p.runs(t)
			for n := 30; n <= len(runs); n++ { // every state of the history
				r, err := p.reader.Check(runs[:n], defaults)
				assert.NilError(t, err)
				var md, text bytes.Buffer
				assert.NilError(t, r.Markdown(&md))
				assert.NilError(t, r.Text(&text))
				plain := strings.ReplaceAll(code.ReplaceAllString(md.String(), ""), "@<!-- -->", "") // which mentions nobody
				for _, sign := range []string{"@", "](", "![", "<img", "https://"} {
					at := strings.Index(strings.ReplaceAll(plain, `\`+sign, ""), sign)
					assert.Assert(t, at < 0, "%s in %s", sign, plain)
				}
				assert.Assert(t, !strings.Contains(md.String()+text.String(), "\x1b"))
			}
		})
	}
}
