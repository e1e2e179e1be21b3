package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestLacking compares results of which some lack a unit, as they do if llmbench has withheld a
// value.
func TestLacking(t *testing.T) {
	const gated, other = "Unit ttft better=lower gate=5%\nUnit rate better=higher gate=5%\n", "Unit itl better=lower\n"
	// side returns n runs. Their times to first token are f times 99, 100 and 101, in turn. Their
	// rate is 100. The runs in without lack the time.
	side := func(n int, f float64, without ...int) (all string) {
		for i := range n {
			line := "BenchmarkA 1 100 rate"
			if !slices.Contains(without, i) {
				line += fmt.Sprintf(" %v ttft", f*float64(99+i%3))
			}
			all += run(line)
		}
		return all
	}
	ab := func(n int) Options { return Options{NewFirst: order(n), Planned: 10, RequireQuiet: true} }
	for _, c := range []struct {
		name, old, new string
		o              Options
		settled        bool
		headline       string // if the comparison is settled
		line           string // a line of the text, if the comparison is settled
	}{
		{"a pair, and new is worse", side(10, 1), side(10, 1.1, 3), ab(10), true, "regression after 10 rounds: 1 of 2 rows: A ttft: +10.00% (margin 5%)",
			"A ttft: in all 10 old and 9 of 10 new samples; 9 rounds have both and are compared"},
		{"two of each side, and new is worse", side(10, 1, 0, 5), side(10, 1.1, 3, 9), ab(10), true, "regression after 10 rounds: 1 of 2 rows: A ttft: +10.00% (margin 5%)",
			"A ttft: in 8 of 10 old and 8 of 10 new samples; 6 rounds have both and are compared"},
		{"a fifth of one side, and new is equal", side(10, 1), side(10, 1, 3, 4), ab(10), true, "pass after 10 rounds: 2 rows within their margins",
			"A ttft: in all 10 old and 8 of 10 new samples; 8 rounds have both and are compared"},
		{"more than a fifth", side(10, 1), side(10, 1.1, 3, 4, 5), ab(10), true,
			"cannot judge after 10 rounds: 1 of 2 rows: A ttft: +10.00%, in all 10 old and 7 of 10 new samples (margin 5%)",
			"A ttft: cannot judge: the unit is in all 10 old and 7 of 10 new samples: want four of five of each side, since the missing values may be the worst"},
		{"more than a fifth of all rounds, before the end", side(7, 1), side(7, 1.1, 3, 4, 5), ab(7), false, "", ""},
		{"more than a fifth beside a regression", side(10, 1), strings.ReplaceAll(side(10, 1.1, 3, 4, 5), "100 rate", "80 rate"), ab(10), true,
			"regression after 10 rounds: 1 of 2 rows: A rate: -20.00% (margin 5%); 1 cannot be judged", ""},
		{"too many for now", side(8, 1), side(8, 1.1, 3, 4), ab(8), false, "", ""},
		{"a pair, at the first look", side(8, 1), side(8, 1.1, 3), ab(8), false, "", ""},
		{"the first round of new", side(1, 1), side(1, 1, 0), ab(1), false, "", ""},
		{"the first round of old", side(1, 1, 0), side(1, 1), ab(1), false, "", ""},
		{"the first round of both", side(2, 1, 0), side(2, 1, 0), ab(2), false, "", ""},
		{"all of new so far", side(9, 1), side(9, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8), ab(9), false, "", ""},
		{"all of new", side(10, 1), side(10, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), ab(10), true,
			"cannot judge after 10 rounds: old:3: A ttft: missing in new (benchgate -removed=allow accepts that)", ""},
		{"all of new beside a regression", side(8, 1), strings.ReplaceAll(side(8, 1, 0, 1, 2, 3, 4, 5, 6, 7), "100 rate", "80 rate"), ab(8), true,
			"regression after 8 of 10 rounds: A rate: -20.00% (margin 5%)", ""},
		{"all of old", side(6, 1, 0, 1, 2, 3, 4, 5), side(6, 1), ab(6), true, "pass after 6 of 10 rounds: 1 row within its margin; new: A ttft", ""},
		{"too few rounds are left", side(7, 1, 0), side(7, 1, 5), Options{NewFirst: order(7), Planned: 7}, true,
			"cannot judge after 7 rounds: 1 of 2 rows: A ttft: +0.00%, in 6 of 7 old and 6 of 7 new samples (margin 5%)",
			"A ttft: cannot judge: the unit is in 6 of 7 old and 6 of 7 new samples, and too few are left: want more samples"},
		{"no pairs", side(8, 1, 0), side(7, 1.1), Options{}, true, "regression: 1 of 2 rows: A ttft: +10.00% (margin 5%)", "A ttft: in 7 of 8 old and all 7 new samples"},
		{"no pairs, and more than a fifth", side(9, 1, 0, 1), side(7, 1.1), Options{}, true, "cannot judge: 1 of 2 rows: A ttft: +10.00%, in 7 of 9 old and all 7 new samples (margin 5%)", ""},
		{"a unit that is not gated", strings.ReplaceAll(side(8, 1, 0, 1, 2, 3), "ttft", "itl"), strings.ReplaceAll(side(8, 2, 4, 5, 6, 7), "ttft", "itl"), ab(8), true,
			"pass after 8 of 10 rounds: 1 row within its margin", ""},
		{"a unit that is not gated, in no result of a side", strings.ReplaceAll(side(6, 1), "ttft", "itl"), side(6, 1, 0, 1, 2, 3, 4, 5), ab(6), true,
			"pass after 6 of 10 rounds: 1 row within its margin", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, gated+other, c.old, c.new, c.o)
			var b, md strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.NilError(t, r.Markdown(&md))
			assert.Equal(t, r.Settled, c.settled, "%s", &b)
			if !c.settled {
				return
			}
			assert.Equal(t, r.headline(), c.headline, "%s", &b)
			if len(r.lacking()) > 0 {
				assert.DeepEqual(t, r.lacking(), []string{c.line})
			}
			assert.Assert(t, strings.Contains(b.String(), c.line) && strings.Contains(md.String(), c.line), "%s", &b)
		})
	}
}

// TestLackingWorst checks that a headline names the worst of the rows that cannot be judged because results lack a unit.
func TestLackingWorst(t *testing.T) {
	side := func(b, c float64) (all string) {
		for i := range 10 {
			if i < 3 {
				all += run("BenchmarkA 1 100 rate", "BenchmarkB 1 100 rate", "BenchmarkC 1 100 rate")
			} else {
				all += run("BenchmarkA 1 100 rate 100 ttft", fmt.Sprintf("BenchmarkB 1 100 rate %v ttft", b), fmt.Sprintf("BenchmarkC 1 100 rate %v ttft", c))
			}
		}
		return all
	}
	r := judge(t, "Unit ttft better=lower gate=5%\n", side(100, 100), side(200, 120), Options{NewFirst: order(10), Planned: 10})
	assert.Equal(t, r.headline(), "cannot judge after 10 rounds: 3 of 3 rows, above all B ttft: +100.00%, in 7 of 10 old and 7 of 10 new samples (margin 5%)")
}
