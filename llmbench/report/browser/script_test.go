package browser

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"gotest.tools/v3/assert"
)

// A place is a position in the window, in pixels.
type place struct{ X, Y float64 }

// first scrolls to a panel. It returns the position of the first point of a series, where the line
// of the series begins.
func (p *tab) first(panel string, series int) place {
	p.t.Helper()
	return eval[place](p, fmt.Sprintf(`(() => {
		const svg = [...document.querySelectorAll(%q + " svg")].find(s => s.checkVisibility());
		svg.scrollIntoView({block: "center", behavior: "instant"});
		const path = [...svg.querySelectorAll("g[data-s='%d'] path")].find(e => e.getAttribute("fill") === "none");
		const at = path.getPointAtLength(0).matrixTransform(path.getScreenCTM());
		return {X: at.x, Y: at.y};
	})()`, panel, series))
}

const tip = `document.querySelector(".tip").textContent`

// sweep selects the first panel of the sweep in the report that systems returns.
const sweep = "figure[id^=sweep] .panel"

// TestHover checks that the pointer shows the load and the value of a point, and the values of the
// other systems with their ratios, on linear and on logarithmic axes. Keys must show the same.
func TestHover(t *testing.T) {
	p := open(t, systems(t))
	names := eval[[]string](p, `[...document.querySelector("figure[id^=sweep]").querySelectorAll(".legend li")].map(e => e.textContent.trim())`)
	assert.Equal(t, len(names), 3)
	for _, log := range []bool{false, true} {
		for i, name := range names {
			at := p.first(sweep, i)
			p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y))
			said := eval[string](p, tip)
			// Points of other series may be so close that the pointer shows one of them.
			near := false
			for j := range names {
				near = near || strings.HasPrefix(said, "1 user\n"+names[j]+": ")
			}
			assert.Check(t, near && strings.Count(said, " req/s") == 3 && strings.Count(said, " times)") == 2, "%s, logarithmic %v: %q", name, log, said)
		}
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1))
		assert.Equal(t, eval[string](p, tip), "")
		assert.Check(t, eval[bool](p, `[...document.querySelectorAll("figure[id^=sweep] .tools button")].some(b => b.textContent === "Logarithmic" && (b.click(), true))`))
	}

	// The keys go to the first point of the first series, then to the next load, then to the next
	// series.
	eval[bool](p, `(() => { const e = document.querySelector("`+sweep+`"); e.focus(); return document.activeElement === e })()`)
	for _, c := range []struct{ key, want string }{
		{kb.ArrowRight, "1 user\n" + names[0]}, {kb.ArrowRight, "2 users\n" + names[0]},
		{kb.ArrowDown, "2 users\n" + names[1]}, {kb.ArrowLeft, "1 user\n" + names[1]}, {kb.ArrowUp, "1 user\n" + names[0]},
	} {
		p.do(chromedp.KeyEvent(c.key))
		said := eval[string](p, tip)
		assert.Check(t, strings.HasPrefix(said, c.want), "%q, want %q", said, c.want)
	}
	p.do(chromedp.KeyEvent(kb.Escape))
	assert.Equal(t, eval[string](p, tip), "")
}

// TestFrontier checks that the pointer shows all systems at the load of a point, although they are at
// different places, with both values of each.
func TestFrontier(t *testing.T) {
	p := open(t, systems(t))
	const frontier = "figure[id^=frontier] .panel"
	eval[bool](p, `(document.querySelector("`+frontier+`").focus(), true)`)
	p.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	said := eval[string](p, tip)
	assert.Check(t, strings.HasPrefix(said, "2 users\nserver-") && strings.Count(said, " for each user") == 3 && strings.Count(said, " times)") == 2 && strings.Count(said, "\n") == 3, "%q", said)
}

