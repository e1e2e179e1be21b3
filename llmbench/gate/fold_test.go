package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFold checks that several results of each process count as one sample, their mean, and that the noise between the
// results of one process does not count as noise between processes.
func TestFold(t *testing.T) {
	// Processes differ by up to 3 %, the results of a process by 0.1 %.
	side := func(factor float64) string {
		var b strings.Builder
		for i := range 6 {
			var lines []string
			for j := range 4 {
				lines = append(lines, fmt.Sprintf("BenchmarkA-2 1 %v ns/op", factor*(1000+6*float64(i)+float64(j))))
			}
			b.WriteString(run(lines...))
		}
		return b.String()
	}
	for _, c := range []struct {
		name, old, new, units string
		o                     Options
		headline              string
		n                     int
	}{
		{"slower", side(1), side(1.2), gateOp, Options{}, "regression: A-2 ns/op: +20.00% (margin 5%); several results of one process count as one sample, their mean", 6},
		{"equal", side(1), side(1.001), gateOp, Options{}, "pass: 1 row within its margin; several results of one process count as one sample, their mean", 6},
		{"one side has one result of each", runs(6, "BenchmarkA-2 1 1000 ns/op"), side(1), gateOp, Options{}, "pass: 1 row within its margin; several results of one process count as one sample, their mean", 6},
		{"each counts", side(1), side(1.2), gateOp, Options{OneStart: true}, "regression: A-2 ns/op: +20.00% (margin 5%); -one-start: results of one process count as samples, so their noise may be too small", 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.units, c.old, c.new, c.o)
			assert.Equal(t, r.headline(), c.headline, "%q", r.reasons())
			i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Unit == "ns/op" })
			assert.Equal(t, r.Rows[i].New.N, c.n)
		})
	}
	// What prevents a mean is named.
	lacks := strings.Replace(side(1), "1003 ns/op", "1003 ns/op 5 x", 1)
	for _, c := range []struct {
		new, want string
		o         Options
	}{
		{lacks, "4 results of one process are one observation, and they have no mean, because some have no x: want all figures in each result", Options{}},
		{side(1) + "goos: linux\nBenchmarkA-2 1 1000 ns/op\n", "because some are of a run that did not end in PASS or ok: want", Options{Partial: true}},
	} {
		r := judge(t, gateOp, side(1), c.new, c.o)
		assert.Equal(t, r.Verdict, CannotJudge)
		assert.Assert(t, strings.Contains(strings.Join(r.reasons(), ";"), c.want), "%q", r.reasons())
	}
	// The mean of equal values is that value, so that a budget of it is kept.
	nine := strings.Repeat(run(slices.Repeat([]string{"BenchmarkA-2 1 1000 ns/op 64 tok/req 3 hits"}, 9)...), 8)
	for _, units := range []string{"Unit tok/req better=lower max=64\n", "Unit hits better=higher min=3\n", "Unit ns/op better=lower gate=5%\nUnit tok/req same=0%\n"} {
		r := judge(t, units, nine, nine, Options{})
		assert.Equal(t, r.Verdict, Pass, "%s: %q", r.headline(), r.reasons())
	}
	// Three processes of ten results each are three samples.
	three := strings.Repeat(run(slices.Repeat([]string{"BenchmarkA-2 1 1000 ns/op"}, 10)...), 3)
	r := judge(t, gateOp, three, three, Options{})
	assert.Assert(t, strings.Contains(strings.Join(r.reasons(), ";"), "3 old and 3 new samples: want at least 6"), "%q", r.reasons())
}
