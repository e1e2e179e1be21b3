package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestNewPlan(t *testing.T) {
	for _, c := range []struct {
		rounds, cells int
		want          plan
	}{
		{0, 1, plan{final: 0.025}},
		{10, 3, plan{rounds: 10, look: 7, early: 0.005, final: 0.02}},
		{10, 17, plan{rounds: 10, look: 7, early: 0.005, final: 0.02}},
		{10, 18, plan{rounds: 10, final: 0.025}}, // 18/C(14,7) > 0.005
		{6, 23, plan{rounds: 6, final: 0.025}},
		{1, 1, plan{rounds: 1, final: 0.025}},
	} {
		got := newPlan(c.rounds, c.cells, 0.025)
		got.early, got.final = math.Round(1e6*got.early)/1e6, math.Round(1e6*got.final)/1e6
		if got != c.want {
			t.Errorf("newPlan(%d, %d) = %+v, want %+v", c.rounds, c.cells, got, c.want)
		}
	}
}

// roundByRound tests cells after each round, as benchgate ab does. It returns whether a
// regression was found, and after how many rounds the comparison ended.
func roundByRound(cells []cell, p plan) (found bool, rounds int) {
	for n := 1; ; n++ {
		part := slices.Clone(cells)
		for i := range part {
			part[i].old, part[i].new = part[i].old[:n], part[i].new[:n]
		}
		if alpha, looks := p.alpha(n); looks && slices.ContainsFunc(testCells(part, len(part)), func(v pValues) bool { return atMost(v.holm, alpha) }) {
			return true, n
		}
		if p.complete(n) || !slices.ContainsFunc(part, func(c cell) bool { return !p.decided(c) }) {
			return false, n
		}
	}
}

// TestInterimLook checks that the interim look raises no further false alarms, costs
// hardly any power, and saves rounds.
func TestInterimLook(t *testing.T) {
	const trials, cells, rounds = 1000, 6, 10
	p := newPlan(rounds, cells, DefaultAlpha)
	for i, c := range []struct {
		margin, worse float64
		least, most   float64 // share of trials with a regression
		mean          float64 // maximum of the mean number of rounds
	}{
		{0, 0, 0, DefaultAlpha + 3*math.Sqrt(DefaultAlpha/trials), 9.5},
		{0.02, 0, 0, 0.005, 7},
		{0.02, 0.20, 1, 1, 7.1},
		{0.005, 0.05, 0.85, 1, 10},
	} {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		found, sum, fixed := 0, 0, 0
		for range trials {
			all := []cell{simulate(r, noises[0].factor, rounds, +1, c.margin, c.worse)}
			for range cells - 1 {
				all = append(all, simulate(r, noises[0].factor, rounds, -1, c.margin, 0))
			}
			regression, n := roundByRound(all, p)
			sum += n
			if regression {
				found++
			}
			if slices.ContainsFunc(testCells(all, cells), func(v pValues) bool { return atMost(v.holm, DefaultAlpha) }) {
				fixed++
			}
		}
		got, mean := float64(found)/trials, float64(sum)/trials
		t.Logf("%+v: found in %.1f%% after %.1f rounds of %d; without the interim look in %.1f%%", c, 100*got, mean, rounds, 100*float64(fixed)/trials)
		if got < c.least || got > c.most || mean > c.mean {
			t.Errorf("%+v: found in %v of trials after %v rounds", c, got, mean)
		}
	}
}