// TestTables checks that columns can be hidden, also by keys, and that the file of a table has exact
// values and the units of benchmark files.
func TestTables(t *testing.T) {
	p := open(t, systems(t))
	p.unfold(true)
	const table = `document.querySelector("details[id^=figures] table")`
	heads := `[...` + table + `.tHead.rows[0].cells].filter(c => c.checkVisibility()).map(c => c.textContent.trim())`
	before := eval[[]string](p, heads)
	assert.Check(t, len(before) > 10 && !strings.Contains(strings.Join(before, " "), "-ns"), "%q", before)
	rows := eval[int](p, `(() => { const box = `+table+`.parentNode.getBoundingClientRect(); return [...`+table+`.tBodies[0].rows].filter(r => r.getBoundingClientRect().bottom <= box.bottom).length })()`)
	assert.Check(t, rows >= 8, "%d rows can be seen", rows)
	eval[bool](p, `(document.querySelector("details[id^=figures] .columns input").focus(), true)`)
	p.do(chromedp.KeyEvent(" "))
	assert.Equal(t, len(eval[[]string](p, heads)), len(before)-1)
	assert.Check(t, eval[bool](p, `[...`+table+`.rows].every(r => !r.cells[1].checkVisibility())`))

	dir := downloads(p)
	eval[bool](p, `(document.querySelector("details[id^=figures] .tools > button").click(), true)`)
	cells, err := csv.NewReader(strings.NewReader(saved(t, dir, "figures*.csv"))).ReadAll()
	assert.NilError(t, err)
	assert.Equal(t, len(cells), 19)
	at := slices.Index(cells[0], "p50-ttft-ns")
	v, err := strconv.ParseFloat(cells[1][at], 64)
	assert.Check(t, err == nil && v > 1e6 && v != math.Round(v/1e6)*1e6, "%q", cells[1][at])
}

// TestChooser checks that choosing a model, by keys too, leaves only its groups in the table and among the
// folded parts, and that values without a group cannot be chosen. A single group is unfolded.
func TestChooser(t *testing.T) {
	p := open(t, published(t))
	const rows = `[...document.querySelectorAll("[data-name=leaders] tbody tr")].filter(r => r.checkVisibility())`
	const folds = `[...document.querySelectorAll("details.chosen")].filter(d => !d.hidden)`
	all := eval[int](p, rows+".length")
	assert.Check(t, all > 40 && eval[int](p, folds+".length") == all, "%d groups", all)
	top := eval[float64](p, `document.querySelector("main").getBoundingClientRect().top + scrollY`)
	assert.Check(t, top < 1100, "what follows the table of leaders begins at %v", top)
	select_ := func(name string) string {
		return `[...document.querySelectorAll(".chooser label")].find(l => l.textContent.startsWith("` + name + `")).querySelector("select")`
	}
	choose := func(name, value string) {
		t.Helper()
		eval[bool](p, `(() => { const s = `+select_(name)+`; s.value = "`+value+`"; s.dispatchEvent(new Event("change")); return true })()`)
	}
	choose("model", "qwen2-7b-instruct")
	texts := eval[[]string](p, rows+`.map(r => r.textContent)`)
	assert.Check(t, len(texts) > 1 && len(texts) < all, "%q", texts)
	for _, text := range texts {
		assert.Check(t, strings.Contains(text, "qwen2-7b-instruct"), "%q", text)
	}
	assert.Equal(t, eval[int](p, folds+".length"), len(texts))
	assert.Equal(t, eval[string](p, `document.querySelector(".chooser output").textContent`), fmt.Sprintf("%d of %d", len(texts), all))
	assert.Check(t, eval[bool](p, `[...`+select_("workload")+`.options].some(o => o.disabled)`))
	eval[bool](p, `(`+select_("workload")+`.focus(), true)`)
	for range 100 { // the first workload that can be chosen
		p.do(chromedp.KeyEvent(kb.ArrowDown))
		if eval[string](p, select_("workload")+".value") != "" {
			break
		}
	}
	assert.Check(t, eval[int](p, rows+".length") < len(texts))
	choose("workload", "")
	choose("model", "")
	assert.Equal(t, eval[int](p, rows+".length"), all)
}

