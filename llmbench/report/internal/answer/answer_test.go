package answer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// sweepOf returns a benchmark file with systems at several loads. The throughput of a system is its
// rate times the number of users, but no more than its limit.
func sweepOf(samples int, names []string, rate, limit []float64) string {
	var b strings.Builder
	for sample := range samples {
		for i, name := range names {
			for c := 1; c <= 16; c *= 2 {
				x := min(rate[i]*float64(c), limit[i])
				fmt.Fprintf(&b, "BenchmarkServe/backend=%s/concurrency=%d 1 %.4g output-tok/s %.6g p50-e2e-ns %.6g p50-ttft-ns\n",
					name, c, x*(1+0.001*float64(sample)), 1e9*float64(c)/x, 1e7*float64(c))
			}
		}
	}
	return b.String()
}

func answerOf(t *testing.T, text string, verdict *gate.Report) *Answer {
	t.Helper()
	rows, broken, err := results.Parse([]byte(text), "a.txt")
	assert.NilError(t, err)
	groups := systems.Groups(rows, systems.DefaultParts)
	return Of(&results.Data{Rows: rows, Broken: broken}, groups, verdict, func(g *systems.Group) systems.SLO { return systems.SLOOf(g.Rows) })
}

// TestAnswer checks the first sentence of each kind of answer.
func TestAnswer(t *testing.T) {
	two, rates, limits := []string{"vllm", "tgi"}, []float64{100, 80}, []float64{800, 640}
	const doubted = "BenchmarkServe/backend=vllm/concurrency=8 1 200 output-tok/s 2 client-err-%\nBenchmarkServe/backend=tgi/concurrency=8 1 100 output-tok/s 60 client-err-%\n"
	for _, c := range []struct {
		name, text string
		kind       Kind
		want       string
	}{
		{"three samples each", sweepOf(3, two, rates, limits), Comparison,
			"vllm is faster than tgi at 1 to 16 users: 1.25 times. The first token of vllm comes at about the same time. Over all loads more than chance (ahead in 45 of 45 pairs of runs, p < 0.001, if each run at each load is a fresh start); at each load preliminary after 3 runs of each: 6 are needed."},
		{"one sample each", sweepOf(1, two, rates, limits), Comparison,
			"vllm is faster than tgi at 1 to 16 users: 1.25 times. The first token of vllm comes at about the same time. Preliminary after 1 run of each: 6 are needed."},
		{"two samples at one load", strings.Repeat("BenchmarkChat/via=direct 1 100 output-tok/s\nBenchmarkChat/via=gateway 1 80 output-tok/s\n", 2), Comparison,
			"direct is 1.25 times as fast as gateway. Preliminary after 2 runs of each: 6 are needed."},
		{"equal", strings.Repeat("BenchmarkChat/via=direct 1 100 output-tok/s\nBenchmarkChat/via=gateway 1 101 output-tok/s\nBenchmarkChat/via=direct 1 102 output-tok/s\nBenchmarkChat/via=gateway 1 99 output-tok/s\n", 3), Comparison,
			"direct and gateway are about equally fast: the ratio is 1.010. It may be chance: ahead in 27 of 36 pairs of runs, p = 0.22."},
		{"lines that cross", sweepOf(3, two, []float64{100, 60}, []float64{400, 900}), Comparison,
			"vllm is faster than tgi up to 4 users: 1.67 times. From 8 users on tgi is faster: 1.20 times at 8, 2.25 at 16. The first token of vllm comes at about the same time. Preliminary after 3 runs of each: 6 are needed."},
		{"lines that cross for sure", sweepOf(8, two, []float64{100, 60}, []float64{400, 900}), Comparison,
			"vllm is faster than tgi up to 4 users: 1.67 times. From 8 users on tgi is faster: 1.20 times at 8, 2.25 at 16. The first token of vllm comes at about the same time. More than chance at each load, if each run is a fresh start of the server."},
		{"no load misses the SLO", "BenchmarkA/backend=x/concurrency=1 1 5 req/s 5 good-req/s\nBenchmarkA/backend=x/concurrency=8 1 9 req/s 9 good-req/s\nBenchmarkA/backend=y/concurrency=1 1 4 req/s 4 good-req/s\nBenchmarkA/backend=y/concurrency=8 1 8 req/s 8 good-req/s\n", Comparison,
			"x is faster than y at 1 to 8 users: 1.25 times for one, 1.12 at 8. Both meet the SLO at each load, up to 8 users: measure more. Preliminary after 1 run of each: 6 are needed."},
		{"a search beside its loads", sweepOf(1, two[:1], rates, []float64{9999}) + "BenchmarkServe/backend=vllm/knee=power/upto=512 1 2 knee-concurrency\n", Load,
			"The throughput is greatest at 16 users, 1600 tok/s. That is the highest load: the server may carry more."},
		{"another figure is in doubt", "BenchmarkA/concurrency=8-2 1 412 output-tok/s 9 p99-itl-ns\n--- BENCH: BenchmarkA/concurrency=8-2\n    a.go:1: the client may distort these figures by more than 5%: p99-itl-ns 94% (at most 94%)\n", Run, "412 tok/s."},
		{"a figure is in doubt", "BenchmarkA/concurrency=8-2 1 412 output-tok/s\n--- BENCH: BenchmarkA/concurrency=8-2\n    a.go:1: the client may distort these figures by more than 5%: output-tok/s 94% (at most 94%)\n", Run, "412 tok/s (in doubt, see the warnings)."},
		{"an open loop", "BenchmarkServe/backend=vllm/rate=8 1 50000000 p50-e2e-ns 8 req/s\nBenchmarkServe/backend=tgi/rate=8 1 100000000 p50-e2e-ns 8 req/s\n", Comparison,
			"vllm answers in 0.50 times the latency of tgi at 8 req/s. Preliminary after 1 run of each: 6 are needed."},
		{"in doubt", doubted, Comparison,
			"vllm is 2.00 times as fast as tgi at 8 users. Preliminary after 1 run of each: 6 are needed. The figures are in doubt: see the warnings."},
		{"other work", "BenchmarkGrid/workload=w/output=100 1 5 output-tok/s\nBenchmarkGrid/workload=w/output=200 1 7 output-tok/s\n", Run, "output=100: 5 tok/s."},
		{"one system", sweepOf(1, two[:1], rates, limits), Load,
			"The throughput is greatest at 8 users, 800 tok/s, which is the knee, the greatest throughput / latency, TTFT 80 ms, latency 10 ms."},
		{"a knee below the peak", "BenchmarkA/concurrency=1 1 100 output-tok/s 10 p50-e2e-ns\nBenchmarkA/concurrency=8 1 600 output-tok/s 13 p50-e2e-ns\nBenchmarkA/concurrency=64 1 700 output-tok/s 90 p50-e2e-ns\n", Load,
			"The throughput is greatest at 64 users, 700 tok/s. The knee, the greatest throughput / latency, is at 8 users: 600 tok/s, latency 13 ns. More load than that adds more waiting than throughput."},
		{"not saturated", sweepOf(1, two[:1], rates, []float64{9999}), Load,
			"The throughput is greatest at 16 users, 1600 tok/s. That is the highest load: the server may carry more."},
		{"requests that failed", "BenchmarkA/concurrency=1 1 100 output-tok/s 0 fail-%\nBenchmarkA/concurrency=8 1 600 output-tok/s 40 fail-%\n", Load,
			"The throughput is greatest at 8 users, 600 tok/s (40 % of the requests failed)."},
		{"requests that were shed", "BenchmarkA/concurrency=1 1 100 output-tok/s 0 fail-%\nBenchmarkA/concurrency=8 1 600 output-tok/s 0 fail-% 40 shed-%\n", Load,
			"The throughput is greatest at 8 users, 600 tok/s (40 % of the requests were shed)."},
		{"one that sheds requests", "BenchmarkServe/backend=vllm/concurrency=8 1 300 output-tok/s 2 fail-% 38 shed-%\nBenchmarkServe/backend=tgi/concurrency=8 1 200 output-tok/s 0 fail-%\n", Comparison,
			"vllm is 1.50 times as fast as tgi at 8 users. vllm did not answer 40 % of the requests at 8 users. Preliminary after 1 run of each: 6 are needed."},
		{"one run that sheds", "BenchmarkA/concurrency=8 1 412 output-tok/s 40 shed-%\n", Run, "412 tok/s, shed 40 %."},
		{"an SLO", "BenchmarkA/concurrency=1 1 5 req/s 5 good-req/s\nBenchmarkA/concurrency=8 1 9 req/s 4.5 good-req/s\n", Load, "The server meets the SLO at 1 user and misses it at 8: measure 3 next."},
		{"one run", "BenchmarkA/concurrency=8 1 412 output-tok/s 30000000 p50-ttft-ns 44000000 p99-ttft-ns 1.2 fail-%\n", Run, "412 tok/s, TTFT 30 ms, TTFT p99 44 ms, failed 1.2 %."},
		{"units of one's own", "BenchmarkA 1 3 frogs/s\n", Run, "3 frogs/s."},
	} {
		a := answerOf(t, c.text, nil)
		assert.Check(t, a.Sentences[0] == c.want, "%s:\n%s\nwant\n%s", c.name, a.Sentences[0], c.want)
		assert.Equal(t, a.Kind, c.kind, c.name)
	}
}