// TestSettled compares files to which samples are still being added.
func TestSettled(t *testing.T) {
	slow := func(n int) string { return runs(n, "BenchmarkA 1 200 ns/op") }
	fast := func(n int) string { return runs(n, "BenchmarkA 1 100 ns/op") }
	mixed := func(n int) (all string) {
		for i := range n {
			all += run(fmt.Sprintf("BenchmarkA 1 %d ns/op", 100+20*(i%3)))
		}
		return all
	}
	// length returns runs whose answers have the given length. All become faster with it.
	length := func(n, tok int) string {
		return "Unit tok same=2%\n" + runs(n, fmt.Sprintf("BenchmarkA 1 %d ns/op %d tok", 1000-tok, tok))
	}
	for _, c := range []struct {
		name, old, new string
		o              Options
		settled        bool
		verdict        Verdict // if settled
		text           string  // part of the rendered text
	}{
		{"complete files", fast(6), fast(6), Options{}, true, Pass, "pass: none of 1 gated cell is shown to be worse than allowed"},
		{"too early for a regression", fast(6), slow(6), Options{Planned: 10}, false, "", ""},
		{"the interim look", fast(7), slow(7), Options{Planned: 10}, true, Regression,
			"regression: 1 of 1 gated cell worse than allowed (after 7 of 10 samples a side: found at the interim look)"},
		{"no look after the interim look", fast(8), slow(8), Options{Planned: 10}, false, "", ""},
		{"the end", fast(10), slow(10), Options{Planned: 10}, true, Regression, "regression: 1 of 1 gated cell worse than allowed"},
		{"too early for a pass", slow(4), fast(4), Options{Planned: 10}, false, "", ""},
		{"a pass that further samples cannot change", slow(6), fast(6), Options{Planned: 10}, true, Pass,
			"pass: none of 1 gated cell is shown to be worse than allowed (after 6 of 10 samples a side: further samples cannot make a regression)"},
		{"a problem that further samples cannot change", "gpu: a\n" + fast(1), "gpu: b\n" + fast(1), Options{Planned: 10}, true, CannotJudge, "gpu is b, but a in old"},
		{"too few planned samples", fast(1), fast(1), Options{Planned: 3}, true, CannotJudge, "3 samples a side are planned: want at least 4 for 1 gated cell at alpha 0.025"},
		{"a row without one of the samples", runs(10, "BenchmarkA 1 100 ns/op", "BenchmarkB 1 100 ns/op"),
			runs(9, "BenchmarkA 1 200 ns/op", "BenchmarkB 1 200 ns/op") + run("BenchmarkA 1 200 ns/op"), Options{Planned: 10}, true, CannotJudge,
			"B sec/op: 10 old and 9 new samples: want one of each process, 10"},
		{"a median of 0 that may change", "Unit x better=higher gate=5%\n" + runs(1, "BenchmarkA 1 0 x"), runs(1, "BenchmarkA 1 0 x"), Options{Planned: 10}, false, "", ""},
		{"answers of another length, at the interim look", length(7, 100), length(7, 103), Options{Planned: 10}, true, CannotJudge,
			"A: the median of tok is 103, but 100 in old: want results that differ by at most same=2%"},
		{"answers of another length, before the interim look", length(6, 100), length(6, 103), Options{Planned: 10}, false, "", ""},
		{"answers of equal length, before the interim look", length(6, 100), length(6, 102), Options{Planned: 10}, true, Pass, ""},
		{"noise", mixed(10), mixed(10), Options{RequireQuiet: true}, true, CannotJudge,
			"A sec/op: a margin of 5% is less than the noise, 24%: want a quieter machine, more samples or a wider margin"},
		{"noise that may decrease", mixed(9), mixed(9), Options{RequireQuiet: true, Planned: 10}, false, "", ""},
		{"a regression in noise", mixed(10), runs(10, "BenchmarkA 1 300 ns/op"), Options{RequireQuiet: true}, true, Regression, ""},
		{"noise without RequireQuiet", mixed(10), mixed(10), Options{}, true, Pass, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, gateOp, c.old, c.new, c.o)
			assert.Equal(t, r.Settled, c.settled)
			if !c.settled {
				return
			}
			assert.Equal(t, r.Verdict, c.verdict)
			var b strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.Assert(t, strings.Contains(b.String(), c.text), "%s", &b)
		})
	}
	_, err := Compare(File{}, File{}, File{}, Options{Planned: -1})
	assert.Error(t, err, "planned: -1 samples, want at least 0")
}