// downloads has the browser write downloads to a folder, and returns the folder.
func downloads(p *tab) string {
	dir := p.t.TempDir()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir})
		return err
	}))
	return dir
}

// saved returns the text of the file that the browser saves.
func saved(t *testing.T, dir, pattern string) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		assert.NilError(t, err)
		if len(found) == 1 {
			text, err := os.ReadFile(found[0])
			assert.NilError(t, err)
			if len(text) > 0 {
				return string(text)
			}
		}
	}
	t.Fatalf("%s: no file within 30 s", pattern)
	return ""
}

// TestBars checks that the pointer shows the value of a bar.
func TestBars(t *testing.T) {
	p := open(t, verdict(t))
	at := eval[place](p, `(() => {
		const svg = [...document.querySelectorAll("figure#verdict .panel svg")].find(s => s.checkVisibility());
		svg.scrollIntoView({block: "start", behavior: "instant"});
		const path = svg.querySelector("g[data-s='0'] path");
		const at = path.getPointAtLength(0).matrixTransform(path.getScreenCTM());
		return {X: at.x + 1, Y: at.y - 2};
	})()`)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y))
	said := eval[string](p, tip)
	assert.Check(t, strings.HasPrefix(said, "old\n") && strings.Contains(said, "time per output token, mean") && strings.Contains(said, "change: 0 %") && strings.Contains(said, "-0.348 % to 0.348 %"), "%q", said)
}

// TestLegend checks that the legend hides and shows a series in all panels of its picture, with the
// pointer and with the keyboard.
func TestLegend(t *testing.T) {
	p := open(t, systems(t))
	const state = `(() => {
		const chart = document.querySelector("figure[id^=sweep] .chart");
		const seen = [...chart.querySelectorAll(".panel g[data-s='1']")].filter(g => g.closest("svg").checkVisibility() && getComputedStyle(g).display !== "none" && g.firstChild);
		return chart.querySelector(".legend li[data-s='1'] button").getAttribute("aria-pressed") + " " + (seen.length > 0);
	})()`
	const button = `document.querySelector("figure[id^=sweep] .legend li[data-s='1'] button")`
	assert.Equal(t, eval[string](p, state), "true true")
	at := eval[place](p, `(() => { const b = `+button+`; b.scrollIntoView({block: "center", behavior: "instant"}); const r = b.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2} })()`)
	p.do(chromedp.MouseClickXY(at.X, at.Y))
	assert.Equal(t, eval[string](p, state), "false false")
	hidden := p.first(sweep, 1)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, hidden.X, hidden.Y))
	name := eval[string](p, button+".textContent.trim()")
	assert.Check(t, !strings.HasPrefix(eval[string](p, tip), name+"\n"), "a hidden series is shown under the pointer")
	eval[bool](p, `(`+button+`.focus(), true)`)
	p.do(chromedp.KeyEvent(" "))
	assert.Equal(t, eval[string](p, state), "true true")
}

// TestLogarithmic checks that a logarithmic axis has a mark for each power of ten, and that the
// picture can be switched back.
func TestLogarithmic(t *testing.T) {
	p := open(t, systems(t))
	const marks = `[...document.querySelectorAll("` + sweep + ` svg")].find(s => s.checkVisibility()).textContent`
	linear := eval[string](p, marks)
	const press = `(() => {
		const b = [...document.querySelectorAll("figure[id^=sweep] .tools button")].find(b => b.textContent === "Logarithmic");
		b.click();
		return b.getAttribute("aria-pressed");
	})()`
	assert.Equal(t, eval[string](p, press), "true")
	log := eval[string](p, marks)
	assert.Check(t, log != linear && strings.Contains(log, "10"), "%q after %q", log, linear)
	assert.Equal(t, eval[string](p, press), "false")
	assert.Equal(t, eval[string](p, marks), linear)
}

