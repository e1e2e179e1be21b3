package browser

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

//go:embed checks.js
var checks string

// check runs one of the checks, which return what is wrong.
func (p *tab) check(name, where string) {
	p.t.Helper()
	wrong := eval[[]string](p, "(() => {"+checks+"; return "+name+"().slice(0, 8)})()")
	assert.Check(p.t, len(wrong) == 0, "%s, %s:\n%q", name, where, wrong)
}

// TestLook opens pages at two widths, in the light, in the dark and in print. Nothing overlaps or
// is cut off, texts and lines have enough contrast, and everything has a name.
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(*testing.T) *report.Report
		pages int // at most, in print
	}{{"systems", systems, 8}, {"verdict", verdict, 4}, {"published", published, 60}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.of(t))
			const background = `getComputedStyle(document.body).backgroundColor`
			for _, width := range []int64{1280, 400} {
				where := map[int64]string{1280: "wide", 400: "narrow"}[width]
				p.do(media("", "light"))
				p.width(width)
				light := p.shoot(c.name + "-" + where)
				assert.Check(t, mean(light) > 180, "mean brightness %v in the light", mean(light))
				p.unfold(true)
				for _, name := range []string{"overlaps", "cutOff", "names", "contrast", "drawn"} {
					p.check(name, where)
				}
				p.do(media("", "dark"))
				p.check("contrast", where+" in the dark")
				p.unfold(false)
				dark := p.shoot(c.name + "-" + where + "-dark")
				assert.Check(t, mean(dark) < 80, "mean brightness %v in the dark", mean(dark))
				assert.Equal(t, eval[string](p, background), "rgb(23, 23, 26)")
			}
			p.width(1280)
			p.do(media("print", "dark"))
			assert.Equal(t, eval[string](p, background), "rgb(255, 255, 255)")
			p.do(media("", ""))
			printed, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
			assert.NilError(t, err)
			assert.NilError(t, os.WriteFile(filepath.Join(shots(t), c.name+"-print.pdf"), printed, 0o666))
			pages := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(printed, -1))
			assert.Check(t, bytes.HasPrefix(printed, []byte("%PDF")) && pages > 0 && pages <= c.pages, "%d pages in print, want at most %d", pages, c.pages)
		})
	}
}
