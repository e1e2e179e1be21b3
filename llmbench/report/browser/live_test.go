package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
)

// records returns a file of records. If end is "", the run is still going on. Otherwise it has
// ended.
func records(concurrency, requests int, end string) string {
	const ms = 1_000_000
	var b strings.Builder
	fmt.Fprintf(&b, `{"version":2,"benchmark":"BenchmarkServe/backend=vllm/model=yi-6b-chat/workload=random-512x128/stream=true/concurrency=%d","dialect":"openai-chat","model":"yi-6b-chat","stream":true,"concurrency":%[1]d,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"},"ends":true}`+"\n", concurrency)
	for i := range requests {
		begin := i / concurrency * 1000
		fmt.Fprintf(&b, `{"id":"a","due_ns":%d,"epoch_unix_ns":1767323045000000000,"start_ns":%[1]d,"end_ns":%d,"in_flight":%d,`, begin*ms, (begin+900)*ms, concurrency)
		if i%17 == 5 {
			fmt.Fprintf(&b, `"outcome":"http","error":"status 500","status":500}`+"\n")
			continue
		}
		fmt.Fprintf(&b, `"first_ns":%d,"last_ns":%d,"gaps_ns":[%d],"output_tokens":128,"token_source":"usage","outcome":"ok","status":200}`+"\n", (begin+100+i%700)*ms, (begin+900)*ms, (800-i%700)*ms)
	}
	return b.String() + end
}

// build builds benchreport, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "benchreport")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../cmd/benchreport")
	cmd.Dir = ".." // in the module of the command, which has all that it needs
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	return bin
}

// serve starts benchreport serve for a folder at an address. It returns the address of the page, and a
// function that ends the server.
func serve(t *testing.T, bin, at, folder string) (address string, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, "serve", "-addr", at, folder)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	stdout, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	stop = sync.OnceFunc(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	t.Cleanup(stop)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	assert.NilError(t, err)
	address, _, _ = strings.Cut(line, " ")
	return address, stop
}

// follow opens the page of a server.
func follow(t *testing.T, address string) *tab {
	t.Helper()
	p := &tab{t: t, address: address + "/"}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(p.hear))
	t.Cleanup(cancel)
	p.ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return chromedp.Void{}, err
	}, media("", "light"))
	p.do(chromedp.Navigate(p.address))
	return p
}

