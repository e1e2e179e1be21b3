package screen

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1.00", 0.05412: "0.0541", 9.999: "10.0", 65.70: "65.7", 999.6: "1000", 4206: "4210", 123456: "123000", -2.345: "-2.35"} {
		assert.Equal(t, number(v), want)
	}
	for v, want := range map[float64]string{0: "0 ns", 1: "0 ns", 999: "999 ns", 999.6: "1.00 µs", 1511855: "1.51 ms", 119026138: "119 ms", 999.4e6: "999 ms", 999.6e6: "1.00 s", 75.31e9: "75.3 s", 4e12: "4000 s"} {
		assert.Equal(t, duration(v), want)
	}
	assert.Equal(t, figure("start-to-ready-ns", 3.2e9), "start-to-ready 3.20 s")
	assert.Equal(t, figure("slo-req/s", 120), "120 slo-req/s")
}

// example returns an overview with rows of all kinds.
func example() *Overview {
	var o Overview
	serve := "BenchmarkServe/backend=url/model=qwen3-8b/workload=random-512x128/stream=true/concurrency="
	for i, users := range []int{1, 8, 64} {
		n := float64(i + 1)
		o.Add(Entry{Benchmark: serve + fmt.Sprint(users), Figures: map[string]float64{
			"output-tok/s": 612.4 * n * n, "req/s": 4.783 * n * n, "p50-ttft-ns": 25.2e6 * n, "p99-ttft-ns": 61.7e6 * n, "mean-tpot-ns": 1.512e6 * n,
			"p99-tpot-ns": 1.7e6 * n, "p50-itl-ns": 1.501e6 * n, "p99-itl-ns": 8.08e6 * n, "p50-e2e-ns": 324.2e6 * n, "p99-e2e-ns": 401e6 * n,
		}})
	}
	o.Add(Entry{
		Benchmark: "BenchmarkChat/backend=url/concurrency=16",
		Figures:   map[string]float64{"output-tok/s": 12.34, "req/s": 0.0999, "p50-e2e-ns": 12.3e9},
		Withheld:  []Withheld{{Unit: "p50-ttft-ns"}, {"p99-itl-ns", 14.5e6, 0.101, false, false, false, false}},
		Notes: []string{
			"answers come in bursts: something between the server and the client buffers the stream (nginx: proxy_buffering off)",
			"3 of 64 requests failed, 10% are tolerated: http 2, truncated 1\n  request 7 c-7: http: 429 Too Many Requests: \x1b[31mslow down\a",
		},
	})
	for i := range 8 {
		o.Add(Entry{Benchmark: "BenchmarkNotes", Notes: []string{fmt.Sprintf("note %d\nof\nfive\nlines\n!", i), "note 0\nof\nfive\nlines\n!"}})
	}
	for _, v := range []float64{3, 1, 2} {
		o.Add(Entry{Benchmark: "BenchmarkToolCalls", Figures: map[string]float64{"output-tok/s": v}})
		o.AddFigure("BenchmarkToolCalls", "valid-%", 100*v)
	}
	o.AddFigure("BenchmarkSLO/of=rate/upto=1024", "slo-req/s", 120)
	o.AddFigure("BenchmarkSLO/of=rate/upto=1024", "start-to-ready-ns", 1.25e9)
	o.Add(Entry{Benchmark: "BenchmarkTrace/workload=a-very-long-name-of-a-workload-that-nobody-would-choose-unless-a-test/with-no-number-and-longer-than-the-first-column", Notes: []string{"failed: pass 0: no answer"}})
	return &o
}

// TestString compares tables for terminals of several widths with files. With -update, it writes the files.
func TestString(t *testing.T) {
	for _, width := range []int{200, 120, 80, 60, 40} {
		got := example().String(width)
		golden.Assert(t, got, fmt.Sprintf("width%d.txt", width))
	}
	assert.Equal(t, new(Overview).String(80), "")
}

// TestReport compares reports with files: of a simulated server, of a measurement that failed, and of no
// measurement.
func TestReport(t *testing.T) {
	o := example()
	o.Results, o.Skipped = 13, 2
	golden.Assert(t, o.Report(80), "report.txt")
	assert.Equal(t, new(Overview).Report(80), "")

	o = &Overview{Results: 1}
	o.Add(Entry{Benchmark: "BenchmarkServe", Withheld: []Withheld{{Unit: "p99-itl-ns", Value: 30e6, Most: 0.1}}})
	assert.Assert(t, strings.HasSuffix(o.Report(80), "; withheld: 1 figure (p99-itl-ns of Serve), because the client may have changed it\n"), o.Report(80))

	o = &Overview{Results: 2}
	for i, c := range []int{1, 8} {
		o.Add(Entry{
			Benchmark: fmt.Sprintf("BenchmarkServe/backend=mock/concurrency=%d", c), Next: "measure a server that runs",
			Figures:  map[string]float64{"output-tok/s": 590, "p50-ttft-ns": 25.7e6, "mean-tpot-ns": 1.5e6, "p50-e2e-ns": 216e6, "p99-itl-ns": 4e6},
			True:     map[string]float64{"p50-ttft-ns": 25.2e6 + float64(i)*1e6, "mean-tpot-ns": 1.51e6, "p50-e2e-ns": 215e6, "p99-itl-ns": 2e6},
			Withheld: []Withheld{{"p99-ttft-ns", 30e6, 0.1, false, false, false, false}, {"p90-ttft-ns", 29e6, 0.2, false, false, false, false}}[:i+1], Doubted: []string{"p99-itl-ns"},
		})
	}
	golden.Assert(t, o.Report(80), "true80.txt")
	golden.Assert(t, o.Report(120), "true120.txt")
	o.Add(Entry{Benchmark: "BenchmarkReal", Figures: map[string]float64{"req/s": 1}})
	assert.Assert(t, !strings.Contains(o.Report(80), "next:"))
}

