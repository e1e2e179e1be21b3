package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// order returns an order for n pairs.
func order(n int) []bool {
	newFirst := []bool{false, true, true, false, true, false, false, true, true, true, false, true, false, false, true}
	return newFirst[:n]
}

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []Look
	}{
		{Options{}, nil},
		{Options{Planned: 10}, []Look{{8, 0.005}, {10, 0.02}}},
		{Options{Planned: 10, Max: 25}, []Look{{8, 0.005}, {10, 0.005}, {14, 0.005}, {20, 0.005}, {25, 0.005}}},
		{Options{Planned: 6}, []Look{{6, 0.025}}},
		{Options{Planned: 10, Alpha: 0.005}, []Look{{10, 0.005}}},
	} {
		assert.DeepEqual(t, c.o.Looks(), c.want)
	}
}

// TestSettled compares files to which samples are still added.
func TestSettled(t *testing.T) {
	slow := func(n int) string { return runs(n, "BenchmarkA 1 200 ns/op") }
	fast := func(n int) string { return runs(n, "BenchmarkA 1 100 ns/op") }
	values := func(v ...float64) (all string) {
		for _, v := range v {
			all += run(fmt.Sprintf("BenchmarkA 1 %v ns/op", v))
		}
		return all
	}
	mixed := func(n int) (all string) {
		for i := range n {
			all += run(fmt.Sprintf("BenchmarkA 1 %d ns/op", 100+20*(i%3)))
		}
		return all
	}
	// length returns runs whose answers have a certain length. The longer the answers are, the
	// faster the runs are.
	length := func(n, tok int) string {
		return "Unit tok same=2%\n" + runs(n, fmt.Sprintf("BenchmarkA 1 %d ns/op %d tok", 1000-tok, tok))
	}
	// drift returns values that drift. If worse is 0, they are the old values, and otherwise the
	// new ones.
	drift := func(worse float64) string {
		var all []float64
		for i, newFirst := range order(10) {
			process := 2 * i
			if newFirst == (worse == 0) {
				process++
			}
			all = append(all, float64(100+5*process)*(1+worse))
		}
		return values(all...)
	}
	allZero := func(n int) string {
		return "Unit fail-% better=lower gate=0%\n" + runs(n, "BenchmarkA 1 0 fail-%")
	}
	planned := func(n int) Options { return Options{NewFirst: order(n), Planned: 10, RequireQuiet: true} }
	for _, c := range []struct {
		name, old, new string
		o              Options
		settled        bool
		verdict        Verdict // if the comparison is settled
		row            Verdict // the verdict on the first row, if the comparison is settled
		text           string  // a part of the rendered text
	}{
		{"files without pairs", fast(6), fast(6), Options{}, true, Pass, NoWorse, "pass: 1 row within its margin"},
		{"too early for a regression", fast(7), slow(7), planned(7), false, "", "", ""},
		{"the first look", fast(8), slow(8), planned(8), true, Regression, Regression,
			"regression after 8 of 10 rounds: A ns/op: +100.00% (margin 5%)"},
		{"no look after the first look", fast(9), slow(9), planned(9), false, "", "", ""},
		{"the end", fast(10), slow(10), planned(10), true, Regression, Regression, "regression after 10 rounds: A ns/op: +100.00% (margin 5%)"},
		{"too early for a pass", slow(4), fast(4), planned(4), false, "", "", ""},
		{"a pass that further samples cannot change", slow(6), fast(6), planned(6), true, Pass, Pass,
			"pass after 6 of 10 rounds: 1 row within its margin"},
		{"no worse is required, before the first look", slow(7), fast(7), Options{NewFirst: order(7), Planned: 10, RequireNoWorse: true}, false, "", "", ""},
		{"no worse is required, at the first look", slow(8), fast(8), Options{NewFirst: order(8), Planned: 10, RequireNoWorse: true}, true, Pass, NoWorse,
			"pass after 8 of 10 rounds: 1 row within its margin"},
		{"no worse is required, and samples are equal", allZero(10), allZero(10), Options{NewFirst: order(10), Planned: 10, RequireNoWorse: true}, true, Pass, NoWorse, ""},
		{"no worse is required, and samples without pairs are equal", allZero(10), allZero(10), Options{RequireNoWorse: true}, true, Pass, NoWorse, ""},
		{"answers of another length beside a unit that is new", runs(3, "BenchmarkA 1 100 tok"), "Unit tok same=2%\n" + runs(3, "BenchmarkA 1 103 tok 1 ns/op"), Options{NewFirst: order(3), Planned: 10, EmptyOld: true}, true, Pass, NotGated,
			"pass: nothing was judged, because no gated row is in both files"},
		{"no worse is required, and not shown", values(100, 101, 100, 101, 100, 101), values(105, 106, 103, 106, 104, 107), Options{RequireNoWorse: true}, true, CannotJudge, Pass,
			"cannot judge: 1 of 1 row not shown to be within the margin: A ns/op: +4.98%, at worst +6.26% (margin 5%)"},
		{"a problem that further samples cannot change", "gpu: a\n" + fast(1), "gpu: b\n" + fast(1), planned(1), true, CannotJudge, CannotJudge, "gpu is b, but a in old"},
		{"too few planned samples", fast(1), fast(1), Options{NewFirst: order(1), Planned: 3}, true, CannotJudge, CannotJudge,
			"3 samples a side are planned: want at least 6 at alpha 0.025"},
		{"few planned samples that may become more", fast(1), fast(1), Options{NewFirst: order(1), Planned: 3, Max: 10}, false, "", "", ""},
		{"a row without one of the samples", runs(10, "BenchmarkA 1 100 ns/op", "BenchmarkB 1 100 ns/op"),
			runs(9, "BenchmarkA 1 200 ns/op", "BenchmarkB 1 200 ns/op") + run("BenchmarkA 1 200 ns/op"), planned(10), true, CannotJudge, Regression,
			"B ns/op: 10 old and 9 new samples: want one of each process, 10"},
		{"a median of 0 that may change", "Unit x better=higher gate=5%\n" + runs(1, "BenchmarkA 1 0 x"), runs(1, "BenchmarkA 1 0 x"), planned(1), false, "", "", ""},
		{"answers of another length, at the first look", length(8, 100), length(8, 103), planned(8), true, CannotJudge, CannotJudge,
			"A: the median of tok is 103, but 100 in old: want results that differ by at most same=2%"},
		{"answers of another length, before the first look", length(7, 100), length(7, 103), planned(7), false, "", "", ""},
		{"answers of equal length, before the first look", length(7, 100), length(7, 102), planned(7), true, Pass, Pass, ""},
		{"noise", mixed(10), values(120, 100, 140, 100, 100, 120, 100, 140, 120, 110), Options{RequireQuiet: true, NewFirst: order(10)}, true, CannotJudge, CannotJudge,
			"A ns/op: cannot judge: the noise, 9.9%, is more than the margin of 5%: want a quieter machine, about 40 samples a side or a wider margin"},
		{"noise that may decrease", mixed(9), values(120, 100, 140, 100, 100, 120, 100, 140, 120), planned(9), false, "", "", ""},
		{"a regression in noise", mixed(10), runs(10, "BenchmarkA 1 300 ns/op"), Options{RequireQuiet: true, NewFirst: order(10)}, true, Regression, Regression, ""},
		{"a regression beside noise", strings.ReplaceAll(mixed(10), "A 1", "B 1") + fast(10), strings.ReplaceAll(mixed(5)+mixed(5), "A 1", "B 1") + slow(10), planned(10),
			true, Regression, CannotJudge, "regression after 10 rounds: 1 of 2 rows: A ns/op: +100.00% (margin 5%); 1 cannot be judged"},
		{"noise without RequireQuiet", mixed(10), mixed(10), Options{}, true, Pass, Pass, ""},
		// The machine becomes slower by 5 ns with each process, and the new version is 20 % worse.
		{"a drift without pairs", drift(0), drift(0.2), Options{}, true, Pass, Pass, ""},
		{"a drift with pairs", drift(0), drift(0.2), Options{NewFirst: order(10)}, true, Regression, Regression, "A ns/op: +20.02%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, gateOp, c.old, c.new, c.o)
			assert.Equal(t, r.Settled, c.settled)
			if !c.settled {
				return
			}
			var b strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.Equal(t, r.Verdict, c.verdict, "%s", &b)
			assert.Equal(t, r.Rows[0].Verdict, c.row, "%s", &b)
			assert.Assert(t, strings.Contains(b.String(), c.text), "%s", &b)
		})
	}
}
