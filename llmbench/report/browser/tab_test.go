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

// chromium returns the path of a browser. If there is none, it skips the test.
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

// shots returns the folder for screenshots, which CI keeps.
func shots(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REPORT_SCREENSHOTS")
	if dir == "" {
		return t.TempDir()
	}
	assert.NilError(t, os.MkdirAll(dir, 0o777))
	return dir
}

// A tab is a page that is open in a browser.
type tab struct {
	t       *testing.T
	ctx     context.Context
	address string
	size    int // the size of the page in bytes

	mu         sync.Mutex
	requests   []string
	complaints []string // what the console reported
}

// open opens a report in a new browser, after some steps. At its end the test fails if the page
// asked for anything else, or if the browser reported a problem.
func open(t *testing.T, r *report.Report, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	var b bytes.Buffer
	assert.NilError(t, r.HTML(&b))
	return openHTML(t, b.String(), before...)
}

// openHTML is like open, for the text of a page.
func openHTML(t *testing.T, text string, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	bin := chromium(t)
	p := &tab{t: t}
	path := filepath.Join(t.TempDir(), "report.html")
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	p.size = len(text)
	p.address = (&url.URL{Scheme: "file", Path: path}).String()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(p.hear))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	p.ctx = ctx
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return chromedp.Void{}, err
	}, media("", "light"))
	p.do(before...)
	p.do(chromedp.Navigate(p.address))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		assert.Check(t, len(p.requests) == 1 && p.requests[0] == p.address, "requests: %q", p.requests)
		assert.Check(t, len(p.complaints) == 0, "complaints of the browser: %q", p.complaints)
	})
	return p
}

func (p *tab) hear(e any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "blob:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	case *log.EventEntryAdded:
		p.complaints = append(p.complaints, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		p.complaints = append(p.complaints, fmt.Sprint(e.Type))
	case *runtime.EventExceptionThrown:
		p.complaints = append(p.complaints, e.ExceptionDetails.Text)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	assert.NilError(p.t, chromedp.Do(p.ctx, steps...))
}

// width sets the width of the window.
func (p *tab) width(w int64) { p.t.Helper(); p.do(chromedp.EmulateViewport(w, 900)) }

// eval returns the value of an expression in the page.
func eval[T any](p *tab, js string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](js))
	assert.NilError(p.t, err)
	return v
}

// unfold opens or closes all folded parts of the page.
func (p *tab) unfold(open bool) {
	p.t.Helper()
	eval[int](p, fmt.Sprintf(`(() => { const all = [...document.querySelectorAll("details")]; for (const d of all) d.open = %v; return all.length })()`, open))
}

// media sets the medium and the colour scheme in which a page is shown.
func media(medium, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		p := emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, p)
		return err
	})
}

// shoot keeps a screenshot of the whole page.
func (p *tab) shoot(name string) image.Image {
	p.t.Helper()
	shot, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	assert.NilError(p.t, err)
	assert.NilError(p.t, os.WriteFile(filepath.Join(shots(p.t), name+".png"), shot, 0o666))
	img, err := png.Decode(bytes.NewReader(shot))
	assert.NilError(p.t, err)
	return img
}

// mean returns the mean brightness of a picture, from 0 to 255.
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
