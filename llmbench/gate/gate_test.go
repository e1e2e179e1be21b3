package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

// run returns what one process would print.
func run(lines ...string) string {
	return "goos: linux\npkg: p\n" + strings.Join(lines, "\n") + "\nPASS\nok  \tp\t1.2s\n"
}

// runs returns what n processes would print that all have the same results.
func runs(n int, lines ...string) string { return strings.Repeat(run(lines...), n) }

const gateOp = "Unit ns/op gate=5%\n"

// unitsFile returns a file of units, or none if the text is "".
func unitsFile(name, text string) File {
	if text == "" {
		return File{}
	}
	return File{Name: name, Data: strings.NewReader(text)}
}

// compare compares files that are named units, old and new.
func judge(t *testing.T, units, old, new string, o Options) *Report {
	t.Helper()
	r, err := Compare(unitsFile("units", units), File{Name: "old", Data: strings.NewReader(old)}, File{Name: "new", Data: strings.NewReader(new)}, o)
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
			[]string{"A ns/op: +5.10%, may be 5% worse"}},
		{"better", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(6, "BenchmarkA 1 50 ns/op"), Pass, nil},
		{"higher is better", "Unit tok/s better=higher gate=5%", runs(6, "BenchmarkA 1 100 tok/s"), runs(6, "BenchmarkA 1 94.9 tok/s"), Regression,
			[]string{"A tok/s: -5.10%, may be 5% worse"}},
		{"a line that older releases do not print", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(3, "BenchmarkA 1 100 ns/op") + "priority: none\n" + runs(3, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"from 0", "Unit fail-% better=lower gate=5%", runs(6, "BenchmarkA 1 0 fail-%"), runs(6, "BenchmarkA 1 3 fail-%"), Regression,
			[]string{"failed requests (%), A: from 0, may be 5% worse"}},
		{"a duration of 0 has the same unit", "Unit queue-ns better=lower gate=5%",
			run("BenchmarkA 1 0 queue-ns") + runs(5, "BenchmarkA 1 1 queue-ns"),
			run("BenchmarkA 1 0 queue-ns") + runs(5, "BenchmarkA 1 1 queue-ns"), Pass, nil},
		{"unit lines of the files themselves", "", runs(6, "Unit x-ns better=lower gate=1%", "BenchmarkA 1 100 x-ns"), runs(6, "BenchmarkA 1 102 x-ns"), Regression,
			[]string{"A x-ns: +2.00%, may be 1% worse"}},
		{"the file of units overrides the others", "Unit ns/op gate=5%", runs(6, "Unit ns/op gate=0%", "BenchmarkA 1 100 ns/op"),
			runs(6, "Unit ns/op gate=1%", "BenchmarkA 1 104 ns/op"), Pass, nil},
		{"equal margins in different notation", "", runs(6, "Unit ns/op gate=5%", "BenchmarkA 1 100 ns/op"),
			runs(6, "Unit ns/op gate=5.0%", "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"two versions", gateOp, "commit: a\n" + runs(6, "BenchmarkA 1 100 ns/op"), "commit: b\n" + runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"one benchmark in two packages", gateOp,
			strings.Repeat("goos: linux\npkg: p\nBenchmarkA 1 1 ns/op\nPASS\ngoos: linux\npkg: q\nBenchmarkA 1 100 ns/op\nPASS\n", 6),
			strings.Repeat("goos: linux\npkg: p\nBenchmarkA 1 1 ns/op\nPASS\ngoos: linux\npkg: q\nBenchmarkA 1 200 ns/op\nPASS\n", 6), Regression,
			[]string{"q.A ns/op: +100.00%, may be 5% worse"}},
		{"unequal numbers of samples", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(12, "BenchmarkA 1 200 ns/op"), Regression,
			[]string{"A ns/op: +100.00%, may be 5% worse"}},
		{"one unit in two notations", gateOp, runs(6, "BenchmarkA 1 100 ns/op"), runs(6, "BenchmarkA 1 1.051e-7 sec/op"), Regression,
			[]string{"A ns/op: +5.10%, may be 5% worse"}},
		{"one unit in two notations, at the margin", gateOp, runs(6, "BenchmarkA 1 1e-7 sec/op"), runs(6, "BenchmarkA 1 105 ns/op"), Pass, nil},
		{"windows line ends", gateOp, strings.ReplaceAll(runs(6, "BenchmarkA 1 100 ns/op"), "\n", "\r\n"), runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"go test -v", gateOp, runs(6, "=== RUN   BenchmarkA", "BenchmarkA", "BenchmarkA 1 100 ns/op", "--- BENCH: BenchmarkA"), runs(6, "BenchmarkA 1 100 ns/op"), Pass, nil},
		{"a regression beside a problem", gateOp, runs(7, "BenchmarkA 1 100 ns/op", "BenchmarkB 1 1 ns/op"), runs(7, "BenchmarkA 1 200 ns/op"), CannotJudge,
			[]string{"A ns/op: +100.00%, may be 5% worse", "old:4: B: missing in new (benchgate -removed=allow accepts that)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.units, c.old, c.new, Options{})
			assert.Equal(t, r.Verdict, c.verdict, "%q", r.reasons())
			if diff := cmp.Diff(c.reasons, r.reasons()); diff != "" {
				t.Errorf("reasons() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProblems has at least one case for every Problem.
func TestProblems(t *testing.T) {
	good := runs(6, "BenchmarkA-2 1 100 ns/op")
	torn := func(line string) string {
		return "a result, or a part of one, that cannot be read: " + line + ": want it as the testing package prints it, without a log, a time or a colour on its line"
	}
	tornUnit := func(line string) string {
		return "a Unit line that cannot be read: " + line + ": want it at the beginning of a line of its own"
	}
	const onlyUnits = `: want Unit lines only in a file of units, such as "Unit ns/op better=lower gate=5%", and comments that begin with #`
	for _, c := range []struct {
		units, old, new string
		want            []string
	}{
		// These are problems of files.
		{gateOp, "", good, []string{"old: no results"}},
		{gateOp, good, "PASS\n", []string{"new: no results", "old:3: A-2: missing in new (benchgate -removed=allow accepts that)"}},
		{gateOp, good, strings.TrimSuffix(good, "\n"), []string{"new:30: the last line has no line end: was the file cut off?"}},
		{gateOp, good, good[:len(good)-len("PASS\nok  \tp\t1.2s\n")],
			[]string{"new:28: the run of line 26 has not ended in PASS or ok: want the whole output of go test (benchgate -partial accepts that)"}},
		{gateOp, "goos: linux\npkg: p\nBenchmarkA-2 1 100 ns/op\n" + good, good,
			[]string{"old:4: another run starts here, but the run of line 1 has not ended in PASS or ok: want the whole output of each (benchgate -partial accepts that)"}},
		{gateOp, good, "goos: linux\n" + good,
			[]string{"new:2: another run starts here, but the run of line 1 has not ended in PASS or ok: want the whole output of each (benchgate -partial accepts that)"}},
		{gateOp, good, good + "goos: linux\npkg: p\n", []string{"new:32: the run of line 31 has not ended in PASS or ok: want the whole output of go test (benchgate -partial accepts that)"}},
		{gateOp, good, good + "    --- FAIL: BenchmarkA/b\nPASS\n", []string{`new:31: "    --- FAIL: BenchmarkA/b": want a run without failures`}},
		{gateOp, good, good + "FAIL\tp\t1.2s\nFAIL\n", []string{`new:31: "FAIL\tp\t1.2s": want a run without failures`, `new:32: "FAIL": want a run without failures`}},
		{gateOp, good, good + run("BenchmarkA-2 1 100"), []string{`new:33: missing units: "BenchmarkA-2 1 100"`}},
		{gateOp, good, good + run("BenchmarkA-2 \t2026/11/21 starting container", "1 100 ns/op"), []string{
			`new:33: parsing iteration count: invalid syntax: "BenchmarkA-2 \t2026/11/21 starting container"`, `new:34: ` + torn(`"1 100 ns/op"`)}},
		{gateOp, good, good + run(strings.Repeat("BenchmarkA\t\n", 12)), []string{
			`new:33: missing iteration count: "BenchmarkA\t"`, `new:34: missing iteration count: "BenchmarkA\t"`, `new:35: missing iteration count: "BenchmarkA\t"`, `new:36: missing iteration count: "BenchmarkA\t"`,
			`new:37: missing iteration count: "BenchmarkA\t"`, `new:38: missing iteration count: "BenchmarkA\t"`, `new:39: missing iteration count: "BenchmarkA\t"`, `new:40: missing iteration count: "BenchmarkA\t"`,
			`new:41: missing iteration count: "BenchmarkA\t"`, `new:42: missing iteration count: "BenchmarkA\t"`, "new: and 2 more lines that cannot be parsed"}},
		{gateOp, good, good + strings.Repeat("x", 70_000) + "\n" + good, []string{"new:31: want less than 65536 bytes in a line"}},
		{gateOp + "BenchmarkA-2 1 1 ns/op\n", good, good, []string{`units:2: "BenchmarkA-2 1 1 ns/op"` + onlyUnits}},
		{gateOp + "\n # as measured\r\nunit ns/op gate=1%\n  Unit ns/op gate=1%\nUnit ns/op\ngoos: linux\n", good, good, []string{
			`units:5: ` + tornUnit(`"  Unit ns/op gate=1%"`), `units:4: "unit ns/op gate=1%"` + onlyUnits, `units:6: "Unit ns/op"` + onlyUnits, `units:7: "goos: linux"` + onlyUnits}},
		{"# Unit ns/op gate=5%\n", gateOp + good, good, []string{`units: no Unit lines: want one or more in a file of units, such as "Unit ns/op better=lower gate=5%"`}},

		// These are problems of units.
		{"", runs(6, "BenchmarkA-2 1 100 req/s"), runs(6, "BenchmarkA-2 1 100 req/s"), []string{`no unit of these results has a margin: want a line such as "Unit ns/op better=lower gate=5%" in one of them, or in the file of benchgate -units`}},
		{"Unit B/op gate=5%\n", good, good, []string{`no unit of these results has a margin: want a line such as "Unit ns/op better=lower gate=5%" in one of them, or in the file of benchgate -units`}},
		{gateOp + "Unit ns/op gate\n", good, good, []string{`units:2: expected key=value: "Unit ns/op gate"`}},
		{gateOp + "Unit ns/op gaet=1% assume=exact\n", good, good, []string{"units:2: unit ns/op: gaet=1%: want better, gate, max, min, same, of, apart, pairs, withheld, says or assume"}},
		{gateOp + "Unit ns/op gate=6%\n", good, good, []string{"units:2: metadata gate of unit ns/op already set to 5%"}},
		{gateOp + "Unit x gate=5%\n", good, good, []string{"units:2: unit x: gate=5% without better=: want better=higher or better=lower"}},
		{gateOp + "Unit x better=up\n", good, good, []string{"units:2: unit x: better=up: want higher or lower"}},
		{gateOp + "Unit a better=lower gate=x\n", good, good, []string{"units:2: unit a: gate=x: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 3, 5%,3 for the larger of both, or none"}},
		{gateOp + "Unit a better=lower gate=-1%\n", good, good, []string{"units:2: unit a: gate=-1%: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 3, 5%,3 for the larger of both, or none"}},
		{gateOp + "Unit a better=lower gate=100%\n", good, good, []string{"units:2: unit a: gate=100%: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 3, 5%,3 for the larger of both, or none"}},
		{gateOp + "Unit a better=lower gate=NaN%\n", good, good, []string{"units:2: unit a: gate=NaN%: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 3, 5%,3 for the larger of both, or none"}},
		{gateOp + "Unit a better=lower gate=\n", good, good, []string{"units:2: unit a: gate=: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 3, 5%,3 for the larger of both, or none"}},
		{"", gateOp + good, "Unit ns/op gate=50%\n" + good, []string{"new:1: unit ns/op: gate=50%, but old:1 says gate=5%: want one margin"}},
		{gateOp, "Unit ns/op better=lower\n" + good, "Unit ns/op better=higher\n" + good,
			[]string{"new:1: unit ns/op: better=higher, but old:1 says better=lower: want one direction"}},

		{gateOp + "Unit a same=x\n", good, good, []string{"units:2: unit a: same=x: want a percentage such as 2%, or an amount such as 5, of 0 or more"}},
		{gateOp + "Unit a same=-1%\n", good, good, []string{"units:2: unit a: same=-1%: want a percentage such as 2%, or an amount such as 5, of 0 or more"}},
		{gateOp + "Unit a same=Inf\n", good, good, []string{"units:2: unit a: same=Inf: want a percentage such as 2%, or an amount such as 5, of 0 or more"}},
		{gateOp, "Unit a same=1%\n" + good, "Unit a same=1\n" + good, []string{"new:1: unit a: same=1, but old:1 says same=1%: want one tolerance"}},

		// These are problems of rows.
		{gateOp, runs(6, "BenchmarkA-2 1 1 ns/op", "BenchmarkB-2 1 1 ns/op"), runs(6, "BenchmarkA-2 1 1 ns/op", "BenchmarkC-2 1 1 ns/op"),
			[]string{"old:4: B-2: missing in new (benchgate -removed=allow accepts that)"}},
		{gateOp, good, runs(6, "BenchmarkA-4 1 100 ns/op"), []string{"old:3: A-2: GOMAXPROCS is 2, but 4 at new:3: want both run with the same -cpu of go test (benchgate -ignore=/gomaxprocs accepts that)"}},
		{gateOp, good, runs(6, "BenchmarkA 1 100 ns/op"), []string{"old:3: A-2: GOMAXPROCS is 2, but 1 at new:3: want both run with the same -cpu of go test (benchgate -ignore=/gomaxprocs accepts that)"}},
		{gateOp, good, strings.ReplaceAll(good, "pkg: p\n", ""), []string{"old:3: p.A-2: pkg is p, but not set at new:2: want one package, or benchgate -ignore=pkg"}},
		{gateOp, "backend: url\nserver-version: 0.30.0\n" + good, "backend: url\nserver-version: 0.31.0\n" + good, []string{"new:5: A-2: server-version is 0.31.0, but 0.30.0 in old: want results of equal configuration (benchgate -ignore=server-version accepts that)"}},
		{gateOp, "gpu: A100\n" + good, "gpu: H100\n" + good, []string{"new:4: A-2: gpu is H100, but A100 in old: want results of equal configuration (benchgate -ignore=gpu accepts that)"}},
		{gateOp, good, "gpu: H100\nmodel: yi\n" + good, []string{
			"new:5: A-2: gpu is H100, but not set in old: want results of equal configuration (benchgate -ignore=gpu accepts that)",
			"new:5: A-2: model is yi, but not set in old: want results of equal configuration (benchgate -ignore=model accepts that)"}},
		{gateOp, good, "priority: rr\n" + good, []string{"new:4: A-2: priority is rr, but not set in old: want results of equal configuration (benchgate -ignore=priority accepts that)"}},
		{gateOp, good, good + "gpu: H100\n" + good, []string{"new:34: A-2: gpu is H100, but not set at line 3: want one value for a benchmark (benchgate -ignore=gpu accepts that)"}},

		// These are problems of values.
		{gateOp, good, good + run("BenchmarkA-2 1 NaN ns/op"), []string{"new:33: A-2 ns/op: NaN: want a finite number"}},
		{gateOp, good, good + run("BenchmarkA-2 1 100 ns/op +Inf B/op"), []string{"new:33: A-2 B/op: +Inf: want a finite number"}},
		{gateOp, good, good + run("BenchmarkA-2 1 1e200 ns/op"), []string{"new:33: A-2 ns/op: 1e+200: want a finite number"}},
		{gateOp, good, good + run("BenchmarkA-2 1 -1 ns/op"), []string{"new:3: A-2 ns/op: -1: want 0 or more, or a margin that is an amount, such as gate=0.5ms"}},
		{gateOp, good, good + run("BenchmarkA-2 1 1 ns/op 2 ns/op"), []string{"new:33: A-2 ns/op: two values in one result: want one"}},
		{gateOp, good, good + runs(2, "BenchmarkA-2 1 1 B/op"),
			[]string{"A-2 ns/op: cannot judge: the unit is in all 6 old and 6 of 8 new samples: want four of five of each side, since the missing values may be the worst"}},
		{gateOp, good, runs(5, "BenchmarkA-2 1 100 ns/op") + run("BenchmarkA-2 1 1 B/op"),
			[]string{"A-2 ns/op: cannot judge: the unit is in all 6 old and 5 of 6 new samples, and too few are left: want more samples"}},
		{gateOp, good, runs(6, "BenchmarkA-2 1 1 B/op"), []string{"old:3: A-2 ns/op: missing in new (benchgate -removed=allow accepts that)"}},
		{"Unit tok/s better=higher gate=5%", runs(6, "BenchmarkA 1 0 tok/s"), runs(6, "BenchmarkA 1 1 tok/s"),
			[]string{"old:3: A tok/s: the median is 0, and higher is better: want more, or a margin that is an amount, such as gate=3; a budget, min=, needs no old values"}},
		{gateOp, run("BenchmarkA-2 1 1 ns/op", "BenchmarkA-2 1 1 ns/op 1 B/op") + good, good,
			[]string{"old:3: A-2: 2 results of one process are one observation, and they have no mean, because some have no B/op: want all figures in each result, or one result of each process (benchgate -one-start counts them all)"}},
		{gateOp, runs(3, "BenchmarkA 1 1 ns/op"), runs(3, "BenchmarkA 1 1 ns/op"),
			[]string{"old:3: A ns/op: 3 old and 3 new samples: want at least 6 of each at alpha 0.025"}},
	} {
		r := judge(t, c.units, c.old, c.new, Options{})
		if r.Verdict != CannotJudge {
			t.Errorf("Compare(%q, …).Verdict = %s, want %s because of %q", c.units, r.Verdict, CannotJudge, c.want)
		}
		if diff := cmp.Diff(c.want, r.reasons()); diff != "" {
			t.Errorf("reasons() mismatch (-want +got):\n%s", diff)
		}
	}
}

// TestSame checks that benchmarks can only be compared if they agree within the tolerances of
// same=. The new results are always twice as slow as the old ones.
func TestSame(t *testing.T) {
	of := func(n int, time int, more string) string {
		return runs(n, fmt.Sprintf("BenchmarkA 1 %d ns/op%s", time, more))
	}
	for _, c := range []struct {
		name, units, old, new string // old and new are additional values for each result
		want                  string // "" means that the benchmarks can be compared
	}{
		{"equal", "Unit tok same=2%", " 100 tok", " 100 tok", ""},
		{"within a share", "Unit tok same=2%", " 100 tok", " 102 tok", ""},
		{"shorter", "Unit tok same=2%", " 683 tok", " 46 tok", "the median of tok is 46, but 683 in old: want results that differ by at most same=2%"},
		{"longer", "Unit tok same=2%", " 100 tok", " 103 tok", "the median of tok is 103, but 100 in old: want results that differ by at most same=2%"},
		{"only old", "Unit tok same=2%", " 100 tok", "", "the median of tok is 0, but 100 in old: want results that differ by at most same=2%"},
		{"neither", "Unit tok same=2%", "", "", ""},
		{"within an amount", "Unit cached-% same=5", "", " 5 cached-%", ""},
		{"beyond an amount", "Unit cached-% same=5", "", " 5.1 cached-%", "the median of cached-% is 5.1, but 0 in old: want results that differ by at most same=5"},
		{"an amount of a unit that is tidied", "Unit x-ns same=5", " 100 x-ns", " 105.1 x-ns", "the median of x-ns is 105.1, but 100 in old: want results that differ by at most same=5"},
		{"within an amount of a unit that is tidied", "Unit x-ns same=5", " 100 x-ns", " 104.9 x-ns", ""},
		{"the file of units overrides the others", "Unit tok same=100%", " 1 tok", " 100 tok", ""},
	} {
		r := judge(t, gateOp+c.units+"\n", "Unit tok same=1%\n"+of(6, 100, c.old), of(6, 200, c.new), Options{})
		if c.want == "" {
			assert.DeepEqual(t, r.reasons(), []string{"A ns/op: +100.00%, may be 5% worse"})
			continue
		}
		assert.Equal(t, r.Verdict, CannotJudge, c.name)
		assert.DeepEqual(t, r.reasons(), []string{"new:3: A: " + c.want})
		assert.Equal(t, r.Rows[0].Verdict, CannotJudge, c.name)
	}
	r := judge(t, gateOp+"Unit tok same=2%\n", of(6, 100, " 1 tok")+runs(6, "BenchmarkB 1 1 tok"), of(6, 100, " 1 tok")+runs(6, "BenchmarkB 1 2 tok"), Options{})
	assert.Equal(t, r.Verdict, Pass, "benchmark B has no gated unit: %q", r.reasons())
	// Only a minority of the old results has this unit, so its median is 0.
	r = judge(t, gateOp+"Unit tok same=2%\n", of(4, 100, "")+of(3, 100, " 9 tok"), of(7, 100, ""), Options{})
	assert.Equal(t, r.Verdict, Pass, "%q", r.reasons())
}

// TestOneSided checks rows that only one file has.
func TestOneSided(t *testing.T) {
	const a, b = "BenchmarkA 1 100 ns/op", "BenchmarkB 1 100 ns/op"
	slow := strings.ReplaceAll(a, "100", "200")
	for _, c := range []struct {
		name, old, new string
		o              Options
		headline       string
	}{
		{"added", runs(6, a), runs(6, a, b), Options{}, "pass: 1 row within its margin; new: B"},
		{"added beside a regression", runs(6, a), runs(6, slow, b), Options{}, "regression: A ns/op: +100.00% (margin 5%); new: B"},
		{"only added", runs(6, "BenchmarkA 1 3 x"), runs(6, a+" 3 x"), Options{},
			"cannot judge: no gated row is in both files, so nothing can be judged: want old results that have one; new: A ns/op"},
		{"added, not allowed", runs(6, a), runs(6, a, b), Options{FailAdded: true},
			"cannot judge: new:4: B: missing in old (benchgate -added=allow accepts that)"},
		{"removed", runs(6, a, b), runs(6, a), Options{},
			"cannot judge: old:4: B: missing in new (benchgate -removed=allow accepts that)"},
		{"removed, allowed", runs(6, a, b), runs(6, a), Options{AllowRemoved: true}, "pass: 1 row within its margin; removed: B"},
		{"renamed", runs(6, a), runs(6, b), Options{},
			"cannot judge: old:3: A: missing in new (benchgate -removed=allow accepts that); new: B"},
		{"renamed, allowed", runs(6, a), runs(6, b), Options{AllowRemoved: true},
			"cannot judge: no gated row is in both files, so nothing can be judged: want old results that have one; new: B; removed: A"},
		{"renamed, allowed, in ab", runs(6, a), runs(6, b), Options{AllowRemoved: true, EmptyOld: true},
			"cannot judge: no gated row is in both files, so nothing can be judged: want old results that have one; new: B; removed: A"},
		{"a gated unit is added", runs(6, a, "BenchmarkB 1 3 B/op"), runs(6, a, b+" 3 B/op"), Options{},
			"pass: 1 row within its margin; new: B ns/op"},
		{"a gated unit is removed", runs(6, a, b+" 3 B/op"), runs(6, a, "BenchmarkB 1 3 B/op"), Options{},
			"cannot judge: old:4: B ns/op: missing in new (benchgate -removed=allow accepts that)"},
		{"no benchmarks in old", "PASS\n", runs(1, a, b), Options{EmptyOld: true},
			"pass: nothing was judged, because no gated row is in both files; new: A, B"},
		{"nothing in old", "", runs(1, a), Options{EmptyOld: true, NewFirst: order(1), Planned: 10}, "pass: nothing was judged, because no gated row is in both files; new: A"},
		{"no benchmarks at all", "", "", Options{EmptyOld: true, AllowRemoved: true},
			"cannot judge: new: no results, and 1 other problem"},
		{"no benchmarks in new", runs(6, a), "PASS\n", Options{EmptyOld: true, AllowRemoved: true},
			"cannot judge: new: no results; removed: A"},
		{"another GOMAXPROCS is not a removal", runs(6, "BenchmarkA-2 1 1 ns/op"), runs(6, "BenchmarkA-4 1 1 ns/op"), Options{AllowRemoved: true},
			"cannot judge: old:3: A-2: GOMAXPROCS is 2, but 4 at new:3: want both run with the same -cpu of go test (benchgate -ignore=/gomaxprocs accepts that)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, gateOp, c.old, c.new, c.o)
			assert.Equal(t, r.headline(), c.headline, "%q", r.reasons())
			assert.Equal(t, r.Settled, true)
		})
	}
}

// TestRunsAccepted checks the options that accept files whose runs are not complete or cannot be
// told apart.
func TestRunsAccepted(t *testing.T) {
	const pass = "pass: 1 row within its margin"
	const equal = "; both files have the same contents, so the results are compared with themselves"
	line := "BenchmarkA 1 100 ns/op"
	filtered := "goos: linux\npkg: p\n" + strings.Repeat(line+"\n", 6)
	counted := run(slices.Repeat([]string{line}, 6)...)
	for _, c := range []struct {
		name, old, new string
		o              Options
		headline       string
	}{
		{"partial, and nothing is missing", runs(6, line), runs(6, line), Options{Partial: true}, pass + equal},
		{"filtered", filtered, runs(6, line), Options{Partial: true}, pass + "; -partial: results may be missing, or come from one process"},
		{"filtered, with the headers", runs(6, line), strings.ReplaceAll(runs(6, line), "PASS\nok  \tp\t1.2s\n", ""), Options{Partial: true},
			pass + "; -partial: results may be missing, or come from one process"},
		{"a failure", filtered, runs(6, line) + "FAIL\n", Options{Partial: true},
			`cannot judge: new:31: "FAIL": want a run without failures; -partial: results may be missing, or come from one process`},
		{"one start", counted, runs(6, line), Options{OneStart: true}, pass + "; -one-start: results of one process count as samples, so their noise may be too small"},
		{"one start on both sides", counted, counted, Options{},
			"cannot judge: old:3: A: 6 results of one process are one observation: want each sample from a fresh process (benchgate -one-start counts them all), " +
				"and 1 other problem" + equal},
		{"several benchmarks of one process", runs(6, line, "BenchmarkB 1 1 B/op"), runs(6, line, "BenchmarkB 1 1 B/op"), Options{}, pass + equal},
		{"several results that are not gated", runs(6, line, "BenchmarkB 1 1 B/op", "BenchmarkB 1 1 B/op"), runs(6, line, "BenchmarkB 1 1 B/op"), Options{}, pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, gateOp, c.old, c.new, c.o)
			assert.Equal(t, r.headline(), c.headline, "%q", r.reasons())
		})
	}
}

// TestMoves checks which changes the report names in rows that are not gated.
func TestMoves(t *testing.T) {
	side := func(n int, f float64) (all string) {
		for i := range n {
			all += run(fmt.Sprintf("BenchmarkA 1 100 ns/op %v x", f*(1000+float64(i))))
		}
		return all
	}
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"large", side(4, 1), side(4, 2), []string{"A x: +100.00%, changed: 1.002k to 2.003k"}},
		{"small", side(6, 1), side(6, 1.09), nil},
		{"to 0", side(6, 1), side(6, 0), []string{"A x: -100.00%, changed: 1.002k to 0"}},
		{"below 0", side(6, -2), side(6, -1), []string{"A x: +1.002k, changed: -2.005k to -1.002k"}},
		{"noise", side(2, 1) + side(2, 2) + side(2, 4), side(2, 4) + side(2, 2) + side(2, 4), nil},
		{"too few", side(3, 1), side(3, 2), nil},
	} {
		got := judge(t, gateOp, c.old, c.new, Options{}).moves()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: moves() mismatch (-want +got):\n%s", c.name, diff)
		}
	}
	var units []string
	for i := range 10 {
		units = append(units, fmt.Sprintf("1 x%d", i))
	}
	old := "BenchmarkA 1 100 ns/op " + strings.Join(units, " ")
	got := judge(t, gateOp, runs(6, old), runs(6, strings.ReplaceAll(old, " 1 x", " 2 x")), Options{}).moves()
	assert.Equal(t, len(got), 9)
	assert.Equal(t, got[8], "and 2 more")
}