// TestWarnings checks that each warning occurs once, with what it is about.
func TestWarnings(t *testing.T) {
	text := ""
	for _, c := range []int{1, 2, 16} {
		text += fmt.Sprintf("BenchmarkServe/concurrency=%[1]d-2 1 5 req/s\n--- BENCH: BenchmarkServe/concurrency=%[1]d-2\n    run.go:1: the client may distort these figures by more than 5%%: p99-itl-ns %[1]d%% (at most 99%%)\n    run.go:2: llmbench notes (connections): %[1]d of 16 requests had to open a connection; the time it took is in their latency, and in the records\n", c)
	}
	text += "    a.go:3: the cache: cold\n"
	a := answerOf(t, text+"--- FAIL: BenchmarkServe/concurrency=32-2\n    run.go:3: no answer\n", nil)
	assert.DeepEqual(t, a.Warnings, []string{
		"No result: no answer. About: concurrency=32",
		"The client may distort these figures by more than 5%: p99-itl-ns 1% (at most 99%) (the first of 3 such warnings). About: concurrency=1; concurrency=2; concurrency=16",
	})
	assert.DeepEqual(t, a.Notes, []string{
		"1 of 16 requests had to open a connection; the time it took is in their latency, and in the records (the first of 3 such notes). About: concurrency=1; concurrency=2; concurrency=16",
		"Logged: the cache: cold. About: concurrency=16",
	})
}