// until waits until a part of the page has a text.
func (p *tab) until(part, want string) {
	p.t.Helper()
	for {
		text := eval[string](p, `document.querySelector("`+part+`").innerText`)
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-p.ctx.Done():
			p.t.Fatalf("%s is %q, want %q in it", part, text, want)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestServeLost follows a folder that does not exist yet, a run, its end, a second run, and the loss and
// the return of the server. A growing run must change the figures and not the size of the page. It
// grows for a minute with LLMBENCH_FULL.
func TestServeLost(t *testing.T) {
	chromium(t)
	folder := filepath.Join(t.TempDir(), "out")
	bin := build(t)
	address, stop := serve(t, bin, "127.0.0.1:0", folder)
	p := follow(t, address)
	p.until("#status", "folder does not exist yet: a benchmark with LLMBENCH_OUT="+folder+" makes it")
	assert.Check(t, !eval[bool](p, `document.querySelector("table").checkVisibility()`), "an empty table")
	p.shoot("serve-missing")
	assert.NilError(t, os.Mkdir(folder, 0o777))
	written := map[string]int{}        // bytes
	write := func(name, text string) { // appends what the file lacks, as a benchmark does
		t.Helper()
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		assert.NilError(t, err)
		_, err = f.WriteString(text[written[name]:])
		assert.NilError(t, errors.Join(err, f.Close()))
		written[name] = len(text)
	}
	seconds := 5
	if os.Getenv("LLMBENCH_FULL") != "" {
		seconds = 60
	}
	size := 0
	for second := range seconds {
		write("a.jsonl", records(8, 40*(second+1), ""))
		p.until("#running", fmt.Sprintf("Requests ended\n%s", digits(40*(second+1))))
		if n := eval[int](p, `document.querySelectorAll("*").length`); second == 1 {
			size = n
		} else if second > 1 {
			assert.Check(t, n <= size+4, "%d elements after %d s, %d at first", n, second, size)
		}
	}
	p.shoot("serve-run")
	write("a.jsonl", records(8, 40*seconds, `{"end":{"outcome":"ok"}}`+"\n"))
	p.until("#ended", "concurrency=8")
	assert.Check(t, eval[bool](p, `(document.querySelector("#ended a").focus(), document.activeElement.tagName === "A")`))
	write("b.jsonl", records(16, 50, ""))
	p.until("#running", "concurrency=16")
	assert.Check(t, eval[bool](p, `document.activeElement.tagName === "A"`), "an update takes the focus away")

	stop()
	p.until("#status", "The server does not answer; the figures are old. Asking again.")
	for _, name := range []string{"contrast", "names"} {
		p.check(name, "a lost server")
	}
	p.shoot("serve-lost")
	write("b.jsonl", records(16, 90, ""))
	serve(t, bin, strings.TrimPrefix(address, "http://"), folder)
	p.until("#running", "Requests ended\n90")
	assert.Check(t, eval[bool](p, `!document.body.classList.contains("lost")`))
}

// digits spells a number as the page does.
func digits(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// TestServe opens the page of benchreport serve. One run is still going on, one has failed, and one
// has ended. The values must change without a reload, the page must ask nothing of another host,
// and its look is checked in the same way as a report's look.
func TestServe(t *testing.T) {
	chromium(t)
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("a.jsonl", records(8, 200, `{"end":{"outcome":"ok"}}`+"\n"))
	write("b.jsonl", records(16, 40, `{"end":{"outcome":"failed","why":"pass 0: 3 of 40 requests failed, and none may: http 3"}}`+"\n"))
	write("c.jsonl", records(32, 250, ""))
	address, _ := serve(t, build(t), "127.0.0.1:0", folder)
	p := follow(t, address)
	p.until("#running", "concurrency=32")
	for _, want := range []string{"In flight\n32", "Requests ended\n250", "Failed\n15\nhttp 15", "TTFT p99\n"} {
		p.until("#running", want)
	}
	p.until("#running", "TTFT, mean")
	said := eval[[]string](p, `[...document.querySelectorAll("#running .charts svg")].map(s => s.getAttribute("aria-label"))`)
	assert.Equal(t, len(said), 4, "%q", said)
	for i, want := range []string{"In flight, the most: 32 at last, 32 to 32 from ", "Output tok/s: ", "TTFT, mean: ", "Failures: "} {
		assert.Check(t, strings.HasPrefix(said[i], want), "%q", said[i])
	}
	for i := range said {
		assert.Check(t, eval[float64](p, fmt.Sprintf(`document.querySelectorAll("#running .charts svg path:last-child")[%d].getBBox().width`, i)) > 40, said[i])
	}
	p.until("#ended", "none may: http 3")
	write("d.jsonl", records(64, 0, ""))
	p.until("#running", "In flight\nnot known\nuntil a request ends")
	assert.NilError(t, os.Remove(filepath.Join(folder, "d.jsonl")))
	assert.Equal(t, eval[int](p, `document.querySelectorAll("#ended a").length`), 2)
	for _, width := range []int64{1280, 400} {
		p.width(width)
		for _, scheme := range []string{"light", "dark"} {
			where := fmt.Sprintf("serve-%d-%s", width, scheme)
			p.do(media("", scheme))
			p.shoot(where)
			for _, name := range []string{"overlaps", "names", "contrast"} {
				p.check(name, where)
			}
			assert.Assert(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`), "%s is wider than the window", where)
		}
	}
	write("c.jsonl", records(32, 300, `{"end":{"outcome":"ok"}}`+"\n"))
	p.until("#ended", "concurrency=32")
	p.until("#status", "0 going on, 3 ended")
	p.mu.Lock()
	for _, r := range p.requests {
		assert.Check(t, strings.HasPrefix(r, address), "a request to %s", r)
	}
	assert.Check(t, len(p.complaints) == 0, "complaints of the browser: %q", p.complaints)
	p.requests = nil
	p.mu.Unlock()

	p.do(chromedp.Navigate(address + "/report?run=a.jsonl"))
	assert.Assert(t, strings.Contains(eval[string](p, `document.body.innerText`), "yi-6b-chat"))
	assert.Check(t, len(p.complaints) == 0, "complaints of the browser about the report: %q", p.complaints)
}
