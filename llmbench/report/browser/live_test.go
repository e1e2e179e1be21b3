package browser

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		fmt.Fprintf(&b, `"first_ns":%d,"last_ns":%d,"gaps_ns":[%d],"output_tokens":128,"token_source":"usage","outcome":"ok","status":200}`+"\n", (begin+100+i)*ms, (begin+900)*ms, (800-i)*ms)
	}
	return b.String() + end
}

// serve starts benchreport serve for a folder, and returns the address of the page.
func serve(t *testing.T, folder string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "benchreport")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchreport").CombinedOutput()
	assert.NilError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), bin, "serve", folder)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	stdout, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	assert.NilError(t, err)
	address, _, _ := strings.Cut(line, " ")
	return address
}

// TestServe opens the page of benchreport serve. One run is still going on, one has failed, and one
// has ended. The values must change without a reload, the page must ask nothing of another host,
// and its look is checked in the same way as a report's look.
func TestServe(t *testing.T) {
	bin := chromium(t)
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("a.jsonl", records(8, 200, `{"end":{"outcome":"ok"}}`+"\n"))
	write("b.jsonl", records(16, 40, `{"end":{"outcome":"failed","why":"pass 0: 3 of 40 requests failed, and none may: http 3"}}`+"\n"))
	write("c.jsonl", records(32, 250, ""))
	address := serve(t, folder)

	p := &tab{t: t, address: address + "/"}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(p.hear))
	defer cancel()
	p.ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return chromedp.Void{}, err
	}, media("", "light"))
	p.do(chromedp.Navigate(p.address))
	text := func(part string) string { return eval[string](p, `document.querySelector("`+part+`").innerText`) }
	until := func(part, want string) {
		t.Helper()
		for !strings.Contains(text(part), want) {
			select {
			case <-p.ctx.Done():
				t.Fatalf("%s is %q, want %q in it", part, text(part), want)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	until("#running", "concurrency=32")
	for _, want := range []string{"In flight\n32", "Requests ended\n250", "Failed\n15\nhttp 15", "TTFT p99\n"} {
		until("#running", want)
	}
	until("#running", "TTFT, mean")
	said := eval[[]string](p, `[...document.querySelectorAll("#running .charts svg")].map(s => s.getAttribute("aria-label"))`)
	assert.Equal(t, len(said), 4, "%q", said)
	for i, want := range []string{"In flight, the most: 32 at last, 32 to 32 from ", "Output tok/s: ", "TTFT, mean: ", "Failures: "} {
		assert.Check(t, strings.HasPrefix(said[i], want), "%q", said[i])
	}
	for i := range said {
		assert.Check(t, eval[float64](p, fmt.Sprintf(`document.querySelectorAll("#running .charts svg path:last-child")[%d].getBBox().width`, i)) > 40, said[i])
	}
	until("#ended", "none may: http 3")
	write("d.jsonl", records(64, 0, ""))
	until("#running", "In flight\nnot known\nuntil a request ends")
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
	until("#ended", "concurrency=32")
	until("#status", "0 going on, 3 ended")
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