// TestMeasured checks what the answer says was measured.
func TestMeasured(t *testing.T) {
	a := answerOf(t, "commit: abc\nhardware: H100\ndate: 2026-01-02\n"+sweepOf(3, []string{"vllm", "tgi"}, []float64{1, 2}, []float64{9, 9}), nil)
	assert.DeepEqual(t, a.Measured, []Fact{{"Systems", "vllm, tgi"}, {"Hardware", "H100"}, {"Load", "1 to 16 users, 3 runs each"}, {"Date", "2026-01-02"}, {"Commit", "abc"}})
}

// TestLoads checks that a row that failed has no runs, even if the row is the first.
func TestLoads(t *testing.T) {
	failed, good := &results.Row{Failed: "timeout"}, &results.Row{Values: map[string][]float64{"req/s": {1, 2}}}
	assert.DeepEqual(t, loads([]*results.Row{failed, good, good}), []string{"2 runs each"})
	assert.Assert(t, len(loads([]*results.Row{failed})) == 0)
}

// TestSimulated checks that a simulated server is not presented as the server that it imitates.
func TestSimulated(t *testing.T) {
	mock := "backend: mock\nmock-profile: vllm-yi-6b\nmock-speed: 15\nBenchmarkA/rate=2 1 5 req/s\nBenchmarkA/rate=8 1 5 req/s\n"
	assert.DeepEqual(t, answerOf(t, mock, nil).Measured, []Fact{{"Systems", "mock"}, {"Simulated", "vllm-yi-6b (15 times as fast)"}, {"Load", "2 to 8 req/s, 1 run each"}})
	real := "BenchmarkA/backend=vllm 1 5 req/s\n"
	assert.DeepEqual(t, answerOf(t, real+"BenchmarkA/backend=mock 1 5 req/s\n", nil).Measured[1], Fact{"Simulated", "a mock server; the others are real"})
	assert.DeepEqual(t, answerOf(t, "BenchmarkError/tokens=spread 1 5 req/s\nBenchmarkA/backend=mock 1 5 req/s\n", nil).Measured[1], Fact{"Simulated", "a mock server"})
	assert.DeepEqual(t, answerOf(t, real, nil).Measured[0], Fact{"Systems", "vllm"})
	other := "BenchmarkA/backend=mock 1 5 req/s\nBenchmarkA/backend=fleet 1 5 req/s\n# the server is simulated: TTFT 1ms\nBenchmarkError/tokens=spread 1 5 req/s\n"
	assert.Assert(t, slices.Contains(answerOf(t, other, nil).Measured, Fact{"Simulated", "a mock server"}))
}

