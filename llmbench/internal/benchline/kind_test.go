package benchline

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"
)

// TestLaterFailure checks the line that the testing package prints if a second or later sample of -count fails.
func TestLaterFailure(t *testing.T) {
	for line, want := range map[string]bool{
		"BenchmarkA/c=1-2         \t--- FAIL: BenchmarkA/c=1":   true,
		"BenchmarkA\t--- FAIL: BenchmarkA\r":                    true,
		"BenchmarkA/c=1-2         \t--- FAIL: BenchmarkB":       false,
		"BenchmarkA/c=1-2  1  3 s \t--- FAIL: BenchmarkA/c=1":   false,
		"BenchmarkA/c=1-2         \t--- FAIL: BenchmarkA/c=1 x": false,
	} {
		assert.Equal(t, IsFailure(line), want, line)
		assert.Equal(t, KindOf(line) == Other, want, line)
	}
}

func TestKindOf(t *testing.T) {
	const layout = "BenchmarkSync-8   \t     100\t  12345678 ns/op\t         9.123 MB/s\t      24 B/op\t       2 allocs/op"
	for _, c := range []struct {
		kind  Kind
		lines []string
	}{
		{Figure, []string{
			layout, layout + "\r", "Benchmark 1 2 s", "BenchmarkA 1 20.5 req/s 7000000 p50-ttft-ns", "Benchmark_a-2 1 NaN req/s", "BenchmarkA 1 5 µs/op 6 °C 7 €/Mtok 8 % 9 out-tok/req[p99] 10 n²",
			"BenchmarkÄ 1 +Inf x", "Benchmark2 1 1e9 ns/op", "BenchmarkA/b=c:-8\t1\t2 s", "BenchmarkA/b=\x1b[31mc 1 2 s",
		}},
		{Unit, []string{"Unit ns/op gate=5%", "Unit p50-ttft-ns better=lower gate=5%", "Unit x other=yes", "Unit ns/op", "Unit\tx same=2%"}},
		{Torn, []string{
			"BenchmarkA-2 1\x01100 bursts-% 3 B/op", "BenchmarkA-2\x0712 100 ns/op", "Unit ns/op\x02gate=5%",
			// Text before a result.
			"syncing 12 files... " + layout, "done." + layout, "\x1b[32m" + layout + "\x1b[0m", "\x1b[0m" + layout, " " + layout, "\t" + layout,
			"2026-11-28T10:00:00.0000000Z " + layout, "2026/11/28 10:00:00 " + layout, "bench-1  | " + layout, "| " + layout, "[12:00:00] " + layout,
			"note: BenchmarkA 1 2 s", "progress 10%\rprogress 100%\r" + layout, "\x1b[2K\x1b[1G" + layout, "# " + layout, "> BenchmarkA-2 1 5 req/s",
			"#12 3.4 " + layout, "BenchmarkA BenchmarkB 1 2 s", "BenchmarkA-2 100 1 ns/opBenchmarkB-2 100 2 ns/op 3",
			// Text within a result or behind it.
			"BenchmarkSync-8   \tsyncing 12 files...     100\t  12345678 ns/op", "BenchmarkSync-8   \tsyncing 12 files...", "BenchmarkA\t",
			"BenchmarkA-2 100 12 ns/op and more text", "BenchmarkA-2 100 12 ns/op done", "BenchmarkA-2 100 12 \x1b[1mns/op\x1b[0m",
			"Benchmark 1 2 s done",
			// A result that was cut, or is wrong.
			"BenchmarkA 1", "BenchmarkA 1 3", "BenchmarkA 1 3 s 4", "BenchmarkA-8 100 12,5 ns/op", "BenchmarkA 1 3 4", "BenchmarkA 1 x s",
			"BenchmarkA-2lin100 ns/op 3 B/op", "BenchmarkA-2 ns/op", "BenchmarkA-2 tok/req 3 B/op", "BenchmarkA-2 fail-%",
			// Figures without a name.
			"     100\t  12345678 ns/op", "syncing done     100\t  12345678 ns/op\t       2 allocs/op", "       1\t    20.50 req/s\t   7000000 p50-ttft-ns",
			"100 12 ns/op", "1 20.5 req/s 7000000 p50-ttft-ns", "5 12.5 MB/s", "text12345678\t   5 x", "ready       1\t        41.00 out-tok/req",
			// Figures behind a line end within a result.
			"       12 ns/op", "  24 B/op\t       2 allocs/op", "s/op\t      24 B/op", "\t   7000000 p50-ttft-ns",
			"eq/s\t   7000000 p50-ttft-ns\t        41.00 out-tok/req", "q\t        41.00 out-tok/req", "nit p50-ttft-ns better=lower gate=5%", "=lower gate=5%", " gate=5%",
			"better=lower gate=2pp", "Unitdone p50-ttft-ns better=lower gate=5%",
			// Units that nobody has chosen.
			"BenchmarkA-2 100 12 ns/", "BenchmarkA-2 100 12 ns/o", "BenchmarkA-2 100 12 ns/op10% \r\t 5 B/op", "BenchmarkA-2 100 12 ns/op{\"a\":1}", "BenchmarkA-2 100 12 ns/op,",
			"BenchmarkA-2 100 12 ns/op🚀", "BenchmarkA-2 100 12 n\xffs/op", "Unit x better=lower \rdone gate=5%",
			// Other encodings of a line.
			"B\x00e\x00n\x00c\x00h\x00m\x00a\x00r\x00k\x00A\x00 \x001\x00 \x002\x00 \x00s\x00", "\x00U\x00n\x00i\x00t\x00 \x00s\x00 \x00g\x00a\x00t\x00e\x00=\x005\x00%",
			`{"Action":"output","Package":"p","Output":"BenchmarkA-2 \t     100\t        12 ns/op\n"}`, `{"Action":"output","Output":"BenchmarkA-2 \t"}`,
			`{"Action":"output","Output":"     100\t        12 ns/op\n"}`, `{"log":"Unit ns/op gate=5%\n","stream":"stdout"}`,
			// Unit lines.
			"#12 3.4 Unit ns/op gate=5%", "Unit ns/op bet",
			"syncing... Unit p50-ttft-ns better=lower gate=5%", "done.Unit ns/op gate=5%", "\x1b[1mUnit ns/op gate=5%\x1b[0m", " Unit ns/op gate=5%",
			"2026-11-28T10:00:00Z Unit ns/op gate=5%", "bench-1  | Unit out-tok/req same=2%", "Unit ns/op gate 5%", "Unit ns/op gate=5% done",
			"12:00 Unit p99-ttft-ns max=2ms", "done.Unit req/s better=higher min=50", "Unit p99-ttft-ns wait max=2ms", "Unit p99-ttft-ns ma", "log Unit bursts-% withheld=server says=x",
			"nit p99-ttft-ns better=lower max=2ms", "######## 100.0%Unit p50-ttft-ns better=lower gate=5%", "####Unit ns/op gate=5%",
			"Unit x better=higher gate = 5%", "Unit ns/op gate=5%\x1b[0m", "note: Unit ns/op gate=5%", "Unit ns/op gate", "Unit ns/op=5%",
		}},
		{Other, []string{
			"", "PASS", "FAIL", "ok  \texample.com/p\t1.234s", "ok  \tp\t12.3s\tcoverage: 5.0% of statements", "goos: linux", "cpu: 13th Gen Intel(R) Core(TM) i7 @ 2.60GHz", "command: server -np 8 -c 100 12",
			"    x_test.go:12: BenchmarkA-2 100 12 ns/op", "    x_test.go:12: 100 12 ns/op", "    x_test.go:12: Unit ns/op gate=5%", "progress: 100 20.5 MB/s", "12 MB/s",
			`{"Action":"run","Test":"BenchmarkA"}`, `{"Action":"output","Output":"=== RUN   BenchmarkA\n"}`, `{"Action":"output","Output":"BenchmarkA\n"}`, `{"msg":"ran 100 requests","ns/op":12}`, `{"cut`,
			"Unit req/s is requests per second", "level=info gate=open", "level=info msg=x same=yes", "name\t12 files", "disk0\t 120 MB/s", "want better=lower or better=higher", "        second line 100 20.5 req/s",
			"pkg: example.com/p", "--- BENCH: BenchmarkX-8", "    x_test.go:14: 100 iterations", "    x_test.go:14: BenchmarkX took 3 s", "--- SKIP: BenchmarkX", "=== RUN   BenchmarkX",
			"BenchmarkX-8", "BenchmarkX-8\r", "BenchmarkX/a=b", "Benchmark", "Benchmark results below:", "Benchmarking 3 servers", "Benchmarking summary:",
			"Benchmark Duration (sec),10.68", "Benchmark duration (s):                  10.68", "Benchmark 1: sleep 0.3", "Benchmark 3 of 5 has begun", "BenchmarkX is slow", "BenchmarkX req/s is what counts",
			"BenchmarkX http://127.0.0.1:8000/v1", "BenchmarkX results/new.txt", "BenchmarkX ./new.txt", "BenchmarkX 50%", "Benchmark: 100%", "BenchmarkX: 100% 3 s", "BenchmarkX https://a.example/v1 3 times",
			"BenchmarkX-8: 100 iterations", "Benchmarks 1 2 s", "benchmarkX 1 2 s", "running BenchmarkX 3 times", "running BenchmarkX-8 with 100 requests", "ran BenchmarkX for 3 s",
			"3 files", "12 3.4", "took 12.3 s", "worker 3 20.5 req/s", "slot 0: 100 tokens, 12.3 tok/s", "loaded 12 of 30 shards", "memcpy: 8192 bytes 12.5 ns/op", "3\t5\tfile.go", "12\t./folder",
			"2026/11/28 10:00:00 listening on 127.0.0.1:8080", "INFO:     127.0.0.1:5000 - \"POST /v1 HTTP/1.1\" 200 OK", "100", "1 2 3",
			"Unit tests took min=1ms max=2ms", "[1] Unit web.service started, max=512", "worker 3: Unit a min=1", "retry max=5 min=1",
			"Unit tests passed", "Unit", "Units: 5", "# Unit ns/op gate=5%", "want a line such as \"Unit ns/op gate=5%\"", "the unit ns/op has gate=5%", "Unity 5", "Unit tests in a=b passed",
		}},
	} {
		for _, line := range c.lines {
			assert.Equal(t, KindOf(line), c.kind, "%q", line)
		}
	}
}

