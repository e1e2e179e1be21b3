package gate

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

// run returns the output of one process.
func run(lines ...string) string {
	return "goos: linux\npkg: p\n" + strings.Join(lines, "\n") + "\nPASS\nok  \tp\t1.2s\n"
}

// runs returns the output of n equal processes.
func runs(n int, lines ...string) string { return strings.Repeat(run(lines...), n) }

const gateOp = "Unit ns/op gate=5%\n"

// compare compares files named units, old and new.
func compare(t *testing.T, units, old, new string, o Options) *Report {
	t.Helper()
	r, err := Compare(File{"units", strings.NewReader(units)}, File{"old", strings.NewReader(old)}, File{"new", strings.NewReader(new)}, o)
	assert.NilError(t, err)
	return r
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, units, old, new string
		verdict               Verdict
		reasons               []string
	}{
		{"equal", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"at the margin", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(6, "BenchmarkA 1 105 ns/op"), Pass, nil},
		{"beyond the margin", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(6, "BenchmarkA 1 105.1 ns/op"), Regression,
			[]string{"A sec/op: +5.10%, may be 5% worse"}},
		{"better", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(6, "BenchmarkA 1 50 ns/op"), Pass, nil},
		{"higher is better", "Unit tok/s better=higher gate=5%", runs(6, "BenchmarkA 1 100 tok/s"), runs(6, "BenchmarkA 1 94.9 tok/s"), Regression,
			[]string{"A tok/s: -5.10%, may be 5% worse"}},
		{"from 0", "Unit fail-% better=lower gate=5%", runs(6, "BenchmarkA 1 0 fail-%"), runs(6, "BenchmarkA 1 3 fail-%"), Regression,
			[]string{"A fail-%: from 0, may be 5% worse"}},
		{"a duration of 0 has the tidied unit too", "Unit queue-ns better=lower gate=5%",
			run("BenchmarkA 1 0 queue-ns") + runs(5, "BenchmarkA 1 1 queue-ns"),
			run("BenchmarkA 1 0 queue-ns") + runs(5, "BenchmarkA 1 1 queue-ns"), Pass, nil},
		{"unit lines of the files themselves", "", runs(6, "Unit x-ns better=lower gate=1%", "BenchmarkA 1 100 x-ns"), runs(6, "BenchmarkA 1 102 x-ns"), Regression,
			[]string{"A x-sec: +2.00%, may be 1% worse"}},
		{"the file of units overrides the others", "Unit ns/op gate=5%", runs(6, "Unit ns/op gate=0%", "BenchmarkA 1 100 ns/op"),
			runs(6, "Unit ns/op gate=1%", "BenchmarkA 1 104 ns/op"), Pass, nil},
		{"equal margins in different notation", "", runs(6, "Unit ns/op gate=5%", "BenchmarkA 1 100 ns/op"),
			runs(6, "Unit ns/op gate=5.0%", "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"two versions", gateOp, "commit: a\n" + runs(6, "BenchmarkA 1 100 ns/op"), "commit: b\n" + runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"one benchmark in two packages", gateOp,
			strings.Repeat("goos: linux\npkg: p\nBenchmarkA 1 1 ns/op\nPASS\ngoos: linux\npkg: q\nBenchmarkA 1 100 ns/op\nPASS\n", 6),
			strings.Repeat("goos: linux\npkg: p\nBenchmarkA 1 1 ns/op\nPASS\ngoos: linux\npkg: q\nBenchmarkA 1 200 ns/op\nPASS\n", 6), Regression,
			[]string{"q.A sec/op: +100.00%, may be 5% worse"}},
		{"unequal numbers of samples", gateOp, runs(3, "BenchmarkA 1 100 ns/op"), runs(12, "BenchmarkA 1 200 ns/op"), Regression,
			[]string{"A sec/op: +100.00%, may be 5% worse"}},
		{"windows line ends", gateOp, strings.ReplaceAll(runs(6, "BenchmarkA 1 100 ns/op"), "\n", "\r\n"), runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"go test -v", gateOp, runs(6, "=== RUN   BenchmarkA", "BenchmarkA", "BenchmarkA 1 100 ns/op", "--- BENCH: BenchmarkA"), runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"a regression beside a problem", gateOp, runs(7, "BenchmarkA 1 100 ns/op", "BenchmarkB 1 1 ns/op"), runs(7, "BenchmarkA 1 200 ns/op"), CannotJudge,
			[]string{"A sec/op: +100.00%, may be 5% worse", "old:4: B: missing in new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, c.units, c.old, c.new, Options{})
			assert.Equal(t, r.Verdict, c.verdict, "%q", r.reasons())
			if diff := cmp.Diff(c.reasons, r.reasons()); diff != "" {
				t.Errorf("reasons() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProblems has a case for every Problem.
func TestProblems(t *testing.T) {
	good := runs(6, "BenchmarkA-2 1 100 ns/op")
	for _, c := range []struct {
		units, old, new string
		want            []string
	}{
		// Files.
		{gateOp, "", good, []string{"old: no results", "new:3: A-2: missing in old"}},
		{gateOp, good, "PASS\n", []string{"new: no results", "old:3: A-2: missing in new"}},
		{gateOp, good, strings.TrimSuffix(good, "\n"), []string{"new:30: the last line has no line end: was the file cut?"}},
		{gateOp, good, good[:len(good)-len("PASS\nok  \tp\t1.2s\n")],
			[]string{"new:28: the run of line 26 has not ended in PASS or ok: want the whole output of go test"}},
		{gateOp, "goos: linux\npkg: p\nBenchmarkA-2 1 100 ns/op\n" + good, good,
			[]string{"old:4: another run starts here, but that of line 1 has not ended in PASS or ok: want the whole output of each"}},
		{gateOp, good, "goos: linux\n" + good,
			[]string{"new:2: another run starts here, but that of line 1 has not ended in PASS or ok: want the whole output of each"}},
		{gateOp, good, good + "goos: linux\npkg: p\n", []string{"new:32: the run of line 31 has not ended in PASS or ok: want the whole output of go test"}},
		{gateOp, good, good + "    --- FAIL: BenchmarkA/b\nPASS\n", []string{`new:31: "    --- FAIL: BenchmarkA/b": want a run without failures`}},
		{gateOp, good, good + "FAIL\tp\t1.2s\nFAIL\n", []string{`new:31: "FAIL\tp\t1.2s": want a run without failures`, `new:32: "FAIL": want a run without failures`}},
		{gateOp, good, good + run("BenchmarkA-2 1 100"), []string{"new:33: missing units"}},
		{gateOp, good, good + run("BenchmarkA-2 \t2026/11/21 starting container", "1 100 ns/op"), []string{"new:33: parsing iteration count: invalid syntax"}},
		{gateOp, good, good + run(strings.Repeat("BenchmarkA\t\n", 12)), []string{
			"new:33: missing iteration count", "new:34: missing iteration count", "new:35: missing iteration count", "new:36: missing iteration count",
			"new:37: missing iteration count", "new:38: missing iteration count", "new:39: missing iteration count", "new:40: missing iteration count",
			"new:41: missing iteration count", "new:42: missing iteration count", "new: and 2 more lines that cannot be parsed"}},
		{gateOp, good, good + strings.Repeat("x", 70_000) + "\n" + good, []string{"new:31: want less than 65536 bytes in a line"}},
		{gateOp + "BenchmarkA-2 1 1 ns/op\n", good, good, []string{"units:2: the result of BenchmarkA-2: want Unit lines only in a file of units"}},

		// Units.
		{"", good, good, []string{`no unit of these results has a margin: want a line such as "Unit ns/op better=lower gate=5%"`}},
		{"Unit B/op gate=5%\n", good, good, []string{`no unit of these results has a margin: want a line such as "Unit ns/op better=lower gate=5%"`}},
		{gateOp + "Unit ns/op gate\n", good, good, []string{"units:2: expected key=value"}},
		{gateOp + "Unit ns/op gate=6%\n", good, good, []string{"units:2: metadata gate of unit ns/op already set to 5%"}},
		{gateOp + "Unit x gate=5%\n", good, good, []string{"units:2: unit x: gate=5% without better=: want better=higher or better=lower"}},
		{gateOp + "Unit x better=up\n", good, good, []string{"units:2: unit x: better=up: want higher or lower"}},
		{gateOp + "Unit a better=lower gate=5\n", good, good, []string{"units:2: unit a: gate=5: want a percentage from 0% to less than 100%"}},
		{gateOp + "Unit a better=lower gate=-1%\n", good, good, []string{"units:2: unit a: gate=-1%: want a percentage from 0% to less than 100%"}},
		{gateOp + "Unit a better=lower gate=100%\n", good, good, []string{"units:2: unit a: gate=100%: want a percentage from 0% to less than 100%"}},
		{gateOp + "Unit a better=lower gate=NaN%\n", good, good, []string{"units:2: unit a: gate=NaN%: want a percentage from 0% to less than 100%"}},
		{gateOp + "Unit a better=lower gate=\n", good, good, []string{"units:2: unit a: gate=: want a percentage from 0% to less than 100%"}},
		{"", gateOp + good, "Unit ns/op gate=50%\n" + good, []string{"new:1: unit ns/op: gate=50%, but old:1 says gate=5%: want one margin"}},
		{gateOp, "Unit ns/op better=lower\n" + good, "Unit ns/op better=higher\n" + good,
			[]string{"new:1: unit ns/op: better=higher, but old:1 says better=lower: want one direction"}},

		{gateOp + "Unit a same=x\n", good, good, []string{"units:2: unit a: same=x: want a percentage such as 2%, or an amount such as 5, of 0 or more"}},
		{gateOp + "Unit a same=-1%\n", good, good, []string{"units:2: unit a: same=-1%: want a percentage such as 2%, or an amount such as 5, of 0 or more"}},
		{gateOp + "Unit a same=Inf\n", good, good, []string{"units:2: unit a: same=Inf: want a percentage such as 2%, or an amount such as 5, of 0 or more"}},
		{gateOp, "Unit a same=1%\n" + good, "Unit a same=1\n" + good, []string{"new:1: unit a: same=1, but old:1 says same=1%: want one tolerance"}},

		// Rows.
		{gateOp, runs(6, "BenchmarkA-2 1 1 ns/op", "BenchmarkB-2 1 1 ns/op"), runs(6, "BenchmarkA-2 1 1 ns/op", "BenchmarkC-2 1 1 ns/op"),
			[]string{"old:4: B-2: missing in new", "new:4: C-2: missing in old"}},
		{gateOp, good, runs(6, "BenchmarkA-4 1 100 ns/op"), []string{"old:3: A-2: GOMAXPROCS is 2, but 4 at new:3: want both run with the same -cpu"}},
		{gateOp, good, runs(6, "BenchmarkA 1 100 ns/op"), []string{"old:3: A-2: GOMAXPROCS is 2, but 1 at new:3: want both run with the same -cpu"}},
		{gateOp, "gpu: A100\n" + good, "gpu: H100\n" + good, []string{"new:4: A-2: gpu is H100, but A100 in old: want results of equal configuration"}},
		{gateOp, good, "gpu: H100\nmodel: yi\n" + good, []string{
			"new:5: A-2: gpu is H100, but not set in old: want results of equal configuration",
			"new:5: A-2: model is yi, but not set in old: want results of equal configuration"}},
		{gateOp, good, good + "gpu: H100\n" + good, []string{"new:34: A-2: gpu is H100, but not set at line 3: want one value for a benchmark"}},

		// Values.
		{gateOp, good, good + run("BenchmarkA-2 1 NaN ns/op"), []string{"new:33: A-2 sec/op: NaN: want a finite number"}},
		{gateOp, good, good + run("BenchmarkA-2 1 100 ns/op +Inf B/op"), []string{"new:33: A-2 B/op: +Inf: want a finite number"}},
		{gateOp, good, good + run("BenchmarkA-2 1 1e200 ns/op"), []string{"new:33: A-2 sec/op: 1e+191: want a finite number"}},
		{gateOp, good, good + run("BenchmarkA-2 1 -1 ns/op"), []string{"new:3: A-2 sec/op: -1e-09: want 0 or more, since a margin is a share"}},
		{gateOp, good, good + run("BenchmarkA-2 1 1 ns/op 2 ns/op"), []string{"new:33: A-2 sec/op: two values in one result: want one"}},
		{gateOp, good, good + run("BenchmarkA-2 1 1 B/op"), []string{"new:3: A-2 sec/op: in 6 of 7 results: want a value in each"}},
		{gateOp, good, runs(6, "BenchmarkA-2 1 1 B/op"), []string{"new:3: A-2 sec/op: in 0 of 6 results: want a value in each"}},
		{"Unit tok/s better=higher gate=5%", runs(6, "BenchmarkA 1 0 tok/s"), runs(6, "BenchmarkA 1 1 tok/s"),
			[]string{"old:3: A tok/s: the median is 0: want more, since a margin is a share of the median"}},
		{gateOp, runs(3, "BenchmarkA 1 1 ns/op"), runs(3, "BenchmarkA 1 1 ns/op"),
			[]string{"old:3: A sec/op: 3 old and 3 new samples: want at least 4 of each for 1 gated cell at alpha 0.025"}},
	} {
		r := compare(t, c.units, c.old, c.new, Options{})
		if r.Verdict != CannotJudge {
			t.Errorf("Compare(%q, …).Verdict = %s, want %s because of %q", c.units, r.Verdict, CannotJudge, c.want)
		}
		if diff := cmp.Diff(c.want, r.reasons()); diff != "" {
			t.Errorf("reasons() mismatch (-want +got):\n%s", diff)
		}
	}
}

// TestSame checks that benchmarks are comparable only within the tolerances of same=. New
// is always twice as slow as old.
func TestSame(t *testing.T) {
	of := func(n int, time int, more string) string {
		return runs(n, fmt.Sprintf("BenchmarkA 1 %d ns/op%s", time, more))
	}
	for _, c := range []struct {
		name, units, old, new string // old and new are further values of each result
		want                  string // "": comparable
	}{
		{"equal", "Unit tok same=2%", " 100 tok", " 100 tok", ""},
		{"within a share", "Unit tok same=2%", " 100 tok", " 102 tok", ""},
		{"shorter", "Unit tok same=2%", " 683 tok", " 46 tok", "the median of tok is 46, but 683 in old: want results that differ by at most same=2%"},
		{"longer", "Unit tok same=2%", " 100 tok", " 103 tok", "the median of tok is 103, but 100 in old: want results that differ by at most same=2%"},
		{"only old", "Unit tok same=2%", " 100 tok", "", "the median of tok is 0, but 100 in old: want results that differ by at most same=2%"},
		{"neither", "Unit tok same=2%", "", "", ""},
		{"within an amount", "Unit cached-% same=5", "", " 5 cached-%", ""},
		{"beyond an amount", "Unit cached-% same=5", "", " 5.1 cached-%", "the median of cached-% is 5.1, but 0 in old: want results that differ by at most same=5"},
		{"an amount of a unit that is tidied", "Unit x-ns same=5", " 100 x-ns", " 105.1 x-ns", "the median of x-sec is 1.051e-07, but 1e-07 in old: want results that differ by at most same=5"},
		{"within an amount of a unit that is tidied", "Unit x-ns same=5", " 100 x-ns", " 104.9 x-ns", ""},
		{"the file of units overrides the others", "Unit tok same=100%", " 1 tok", " 100 tok", ""},
	} {
		r := compare(t, gateOp+c.units+"\n", "Unit tok same=1%\n"+of(6, 100, c.old), of(6, 200, c.new), Options{})
		if c.want == "" {
			assert.DeepEqual(t, r.reasons(), []string{"A sec/op: +100.00%, may be 5% worse"})
			continue
		}
		assert.Equal(t, r.Verdict, CannotJudge, c.name)
		assert.DeepEqual(t, r.reasons(), []string{"new:3: A: " + c.want})
		assert.Equal(t, r.Rows[0].Verdict, CannotJudge, c.name)
	}
	r := compare(t, gateOp+"Unit tok same=2%\n", of(6, 100, " 1 tok")+runs(6, "BenchmarkB 1 1 tok"), of(6, 100, " 1 tok")+runs(6, "BenchmarkB 1 2 tok"), Options{})
	assert.Equal(t, r.Verdict, Pass, "benchmark B has no gated unit: %q", r.reasons())
	// The median of a unit that only some results have.
	r = compare(t, gateOp+"Unit tok same=2%\n", of(4, 100, "")+of(3, 100, " 9 tok"), of(7, 100, ""), Options{})
	assert.Equal(t, r.Verdict, Pass, "%q", r.reasons())
}

// TestProblemsShared checks that problems with the same message share a line.
func TestProblemsShared(t *testing.T) {
	var lines []string
	for i := range 24 {
		lines = append(lines, fmt.Sprintf("Benchmark%c-2 1 1 ns/op", 'A'+i))
	}
	r := compare(t, gateOp, runs(6, lines...), runs(6, lines...), Options{})
	assert.DeepEqual(t, r.reasons(), []string{"old:3: A-2 sec/op, B-2 sec/op, C-2 sec/op, D-2 sec/op, E-2 sec/op, F-2 sec/op, G-2 sec/op, H-2 sec/op and 16 more: " +
		"6 old and 6 new samples: want at least 7 of each for 24 gated cells at alpha 0.025"})
	assert.Equal(t, len(r.Problems), 24)
	assert.Equal(t, compare(t, gateOp, runs(6, lines[1:]...), runs(6, lines[1:]...), Options{}).Verdict, Pass)
}

func TestIgnore(t *testing.T) {
	two := runs(6, "BenchmarkA-2 1 1 ns/op", "BenchmarkA-4 1 1 ns/op")
	for _, c := range []struct {
		ignore   []string
		old, new string
		want     []string
	}{
		{[]string{"gpu", "model"}, runs(6, "gpu: a", "BenchmarkA 1 1 ns/op"), runs(6, "gpu: b", "model: c", "BenchmarkA 1 1 ns/op"), nil},
		{[]string{"/gomaxprocs"}, runs(6, "BenchmarkA-2 1 1 ns/op"), runs(6, "BenchmarkA-4 1 1 ns/op"), nil},
		{[]string{"pkg"}, runs(6, "BenchmarkA 1 1 ns/op"), strings.ReplaceAll(runs(6, "BenchmarkA 1 1 ns/op"), "pkg: p", "pkg: q"), nil},
		{[]string{"/gomaxprocs"}, two, two, []string{
			"old:4: A: a result of p.BenchmarkA-4, but the row has results of p.BenchmarkA-2 since line 3: want one benchmark in a row, so ignore fewer keys",
			"new:4: A: a result of p.BenchmarkA-4, but the row has results of p.BenchmarkA-2 since line 3: want one benchmark in a row, so ignore fewer keys"}},
	} {
		r := compare(t, gateOp, c.old, c.new, Options{Ignore: c.ignore})
		if diff := cmp.Diff(c.want, r.reasons()); diff != "" {
			t.Errorf("Compare() ignoring %q: reasons() mismatch (-want +got):\n%s", c.ignore, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Alpha: -1}, "alpha: -1, want more than 0 and at most 0.5"},
		{Options{Alpha: 0.6}, "alpha: 0.6, want more than 0 and at most 0.5"},
		{Options{Ignore: []string{""}}, `ignore: "", want a configuration key or a /key of benchmark names`},
		{Options{Ignore: []string{".fullname"}}, `ignore: ".fullname", want a configuration key or a /key of benchmark names`},
	} {
		_, err := Compare(File{}, File{}, File{}, c.o)
		assert.Error(t, err, c.want)
	}
	_, err := Compare(File{}, File{Name: "old"}, File{Name: "new", Data: iotest.ErrReader(fmt.Errorf("read error"))}, Options{})
	assert.Error(t, err, "new: read error")
}

// TestOrder checks that the rows are in the order of the files.
func TestOrder(t *testing.T) {
	old := runs(6, "BenchmarkZ 1 1 ns/op 2 b 3 a", "BenchmarkA 1 1 ns/op")
	new := runs(6, "BenchmarkM 1 1 ns/op", "BenchmarkA 1 1 ns/op 1 B/op", "BenchmarkZ 1 1 ns/op 2 b 3 c")
	r := compare(t, gateOp, old, new, Options{})
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Name+" "+row.Unit)
	}
	assert.DeepEqual(t, got, []string{"Z sec/op", "Z b", "Z a", "Z c", "A sec/op", "A B/op", "M sec/op"})
}