// TestSort checks that tables are sorted by the exact values of numbers.
func TestSort(t *testing.T) {
	p := open(t, systems(t))
	p.unfold(true)
	const column = `(() => {
		const table = document.querySelector("figure[id^=sweep] ~ details table");
		const cells = [...table.tBodies[0].rows].map(r => r.cells[1]);
		return table.tHead.rows[0].cells[1].getAttribute("aria-sort") + " " + cells.map(c => parseFloat(c.title || c.textContent)).join(" ");
	})()`
	const click = `(document.querySelector("figure[id^=sweep] ~ details table").tHead.rows[0].cells[1].querySelector("button").click(), true)`
	eval[bool](p, click)
	assert.Equal(t, eval[string](p, column), "ascending 1 1 1 2 2 2 4 4 4 8 8 8 16 16 16 32 32 32")
	eval[bool](p, click)
	assert.Equal(t, eval[string](p, column), "descending 32 32 32 16 16 16 8 8 8 4 4 4 2 2 2 1 1 1")
}

// TestSave checks that a picture is saved as SVG, and its data as CSV with exact values.
func TestSave(t *testing.T) {
	p := open(t, systems(t))
	dir := downloads(p)
	save := func(tool, kind string) string {
		eval[bool](p, `[...document.querySelectorAll("figure[id^=sweep] .tools button")].some(b => b.textContent === "`+tool+`" && (b.click(), true))`)
		return saved(t, dir, "sweep*."+kind)
	}
	svg := save("Save SVG", "svg")
	in := xml.NewDecoder(strings.NewReader(svg))
	texts := 0
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		assert.NilError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	assert.Check(t, texts > 50 && !strings.Contains(svg, "var(") && strings.Contains(svg, "server-a"), "%d texts", texts)
	assert.NilError(t, os.WriteFile(filepath.Join(shots(t), "saved.svg"), []byte(svg), 0o666))

	rows, err := csv.NewReader(strings.NewReader(save("Save CSV", "csv"))).ReadAll()
	assert.NilError(t, err)
	points := eval[int](p, `JSON.parse(document.querySelector("figure[id^=sweep] script").textContent).panels.flatMap(p => p.series).flatMap(s => s.points).length`)
	assert.Equal(t, len(rows), points+1)
	assert.Equal(t, strings.Join(rows[0], ","), "panel,series,place,place of,value,low,high,unit,note")
}

// TestWithoutScript checks that a page without its script shows its pictures and tables. It must
// show no control that needs the script.
func TestWithoutScript(t *testing.T) {
	p := open(t, systems(t), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	assert.Equal(t, eval[int](p, `document.querySelectorAll("button, .tools, .tip, [tabindex]:not(.table)").length`), 0)
	for _, width := range []int64{1280, 400} {
		p.width(width)
		for _, name := range []string{"drawn", "overlaps", "names"} {
			p.check(name, fmt.Sprint("without scripts, ", width))
		}
	}
	p.shoot("without-script")
	const opened = `document.querySelector("main details").open`
	at := eval[place](p, `(() => { const s = document.querySelector("main details summary"); s.scrollIntoView({block: "center", behavior: "instant"}); const r = s.getBoundingClientRect(); return {X: r.x + 20, Y: r.y + r.height / 2} })()`)
	p.do(chromedp.MouseClickXY(at.X, at.Y))
	assert.Check(t, eval[bool](p, opened), "details do not open")
}

// TestKeyboard checks that the first Tab reaches the link that skips the table of contents, and
// that every control can be reached.
func TestKeyboard(t *testing.T) {
	p := open(t, verdict(t))
	p.do(chromedp.KeyEvent("\t"))
	assert.Equal(t, eval[string](p, `document.activeElement.className + " " + document.activeElement.getAttribute("href")`), "skip #main")
	assert.Equal(t, eval[int](p, `document.querySelectorAll("[tabindex]:not([tabindex='0'])").length`), 0)
	assert.Equal(t, eval[int](p, `[...document.querySelectorAll("*")].filter(e => e.onclick && e.tagName !== "BUTTON").length`), 0)
}