// A log is read as the results alone are, and each torn line is an error with its position and text.
func TestLines(t *testing.T) {
	const log = `Benchmarking 3 servers
Unit tests passed
backend: mock
Benchmark results below:
BenchmarkChat-2
BenchmarkChat-2 1 20.5 req/s
--- BENCH: BenchmarkChat-2
    a_test.go:5: the last results were
        BenchmarkChat-2 1 20.5 req/s
        Unit req/s gate=5%
`
	in, torn := Lines([]byte(log), "a.txt")
	assert.Equal(t, len(torn), 0)
	var lines []int
	for in.Scan() {
		res := in.Result().(*benchfmt.Result)
		_, line := res.Pos()
		lines = append(lines, line)
		assert.Equal(t, res.GetConfig("backend"), "mock")
	}
	assert.NilError(t, in.Err())
	assert.DeepEqual(t, lines, []int{6})

	_, torn = Lines([]byte(log+"syncing... BenchmarkChat-2 1 30 req/s\nsyncing... Unit req/s gate=5%\nBenchmarkChat-2 1 2\n"), "a.txt")
	assert.Equal(t, fmt.Sprint(torn), `[`+
		`a.txt:11: a result, or a part of one, that cannot be read: "syncing... BenchmarkChat-2 1 30 req/s": want it as the testing package prints it, without a log, a time or a colour on its line `+
		`a.txt:12: a Unit line that cannot be read: "syncing... Unit req/s gate=5%": want it at the beginning of a line of its own `+
		`a.txt:13: missing units: "BenchmarkChat-2 1 2"]`)
}

