package gate

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A result that other output made unreadable is never left out in silence, and a log is no reason not to judge.
func TestTornLines(t *testing.T) {
	const other = "BenchmarkOther-8   \t     100\t       500 ns/op"
	figures := map[bool]string{false: "     100\t      1000 ns/op", true: "     100\t      1500 ns/op"}
	for _, before := range []string{
		"syncing 12 files... ", "done.", "\x1b[32m", "2026-11-28T10:00:00.0000000Z ", "bench-1  | ", "\t", "10%\r100%\r", "# ",
	} {
		side := func(slow bool) string { return runs(8, other, before+"BenchmarkSync-8   \t"+figures[slow]) }
		r := judge(t, gateOp, side(false), side(true), Options{})
		assert.Equal(t, r.Verdict, CannotJudge, "%q", before)
		assert.Assert(t, strings.Contains(strings.Join(r.reasons(), "\n"), "new:4: a result, or a part of one, that cannot be read: "), "%q", r.reasons())
	}
	for _, c := range []struct {
		within string
		want   string
	}{
		{"syncing 12 files...\n", `new:4: parsing iteration count: invalid syntax: "BenchmarkSync-8   \tsyncing 12 files..."`},
		{"syncing 12 files...", `new:4: parsing iteration count: invalid syntax: "BenchmarkSync-8   \tsyncing 12 files...     100\t      1500 ns/op"`},
	} {
		side := func(slow bool) string { return runs(8, other, "BenchmarkSync-8   \t"+c.within+figures[slow]) }
		r := judge(t, gateOp, side(false), side(true), Options{})
		assert.Equal(t, r.Verdict, CannotJudge, "%q", c.within)
		assert.Assert(t, strings.Contains(strings.Join(r.reasons(), "\n"), c.want), "%q", r.reasons())
	}
	for _, log := range []string{"Benchmark results below:", "Benchmarking 3 servers", "Unit tests passed", "BenchmarkOther is slow", "--- BENCH: BenchmarkOther-8\n    x_test.go:14: 100 requests in 3 s", "BenchmarkOther-8", "worker 3 20.5 req/s"} {
		r := judge(t, gateOp, runs(8, log, other), runs(8, log, other), Options{})
		assert.Equal(t, r.Verdict, Pass, "%q: %q", log, r.reasons())
	}
}

// A margin that other output made unreadable is told: the unit would be judged no more.
func TestTornUnitLines(t *testing.T) {
	for _, before := range []string{"syncing... ", "done.", "\x1b[1m", "2026-11-28T10:00:00Z ", " "} {
		side := func(ttft string) string {
			return runs(8, "Unit ns/op gate=5%", before+"Unit p50-ttft-ns better=lower gate=5%", "BenchmarkA-8 1 100 ns/op "+ttft+" p50-ttft-ns")
		}
		r := judge(t, "", side("100"), side("139"), Options{})
		assert.Equal(t, r.Verdict, CannotJudge, "%q", before)
		assert.Assert(t, strings.Contains(strings.Join(r.reasons(), "\n"), "new:4: a Unit line that cannot be read: "), "%q", r.reasons())
	}
}

// PowerShell writes UTF-16, and editors on Windows write a byte order mark.
func TestEncodings(t *testing.T) {
	wide := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.Write([]byte{byte(r), byte(r >> 8)})
		}
		return b.String()
	}
	for _, encode := range []func(string) string{
		wide,
		func(s string) string { return wide("\uFEFF" + s) },
		func(s string) string { return "\uFEFF" + s },
		func(s string) string { return strings.ReplaceAll(s, "goos: linux\n", "\uFEFFgoos: linux\n") }, // several files with a mark, joined
	} {
		old, same, slow := runs(8, "BenchmarkA-8 1 100 ns/op"), runs(8, "BenchmarkA-8 1 101 ns/op"), runs(8, "BenchmarkA-8 1 200 ns/op")
		assert.Equal(t, judge(t, gateOp, encode(old), same, Options{}).Verdict, Pass)
		assert.Equal(t, judge(t, gateOp, old, encode(slow), Options{}).Verdict, Regression)
	}
}

// A row that many processes of a side lack cannot be judged by the other processes.
func TestAbsentRows(t *testing.T) {
	const a, b = "BenchmarkA-8 1 100 ns/op", "BenchmarkB-8 1 100 ns/op"
	both, only := runs(1, a, b), runs(1, b)
	empty := "goos: linux\npkg: p\nPASS\nok  \tp\t1.2s\n"
	many := func(n int, text string) string { return strings.Repeat(text, n) }
	for _, c := range []struct {
		old, new string
		verdict  Verdict
		want     string // a part of the reasons
	}{
		{many(10, both), many(6, both) + many(4, only), CannotJudge, "new:3: A-8: 4 of 10 processes of new have no result of it: want a result of each, since the missing ones may be the worst"},
		{many(6, both) + many(2, only), many(8, both), CannotJudge, "old:3: A-8: 2 of 8 processes of old have no result of it"},
		{many(8, both), many(2, empty) + many(6, both), CannotJudge, "new:11: A-8, B-8: 2 of 8 processes of new have no result of it"},
		{many(8, runs(1, a)), many(6, runs(1, a)) + many(2, empty), CannotJudge, "2 of 8 processes of new have no result of it"},
		// One of ten is told.
		{many(10, both), many(9, both) + only, Pass, "A-8 ns/op: in all 10 old and 9 of 10 new samples"},
		// Processes of other benchmarks or of other packages need not have the row.
		{many(8, runs(1, a)) + many(8, only), many(8, runs(1, a)) + many(8, only), Pass, ""},
		{many(8, both+strings.ReplaceAll(only, "pkg: p", "pkg: q")), many(8, both+strings.ReplaceAll(only, "pkg: p", "pkg: q")), Pass, ""},
		{many(8, both+"PASS\nok  \tq\t0.1s\n"), many(8, both), Pass, ""},
	} {
		r := judge(t, gateOp, c.old, c.new, Options{})
		reasons := strings.Join(append(r.lacking(), r.reasons()...), "\n")
		assert.Equal(t, r.Verdict, c.verdict, "%s", reasons)
		assert.Assert(t, strings.Contains(reasons, c.want), "%s", reasons)
		assert.Equal(t, reasons == "", c.want == "", "%s", reasons)
	}
}