// TestVerdict checks the words in which verdicts of package gate are given.
func TestVerdict(t *testing.T) {
	file := func(name string, tokens, runs int) gate.File {
		text := fmt.Sprintf("Unit output-tok/s better=higher gate=2%%\nBenchmarkChat/concurrency=1 1 100 output-tok/s\nBenchmarkChat/concurrency=8 1 %d output-tok/s\nPASS\n", tokens)
		return gate.File{Name: name, Data: strings.NewReader(strings.Repeat(text, runs))}
	}
	for _, c := range []struct {
		tokens, runs int
		short        string
		want         []string
	}{
		{100, 6, "Pass: new.txt is not shown to be worse than old.txt in any of 2 figures", []string{"Pass: in none of 2 figures with a margin is new.txt shown to be worse than old.txt by more than is allowed; in 2 it is shown not to be."}},
		{80, 6, "Regression in 1 of 2 figures: new.txt is worse than old.txt", []string{"Regression: in 1 of 2 figures with a margin, new.txt is worse than old.txt by more than is allowed.",
			"output tokens per second at 8 users: regression, changed by -20.00%, 2% worse is allowed, p < 0.001."}},
		{80, 2, "Cannot judge new.txt against old.txt: 2 old and 2 new samples: want at least 6 of each at alpha 0.025", []string{"Cannot judge whether new.txt is worse than old.txt."}},
	} {
		r, err := gate.Compare(gate.File{}, file("old.txt", 100, c.runs), file("new.txt", c.tokens, c.runs), gate.Options{})
		assert.NilError(t, err)
		a := answerOf(t, "BenchmarkA 1 5 req/s\n", r)
		assert.DeepEqual(t, a.Sentences[:len(c.want)], c.want)
		assert.Equal(t, a.Short, c.short)
	}
	// A reason that is too long for the first sentence is in a tile.
	line := "BenchmarkA 1 100 ns/op\n"
	old := "Unit ns/op better=lower gate=5%\n" + strings.Repeat(line, 3) + "PASS\n"
	r, err := gate.Compare(gate.File{}, gate.File{Name: "old.txt", Data: strings.NewReader(old)}, gate.File{Name: "new.txt", Data: strings.NewReader(old)}, gate.Options{})
	assert.NilError(t, err)
	short, tiles := verdictShort(r)
	assert.Equal(t, short, "Cannot judge new.txt against old.txt")
	assert.DeepEqual(t, tiles[0], tile("Why not", "2 problems", "3 results of one process are one observation: want each sample from a fresh process (benchgate -one-start counts them all)"))
}

// TestVerdictOrder checks that regressions come first, and then the metrics that are worse by a
// larger multiple of the allowed change. A metric that cannot be judged may only be named if its
// median is worse.
func TestVerdictOrder(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	r := &gate.Report{Old: "old", New: "new", Verdict: gate.CannotJudge, Cells: 4, Rows: []gate.Row{
		{Name: "A/c=1", Unit: "x/s", Better: "higher", Margin: share(0.02), Gate: "2%", Change: share(0.01), Verdict: gate.CannotJudge},
		{Name: "A/c=2", Unit: "x/s", Better: "higher", Margin: share(0.02), Gate: "2%", Change: share(-0.05), Verdict: gate.CannotJudge},
		{Name: "A/c=3", Unit: "x/s", Verdict: gate.CannotJudge},
		{Name: "A/c=4", Unit: "y-ns", Better: "lower", Margin: share(0.05), Gate: "5%", Change: share(0.2), Verdict: gate.CannotJudge},
	}}
	assert.DeepEqual(t, VerdictOrder(r), []int{3, 1, 0, 2})
	assert.DeepEqual(t, judged(r), []string{
		"Cannot judge whether new is worse than old.",
		"A/c=4 y-ns: cannot judge, changed by +20.00%, 5% worse is allowed.",
		"A/c=2 x/s: cannot judge, changed by -5.00%, 2% worse is allowed.",
		"In 1 such figure the median is not worse by more than is allowed.",
	})
	r.Rows[0].Verdict = gate.Regression
	assert.DeepEqual(t, VerdictOrder(r), []int{0, 3, 1, 2})
}