func TestText(t *testing.T) {
	const text = "goos: linux\nBenchmarkÄ-2 1 20.5 req/s\n"
	utf16 := func(s string, high, low int) string {
		var b []byte
		for _, r := range s {
			pair := [2]byte{}
			pair[high], pair[low] = byte(r>>8), byte(r)
			b = append(b, pair[:]...)
		}
		return string(b)
	}
	for _, s := range []string{
		text, "\uFEFF" + text, "\uFEFF" + text[:12] + "\uFEFF" + text[12:],
		utf16("\uFEFF"+text, 1, 0), utf16("\uFEFF"+text, 0, 1), utf16(text, 1, 0), utf16(text, 0, 1),
	} {
		got, err := Text(strings.NewReader(s))
		assert.NilError(t, err)
		assert.Equal(t, string(got), text, "%q", s)
	}
	for _, s := range []string{"", "a", "\x00\x00\x00\x00", "\xff", "caf\xe9 1\n"} {
		got, err := Text(strings.NewReader(s))
		assert.NilError(t, err)
		assert.Equal(t, string(got), s)
	}
}

// Every line that package benchfmt takes for a result is a Figure, or is reported.
func FuzzKindOf(f *testing.F) {
	for _, s := range []string{"BenchmarkA-2 1 5 s", "x BenchmarkA-2 1 5 s", "BenchmarkA 1 2", "Unit x gate=5%", "a\x1b[1mUnit x gate=5%", "       1\t     5 s", "Benchmarks 1 2 s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") || len(line) > 1000 {
			return
		}
		kind := KindOf(line)
		in, torn := Lines([]byte(line+"\n"), "a.txt")
		assert.Equal(t, len(torn) > 0, kind == Torn)
		records := 0
		for in.Scan() {
			records++
		}
		assert.NilError(t, in.Err())
		if kind == Torn || kind == Other {
			assert.Equal(t, records, 0)
		}
		if kind == Figure {
			assert.Equal(t, records, 1)
		}
		if kind == Figure {
			assert.Equal(t, KindOf("log: "+line), Torn)
		}
	})
}
