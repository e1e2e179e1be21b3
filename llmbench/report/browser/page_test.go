package browser

import (
	"bytes"
	_ "embed"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

//go:embed checks.js
var checks string

// check runs one of the checks. A check returns what is wrong.
func (p *tab) check(name, where string) {
	p.t.Helper()
	wrong := eval[[]string](p, "(() => {"+checks+"; return "+name+"().slice(0, 8)})()")
	assert.Check(p.t, len(wrong) == 0, "%s, %s:\n%q", name, where, wrong)
}

// TestLook opens pages at two widths: with light colours, with dark colours, and in print. Nothing
// may overlap or be cut off, texts and lines must have enough contrast, and everything must have a
// name.
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(*testing.T) *report.Report
		pages int // the largest number of pages in print
	}{{"systems", systems, 9}, {"pair", pair, 8}, {"verdict", verdict, 4}, {"catalogue", catalogue, 4}, {"published", published, 14}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.of(t))
			const background = `getComputedStyle(document.body).backgroundColor`
			for _, width := range []int64{1280, 400} {
				where := map[int64]string{1280: "wide", 400: "narrow"}[width]
				p.do(media("", "light"))
				p.width(width)
				light := p.shoot(c.name + "-" + where)
				assert.Check(t, mean(light) > 180, "mean brightness %v in the light", mean(light))
				// The first screen has a height of 900 pixels. The answer, and the beginning of its table
				// or picture, must be on it.
				top := eval[float64](p, `document.querySelector(".answer .panel, .answer table, main table").getBoundingClientRect().top + scrollY`)
				assert.Check(t, top < 640, "the answer's table or picture begins at %v, %s", top, where)
				p.unfold(true)
				for _, name := range []string{"overlaps", "cutOff", "names", "contrast", "drawn"} {
					p.check(name, where)
				}
				// In this font the texts are much wider.
				eval[int](p, `(() => { const all = document.querySelectorAll(".panel svg"); for (const s of all) s.style.fontFamily = "monospace"; return all.length })()`)
				p.check("overlaps", where+" in another font")
				eval[int](p, `(() => { const all = document.querySelectorAll(".panel svg"); for (const s of all) s.style.fontFamily = ""; return all.length })()`)
				p.do(media("", "dark"))
				p.check("contrast", where+" in the dark")
				p.unfold(false)
				dark := p.shoot(c.name + "-" + where + "-dark")
				assert.Check(t, mean(dark) < 80, "mean brightness %v in the dark", mean(dark))
				assert.Equal(t, eval[string](p, background), "rgb(23, 23, 26)")
			}
			p.width(720) // the width of A4 paper without margins
			p.do(media("print", "dark"))
			assert.Equal(t, eval[string](p, background), "rgb(255, 255, 255)")
			for _, name := range []string{"overlaps", "cutOff", "contrast", "drawn"} {
				p.check(name, "in print")
			}
			p.shoot(c.name + "-print")
			p.do(media("", ""))
			printed, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
			assert.NilError(t, err)
			assert.NilError(t, os.WriteFile(filepath.Join(shots(t), c.name+"-print.pdf"), printed, 0o666))
			pages := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(printed, -1))
			assert.Check(t, bytes.HasPrefix(printed, []byte("%PDF")) && pages > 0 && pages <= c.pages, "%d pages in print, want at most %d", pages, c.pages)
		})
	}
}

// TestSize checks that pages are small: of three systems with six loads and three samples, and of sixteen
// systems with six loads and five samples, all with records. The time to the first paint is only printed,
// because it depends on the machine.
func TestSize(t *testing.T) {
	for name, c := range map[string]struct {
		of    func(*testing.T) *report.Report
		limit int
	}{"three systems": {systems, 1_000_000}, "sixteen systems": {sixteen, 1_500_000}} {
		p := open(t, c.of(t))
		assert.Check(t, p.size < c.limit, "%s: a page of %d bytes, want less than %d", name, p.size, c.limit)
		paint := eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`)
		t.Logf("%s: %d bytes, first contentful paint after %.0f ms", name, p.size, paint)
		p.shoot(strings.ReplaceAll(name, " ", "-"))
	}
}

// TestGallery checks the pictures in README.md and in report/README.md. Each shows the first screen of a
// page about made-up results. With -update the test draws them.
func TestGallery(t *testing.T) {
	for name, of := range map[string]func(*testing.T) *report.Report{"page": pair, "page-systems": systems, "page-catalogue": catalogue, "page-published": published, "page-verdict": verdict} {
		path := filepath.Join("../testdata", name+".png")
		if golden.FlagUpdate() {
			p := open(t, of(t))
			p.do(chromedp.EmulateViewport(1200, 720))
			shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			assert.NilError(t, err)
			assert.NilError(t, os.WriteFile(path, shot, 0o666))
		}
		kept, err := os.ReadFile(path)
		assert.NilError(t, err)
		shown, err := png.Decode(bytes.NewReader(kept))
		assert.NilError(t, err)
		assert.Check(t, len(kept) < 180_000 && shown.Bounds().Dx() == 1200 && mean(shown) > 180, "%s has %d bytes", path, len(kept))
	}
}