// TestSummaryUnread checks the reason that the summary names for figures that mean nothing.
func TestSummaryUnread(t *testing.T) {
	var o Overview
	o.Add(Entry{Benchmark: "BenchmarkServe", Withheld: []Withheld{{Unit: "p50-ttft-ns", Unread: true}, {Unit: "mean-tpot-ns", Unread: true}}})
	assert.Equal(t, o.summary(), "0 results, 0 skipped; withheld: 2 figures (p50-ttft-ns of Serve, mean-tpot-ns of Serve), because answers may have text that was not read")
	o = Overview{}
	o.Add(Entry{Benchmark: "BenchmarkServe", Withheld: []Withheld{{Unit: "added-ttft-ms", Parts: true}}})
	assert.Equal(t, o.summary(), "0 results, 0 skipped; withheld: 1 figure (added-ttft-ms of Serve), because figures from which they are computed are withheld")
}

func TestWithheld(t *testing.T) {
	for want, w := range map[string]Withheld{
		"p50-ttft":                           {Unit: "p50-ttft-ns"},
		"p99-itl 14.5 ms, up to 10.1 % off":  {"p99-itl-ns", 14.5e6, 0.101, false, false, false, false},
		"p99-itl 542 µs, 1000 % off or more": {"p99-itl-ns", 542e3, 10, true, false, false, false},
	} {
		assert.Equal(t, w.String(), want)
	}
}

// TestWidths checks that no line of the table is too long, for any width.
func TestWidths(t *testing.T) {
	for width := 1; width < 220; width++ {
		for line := range strings.SplitSeq(example().String(width), "\n") {
			if n := text.StringWidthWithoutEscSequences(line); n > max(width, 5) { // notes are indented by 4
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
			assert.Assert(t, !strings.ContainsAny(line, "\x1b\a\t\r"), "%q", line)
		}
	}
}

// TestFailed checks which row says why a benchmark failed.
func TestFailed(t *testing.T) {
	o := &Overview{}
	o.Add(Entry{Benchmark: "BenchmarkServe/concurrency=1", Notes: []string{FailedUnknown}})
	o.Failed("BenchmarkServe/concurrency=1", "")
	assert.Assert(t, strings.Contains(o.String(80), FailedUnknown))
	o.Failed("BenchmarkServe/concurrency=1", "no server")
	o.Failed("BenchmarkServe", "a sub-benchmark has a row")
	o.Failed("BenchmarkTrace/speed=1", "no file")
	o.Failed("BenchmarkTrace", "")
	assert.Equal(t, o.String(80), "Serve\n  concurrency=1\n    failed: no server\nTrace\n  speed=1\n    failed: no file\n")
}

func TestHas(t *testing.T) {
	o := example()
	for name, want := range map[string]bool{"BenchmarkServe": true, "BenchmarkServe/backend=url": true, "BenchmarkServe/backend=u": false, "BenchmarkToolCalls": true, "BenchmarkTool": false} {
		assert.Equal(t, o.Has(name), want, name)
	}
}

// TestShed checks that a table of a server that sheds requests says how many were offered, served and shed.
func TestShed(t *testing.T) {
	var o Overview
	figures := map[string]float64{"output-tok/s": 2700, "offered-req/s": 345.2, "req/s": 168.6, "good-req/s": 168.6, "p50-ttft-ns": 45.2e6, "p50-e2e-ns": 87.3e6}
	o.Add(Entry{Benchmark: "BenchmarkShedding/offered=2", Figures: figures})
	title := func() string {
		first, _, _ := strings.Cut(o.String(80), "\n")
		return strings.Join(strings.Fields(first), " ")
	}
	assert.Equal(t, title(), "tok/s req/s good/s TTFT p50 E2E p50")
	shedding := maps.Clone(figures)
	shedding["shed-%"] = 43.75
	o.Add(Entry{Benchmark: "BenchmarkShedding/offered=4", Figures: shedding})
	assert.Equal(t, title(), "tok/s offered/s served/s good/s shed % TTFT p50 E2E p50")
}

// TestStated checks that what a server said about itself stands before the table, once, and that a figure in doubt says
// nothing.
func TestStated(t *testing.T) {
	var o Overview
	for _, users := range []int{1, 64} {
		o.Add(Entry{Benchmark: fmt.Sprintf("BenchmarkServe/model=m/concurrency=%d", users), Settings: map[string]string{"server": "llama.cpp", "slots": "4"}, Figures: map[string]float64{"output-tok/s": 100, "p50-ttft-ns": 1e6}})
		o.Add(Entry{Benchmark: fmt.Sprintf("BenchmarkServe/model=n/rate=%d", users), Figures: map[string]float64{"output-tok/s": 100, "p50-ttft-ns": 1e6}, Doubted: []string{"p50-ttft-ns"}})
		o.AddFigure(fmt.Sprintf("Serve/model=n/rate=%d", users), "srv-queue-ns", 1e9)
	}
	const want = "llama.cpp serves 4 requests at once: the others only wait, 60 of 64 users. To serve more, start it with a larger -np.\n\n"
	text := o.Report(200)
	assert.Assert(t, strings.HasPrefix(text, want) && strings.Count(text, "at once") == 1 && !strings.Contains(text, "queue of"), "%s", text)
	for line := range strings.Lines(o.Report(40)) {
		assert.Assert(t, len(line) <= 41 || strings.Contains(line, "skipped"), "%q", line)
	}
}