// TestProblemsShared checks that problems with the same message are reported in one line.
func TestProblemsShared(t *testing.T) {
	var lines []string
	for i := range 24 {
		lines = append(lines, fmt.Sprintf("Benchmark%c-2 1 1 ns/op", 'A'+i))
	}
	r := judge(t, gateOp, runs(5, lines...), runs(5, lines...), Options{})
	assert.DeepEqual(t, r.reasons(), []string{"old:3: A-2 ns/op, B-2 ns/op, C-2 ns/op, D-2 ns/op, E-2 ns/op, F-2 ns/op, G-2 ns/op, H-2 ns/op and 16 more: " +
		"5 old and 5 new samples: want at least 6 of each at alpha 0.025"})
	assert.Equal(t, len(r.Problems), 24)
	assert.Equal(t, judge(t, gateOp, runs(6, lines...), runs(6, lines...), Options{}).Verdict, Pass)
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
		r := judge(t, gateOp, c.old, c.new, Options{Ignore: c.ignore})
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
		{Options{Alpha: -1}, "alpha: -1: want at least 0.001 and at most 0.5"},
		{Options{Alpha: 0.6}, "alpha: 0.6: want at least 0.001 and at most 0.5"},
		{Options{Planned: -1}, "planned: -1 samples: want at least 0"},
		{Options{Planned: 10}, "planned: 10 samples, but the samples are not pairs: want NewFirst"},
		{Options{Max: 10}, "max: 10 samples without a planned number: want 0"},
		{Options{Ignore: []string{""}}, `ignore: "": want a configuration key or a /key of benchmark names`},
		{Options{Ignore: []string{".fullname"}}, `ignore: ".fullname": want a configuration key or a /key of benchmark names`},
	} {
		_, err := Compare(File{}, File{}, File{}, c.o)
		assert.Error(t, err, c.want)
	}
	_, err := Compare(File{}, File{Name: "old"}, File{Name: "new", Data: iotest.ErrReader(fmt.Errorf("read error"))}, Options{})
	assert.Error(t, err, "new: read error")
}

