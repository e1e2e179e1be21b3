package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

// TestMarkdown renders the texts for pull requests as GitHub does, and looks at the result. The sentence
// must be bold, the table must have all its cells, no text of a file may become an element, and a text
// must have fewer than 60 lines.
func TestMarkdown(t *testing.T) {
	for name, of := range map[string]func(*testing.T) *report.Report{"systems": systems, "pair": pair, "verdict": verdict, "published": published} {
		r := of(t)
		text := r.Markdown()
		assert.Check(t, strings.Count(text, "\n") < 60 && strings.Count(r.Text(), "\n") < 60, "%s: %d and %d lines", name, strings.Count(text, "\n"), strings.Count(r.Text(), "\n"))
		var b bytes.Buffer
		assert.NilError(t, goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &b))
		page := b.String()
		assert.Check(t, strings.Contains(page, "<strong>") && strings.Count(page, "<table>") == 1 && strings.Count(page, "<h3") == 1, "%s:\n%s", name, page)
		columns, cells, rows := strings.Count(page, "<th"), strings.Count(page, "<td"), strings.Count(page, "<tr>")-1
		assert.Check(t, columns > 1+1 && cells == (columns-1)*rows, "%s: %d columns, %d cells in %d rows", name, columns, cells, rows) // thead counts as a th
		assert.Check(t, !regexp.MustCompile(`<(script|img|a|em|del|code|blockquote)\b`).MatchString(page), "%s:\n%s", name, page)
		p := openHTML(t, "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>x</title><h1>Pull request</h1><h2>Comment</h2>"+page)
		shown := eval[string](p, "document.body.innerText")
		assert.Check(t, strings.Contains(shown, r.Answer[0]), "%s: %q is not in %q", name, r.Answer[0], shown)
		p.width(1000)
		p.shoot("markdown-" + name)
		p.check("names", name)
	}
	assert.NilError(t, os.WriteFile(filepath.Join(shots(t), "pair.txt"), []byte(pair(t).Text()), 0o666))
}
