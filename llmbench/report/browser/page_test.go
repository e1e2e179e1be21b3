package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

// chromium is the path of a browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("NO BROWSER: no chromium in the path, so that no page was opened (Debian package: chromium)")
	return ""
}

// shots is the folder for screenshots, which ci keeps.
func shots(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REPORT_SCREENSHOTS")
	if dir == "" {
		return t.TempDir()
	}
	assert.NilError(t, os.MkdirAll(dir, 0o777))
	return dir
}

// TestPage opens a page with every kind of picture: nothing is complained of, nothing
// else is asked for, every picture is there to see, in the light, in the dark and in
// print.
func TestPage(t *testing.T) {
	bin := chromium(t)
	r := published(t)
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	assert.NilError(t, err)
	assert.NilError(t, r.HTML(f))
	assert.NilError(t, f.Close())

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.WindowSize(1200, 900))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	var mu sync.Mutex
	var requests, complaints []string
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(func(e any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "data:") {
				requests = append(requests, e.Request.URL)
			}
		case *log.EventEntryAdded:
			complaints = append(complaints, e.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprint(e.Type))
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		}
	}))
	defer cancel()
	defer time.AfterFunc(3*time.Minute, cancel).Stop() // of the whole browser
	type box struct {
		ID            string
		Width, Height float64
		Marks         int
		Label         string
	}
	address := (&url.URL{Scheme: "file", Path: path}).String()
	assert.NilError(t, chromedp.Do(ctx, asks, media("", "light"), chromedp.Navigate(address)))
	boxes := eval[[]box](t, ctx, `(() => {
		for (const d of document.querySelectorAll("details")) d.open = true;
		return [...document.querySelectorAll(".panel")].map(panel => {
			const s = [...panel.querySelectorAll("svg")].filter(s => s.getClientRects().length > 0);
			const b = s[0].getBoundingClientRect();
			const seen = [...s[0].querySelectorAll("path,text")].filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 || r.height > 0 });
			return {ID: panel.closest("figure").id, Width: b.width, Height: b.height, Marks: seen.length, Label: s.length === 1 ? s[0].getAttribute("aria-label") : ""};
		});
	})()`)
	assert.Check(t, len(boxes) >= len(r.Pictures))
	eval[bool](t, ctx, `(() => { for (const d of document.querySelectorAll("details")) d.open = false; return true })()`)
	for _, b := range boxes {
		assert.Check(t, b.Width > 300 && b.Height > 50 && b.Marks > 6 && b.Label != "", "%+v", b)
	}
	assert.Check(t, !eval[bool](t, ctx, `document.documentElement.scrollWidth > document.documentElement.clientWidth`), "the page is wider than its window")
	const background = `getComputedStyle(document.body).backgroundColor`
	light := eval[string](t, ctx, background)
	dir := shots(t)
	lightShot := shoot(t, ctx, filepath.Join(dir, "light.png"))

	assert.NilError(t, chromedp.Do(ctx, media("", "dark")))
	dark := eval[string](t, ctx, background)
	assert.Check(t, light == "rgb(255, 255, 255)" && dark == "rgb(23, 23, 26)", "backgrounds %s and %s", light, dark)
	darkShot := shoot(t, ctx, filepath.Join(dir, "dark.png"))
	assert.Check(t, mean(lightShot) > 180 && mean(darkShot) < 80, "mean brightness %v in the light, %v in the dark", mean(lightShot), mean(darkShot))

	assert.NilError(t, chromedp.Do(ctx, media("print", "dark")))
	light = eval[string](t, ctx, background)
	nav := eval[bool](t, ctx, `getComputedStyle(document.querySelector("nav")).display === "none"`)
	clipped := eval[bool](t, ctx, `[...document.querySelectorAll(".table")].some(t => t.scrollHeight > t.clientHeight + 1)`)
	assert.Check(t, light == "rgb(255, 255, 255)" && nav && !clipped, "in print: background %s, nav hidden: %v, tables cut: %v", light, nav, clipped)
	printed, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	assert.NilError(t, err)
	assert.Check(t, bytes.HasPrefix(printed, []byte("%PDF")) && len(printed) > 50_000, "a document of %d bytes", len(printed))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "print.pdf"), printed, 0o666))

	// What the keyboard reaches first.
	assert.NilError(t, chromedp.Do(ctx, media("", ""), chromedp.KeyEvent("\t")))
	reached := eval[string](t, ctx, `document.activeElement.className + " " + document.activeElement.getAttribute("href")`)
	assert.Check(t, reached == "skip #main", "the first Tab reaches %q", reached)

	mu.Lock()
	defer mu.Unlock()
	assert.DeepEqual(t, requests, []string{address})
	assert.Equal(t, len(complaints), 0, "%q", complaints)
}

// asks has the browser tell of each request and each complaint.
func asks(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
	return chromedp.Void{}, err
}

// media sets the medium and the colour scheme that a page is shown in.
func media(medium, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		p := emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, p)
		return err
	})
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	assert.NilError(t, err)
	return v
}

// shoot keeps a screenshot of the whole page.
func shoot(t *testing.T, ctx context.Context, path string) image.Image {
	t.Helper()
	shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(path, shot, 0o666))
	img, err := png.Decode(bytes.NewReader(shot))
	assert.NilError(t, err)
	return img
}

// mean is the mean brightness of a picture, of 255.
func mean(img image.Image) float64 {
	sum, n := 0.0, 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			sum += float64(r+g+b) / 3 / 257
			n++
		}
	}
	return sum / float64(n)
}

// published is a report of published results and of records that have failures.
func published(t *testing.T) *report.Report {
	t.Helper()
	var records strings.Builder
	records.WriteString(`{"version":1,"benchmark":"BenchmarkServe/backend=mock/model=<script>alert(1)</script>/concurrency=8","dialect":"openai-chat","model":"m","stream":true,"concurrency":8,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n")
	for i := range 160 {
		outcome := "ok"
		if i%9 == 8 {
			outcome = `truncated","error":"cut <img src=x onerror=alert(1)>`
		}
		at := i/8*250_000_000 + i%8*1_000_000
		first := at + 20_000_000 + i%7*9_000_000
		fmt.Fprintf(&records, `{"id":"a-%d","pass":0,"due_ns":%d,"start_ns":%d,"connect_ns":0,"first_ns":%d,"last_ns":%d,"end_ns":%d,"gaps_ns":[50000000,%d],"prompt_tokens":5,"output_tokens":3,"token_source":"usage","outcome":"%s","status":200}`+"\n",
			i, at, at, first, first+80_000_000+i*100_000, first+90_000_000+i*100_000, 30_000_000+i*100_000, outcome)
	}
	path := filepath.Join(t.TempDir(), "records.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte(records.String()), 0o600))
	d, err := report.Read("../../../benchdata/published", path)
	assert.NilError(t, err)
	r, err := report.New(d, report.Options{Title: "Published results", Command: "benchreport benchdata/published"})
	assert.NilError(t, err)
	return r
}
