package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestHeadline checks the first and the last line of reports on two files.
func TestHeadline(t *testing.T) {
	// side returns six runs. Each run has one value for each of the benchmarks A, B, C …
	side := func(values ...[6]float64) (all string) {
		for i := range 6 {
			var lines []string
			for j, v := range values {
				lines = append(lines, fmt.Sprintf("Benchmark%c/c=8 1 %v ns/op", 'A'+j, v[i]))
			}
			all += run(lines...)
		}
		return all
	}
	times := func(v [6]float64, f float64) [6]float64 {
		for i := range v {
			v[i] *= f
		}
		return v
	}
	quiet := [6]float64{100, 101, 99, 100, 101, 99}
	noisy := [6]float64{60, 100, 140, 80, 100, 120}
	for _, c := range []struct {
		name, old, new string
		headline, hint string
	}{
		{"within", side(quiet, quiet), side(times(quiet, 1.01), times(quiet, 0.97)), "pass: 2 rows within their margins", ""},
		{"beyond, but not shown", side(quiet), side([6]float64{104, 108, 106, 103, 109, 106}), "pass: no regression found in 1 row; a regression of 8.5% would have been found in 80% of such comparisons", ""},
		{"too noisy", side(noisy, quiet, quiet), side(times(noisy, 1.01), quiet, times(quiet, 1.01)), "pass: no regression found in 3 rows, 2 of them within their margins; a regression of 111% would have been found in 80% of such comparisons", ""},
		{"worse", side(quiet, quiet, quiet), side(times(quiet, 1.2), times(quiet, 1.3), quiet), "regression: 2 of 3 rows, above all B ns/op: +30.00% (margin 5%)", ""},
		{"one is worse", side(quiet, quiet), side(quiet, times(quiet, 1.2)), "regression: 1 of 2 rows: B ns/op: +20.00% (margin 5%)", ""},
		{"from 0", side([6]float64{}, quiet), side(quiet, times(quiet, 1.2)), "regression: 2 of 2 rows, above all A ns/op: from 0 (margin 5%)", ""},
		{"better", side(quiet), side(times(quiet, 0.9)), "pass: 1 row within its margin", "1 row is better by more than its margin: is OLD really first?"},
		{"two are better", side(quiet, quiet, quiet), side(times(quiet, 0.9), times(quiet, 0.9), times(quiet, 0.98)), "pass: 3 rows within their margins",
			"2 rows are better by more than their margins: is OLD really first?"},
		{"better beside worse", side(quiet, quiet), side(times(quiet, 0.9), times(quiet, 1.2)), "regression: 1 of 2 rows: B ns/op: +20.00% (margin 5%)", ""},
		{"the same file", side(quiet), side(quiet), "pass: 1 row within its margin; both files have the same contents, so the results are compared with themselves", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, gateOp, c.old, c.new, Options{})
			var b strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.Equal(t, r.headline(), c.headline, "%s", &b)
			assert.Equal(t, r.hint(), c.hint, "%s", &b)
			assert.Assert(t, strings.HasPrefix(b.String(), c.headline+"\n\n") && strings.HasSuffix(b.String(), "\n"+c.headline+"\n"), "%s", &b)
			assert.Assert(t, strings.Contains(b.String(), c.hint), "%s", &b)
		})
	}
	named := judge(t, gateOp, side(quiet), side(times(quiet, 1.01)), Options{})
	named.Sides = "b against a; command: x\x1b[1m"
	assert.Equal(t, named.headline(), "pass: 1 row within its margin; b against a; command: x\\x1b[1m")
	// The command benchgate ab knows which side is old.
	r := judge(t, gateOp, runs(10, "BenchmarkA 1 100 ns/op"), runs(10, "BenchmarkA 1 50 ns/op"), Options{NewFirst: order(10), Planned: 10})
	assert.Equal(t, r.hint(), "")
	assert.Equal(t, r.headline(), "pass after 10 rounds: 1 row within its margin")
}