// TestCompareColumns compares results that are in the same file.
func TestCompareColumns(t *testing.T) {
	via := func(direct, gateway string) []string {
		return []string{"BenchmarkChat/via=direct/c=1-2 1 " + direct + " ns/op", "BenchmarkChat/via=gateway/c=1-2 1 " + gateway + " ns/op"}
	}
	for _, c := range []struct {
		name, file, col string
		headline        string
	}{
		{"worse", runs(6, via("100", "106")...), "/via", "regression: Chat-2 ns/op: +6.00% (margin 5%)"},
		{"within the margin", runs(6, via("100", "104")...), "/via", "pass: 1 row within its margin"},
		{"the other order", runs(6, via("100", "106")...), "/via@(gateway direct)", "pass: 1 row within its margin"},
		{"others are left out", runs(6, append(via("100", "100"), "BenchmarkChat/c=1-2 1 1 ns/op", "BenchmarkChat/via=x/c=1-2 1 1 ns/op")...), "/via@(direct gateway)",
			"pass: 1 row within its margin; left out: 12 results with neither value"},
		{"a configuration line", runs(6, "quantization: full", "BenchmarkA 1 100 ns/op") + runs(6, "quantization: int8", "BenchmarkA 1 106 ns/op"), "quantization",
			"regression: A ns/op: +6.00% (margin 5%)"},
		{"benchmarks", runs(6, "BenchmarkA/c=1 1 100 ns/op", "BenchmarkB/c=1 1 106 ns/op"), ".name", "regression: * ns/op: +6.00% (margin 5%)"},
		{"another configuration", runs(6, "gpu: a", "BenchmarkA/via=x 1 100 ns/op", "gpu: b", "BenchmarkA/via=y 1 100 ns/op"), "/via",
			"cannot judge: file:6: A: gpu is b, but a in /via=x: want results of equal configuration (benchgate -ignore=gpu accepts that)"},
		{"a row of one value", runs(6, append(via("100", "100"), "BenchmarkB/via=direct-2 1 1 ns/op")...), "/via",
			"cannot judge: file:5: B-2: missing in /via=gateway (benchgate -removed=allow accepts that)"},
		{"a file that was cut", strings.TrimSuffix(runs(6, via("100", "100")...), "PASS\nok  \tp\t1.2s\n"), "/via",
			"cannot judge: file:34: the run of line 31 has not ended in PASS or ok: want the whole output of go test (benchgate -partial accepts that)"},
		{"one start", run(slices.Repeat(via("100", "100"), 6)...), "/via",
			"cannot judge: file:3: Chat/c=1-2: 6 results of one process are one observation: want each sample from a fresh process (benchgate -one-start counts them all)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := CompareColumns(File{Data: strings.NewReader(gateOp)}, File{Name: "file", Data: strings.NewReader(c.file)}, c.col, Options{})
			assert.NilError(t, err)
			assert.Equal(t, r.headline(), c.headline, "%q", r.reasons())
		})
	}
	for col, want := range map[string]string{
		"":                  `col: "": want a key`,
		"/c":                "col: the results of file have 1 value of /c: 1: want two, which -col='/c@(OLD NEW)' selects",
		"/none":             "col: the results of file have 0 values of /none: : want two, which -col='/none@(OLD NEW)' selects",
		"/via,/c":           `col: "/via,/c": want one key: a /key of benchmark names, a configuration key or .name`,
		".config":           `col: ".config": want one key: a /key of benchmark names, a configuration key or .name`,
		".fullname":         `col: ".fullname": want one key: a /key of benchmark names, a configuration key or .name`,
		"/via@(direct":      "col: syntax error",
		"/via@(direct wan)": "col: the results of file have 1 value of /via: direct: want two",
	} {
		_, err := CompareColumns(File{}, File{Name: "file", Data: strings.NewReader(runs(6, via("100", "100")...))}, col, Options{})
		assert.ErrorContains(t, err, want, "col %q", col)
	}
	_, err := CompareColumns(File{}, File{Name: "file", Data: iotest.ErrReader(fmt.Errorf("read error"))}, "/via", Options{})
	assert.Error(t, err, "file: read error")
}

// TestOrder checks that the rows are in the order of the files.
func TestOrder(t *testing.T) {
	old := runs(6, "BenchmarkZ 1 1 ns/op 2 b 3 a", "BenchmarkA 1 1 ns/op")
	new := runs(6, "BenchmarkM 1 1 ns/op", "BenchmarkA 1 1 ns/op 1 B/op", "BenchmarkZ 1 1 ns/op 2 b 3 c")
	r := judge(t, gateOp, old, new, Options{})
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Name+" "+row.Unit)
	}
	assert.DeepEqual(t, got, []string{"Z ns/op", "Z b", "Z a", "Z c", "A ns/op", "A B/op", "M ns/op"})
}
