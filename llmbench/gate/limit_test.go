package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBudgets compares results with the budgets of their units.
func TestBudgets(t *testing.T) {
	// values returns a run for each value.
	values := func(unit string, all ...float64) (text string) {
		for _, v := range all {
			text += run(fmt.Sprintf("BenchmarkA 1 %v %s", v, unit))
		}
		return text
	}
	around := func(unit string, v float64, n int) string {
		var all []float64
		for i := range n {
			all = append(all, v*(1+0.001*float64(i%5-2)))
		}
		return values(unit, all...)
	}
	for _, c := range []struct{ name, units, new, headline string }{
		{"kept", "Unit p99-ttft-ns better=lower max=2ms", around("p99-ttft-ns", 1.9e6, 10), "pass: 1 row within budget"},
		{"exceeded", "Unit p99-ttft-ns better=lower max=2ms", around("p99-ttft-ns", 2.1e6, 10), "regression: time to first token, p99, A: 2.100ms ± 0%, budget at most 2.000ms: exceeded"},
		{"across", "Unit p99-ttft-ns better=lower max=2ms", around("p99-ttft-ns", 2e6, 10),
			"cannot judge: time to first token, p99, A: 2.000ms ± 0%, budget at most 2.000ms: the budget is within the interval of the median: want more samples or a quieter machine"},
		{"in nanoseconds", "Unit p99-ttft-ns better=lower max=2e6", around("p99-ttft-ns", 2.1e6, 10), "regression: time to first token, p99, A: 2.100ms ± 0%, budget at most 2.000ms: exceeded"},
		{"milliseconds", "Unit added-ttft-ms better=lower max=2ms", around("added-ttft-ms", 2.1, 10), "regression: added to the first token, A: 2.100ms ± 0%, budget at most 2.000ms: exceeded"},
		{"seconds", "Unit mean-ttft-ns better=lower max=0.8s", around("mean-ttft-ns", 0.79e9, 10), "pass: 1 row within budget"},
		{"at least, missed", "Unit output-tok/s better=higher min=500", around("output-tok/s", 490, 10), "regression: output tokens per second, A: 490.0 ± 0%, budget at least 500.0: missed"},
		{"at least", "Unit output-tok/s better=higher min=500", around("output-tok/s", 510, 10), "pass: 1 row within budget"},
		{"nothing allowed", "Unit fail-% better=lower max=0", values("fail-%", 0, 0, 0, 0, 0, 0), "pass: 1 row within budget"},
		{"beside a margin", "Unit p99-ttft-ns better=lower gate=5% max=2ms", around("p99-ttft-ns", 2.1e6, 10), "regression: time to first token, p99, A: 2.100ms ± 0%, budget at most 2.000ms: exceeded"},
		{"too few", "Unit p99-ttft-ns better=lower max=2ms", around("p99-ttft-ns", 9e6, 5), "cannot judge: new:3: A p99-ttft-ns: 5 samples: want at least 6 for a budget at alpha 0.025"},
		{"missing in many", "Unit p99-ttft-ns better=lower max=2ms", around("p99-ttft-ns", 1e6, 7) + values("x", 1, 1, 1),
			"cannot judge: time to first token, p99, A: -, in all 0 old and 7 of 10 new samples"},
		{"none", "Unit p99-ttft-ns better=lower gate=5%", around("p99-ttft-ns", 9e6, 10),
			`cannot judge: new: no unit of these results has a budget: want a line such as "Unit p99-ttft-ns better=lower max=2ms", or old results to compare with`},
		{"all withheld", "Unit p99-ttft-ns better=lower max=2ms\n" + rulesOfReasons, values("bursts-%", 100, 100, 100, 100, 100, 100),
			"cannot judge: new: no result has a unit with a budget: new buffers streams: 6 of 6 runs come in bursts"},
		{"no direction", "Unit x max=2", around("x", 1, 10), "cannot judge: units:1: unit x: max=2: want better=lower beside max="},
		{"wrong direction", "Unit x better=lower min=2", around("x", 1, 10), "cannot judge: units:1: unit x: min=2: want better=higher beside min="},
		{"not a number", "Unit x-ns better=lower max=fast", around("x-ns", 1, 10), "cannot judge: units:1: unit x-ns: max=fast: want a number of 0 or more, or a duration such as 2ms, and 1 other problem"},
		{"a duration of no time", "Unit x better=lower max=2ms", around("x", 1, 10), "cannot judge: units:1: unit x: max=2ms: want a number of 0 or more, and 1 other problem"},
		{"two budgets", "Unit x better=lower max=2 min=1", around("x", 1, 10), "cannot judge: units:1: unit x: min=1, but units:1 says max=2: want one budget"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := CheckBudgets(unitsFile("units", c.units), File{Name: "new", Data: strings.NewReader(c.new)}, Options{RequireQuiet: true})
			assert.NilError(t, err)
			var b, md strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.NilError(t, r.Markdown(&md))
			assert.Equal(t, r.headline(), c.headline, "%s", &b)
		})
	}
}

// TestBudgetBesideMargins checks budgets in comparisons, which share alpha with the margins.
func TestBudgetBesideMargins(t *testing.T) {
	of := func(n int, v float64) string { return runs(n, fmt.Sprintf("BenchmarkA 1 %v ns/op %v x-ns", v, v)) }
	for _, c := range []struct {
		units    string
		old, new string
		o        Options
		headline string
	}{
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=120ns", of(10, 100), of(10, 101), Options{}, "pass: 2 rows within their margins and budgets"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=100ns", of(10, 100), of(10, 101), Options{}, "regression: 1 of 2 rows: A x-ns: 101.0ns ± 0%, budget at most 100.0ns: exceeded"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=120ns", of(10, 100), of(10, 110), Options{}, "regression: 1 of 2 rows: A ns/op: +10.00% (margin 5%)"},
		{"Unit ns/op gate=5% max=100ns", of(10, 100), of(10, 101), Options{}, "regression: 1 of 2 rows: A ns/op: 101.0ns ± 0%, budget at most 100.0ns: exceeded"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=100ns", of(7, 100), of(7, 101), Options{}, "cannot judge: new:3: A x-ns: 7 samples: want at least 8 for a budget at alpha 0.025"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=100ns", of(10, 100), of(10, 101), Options{NewFirst: order(10), Planned: 10, RequireQuiet: true},
			"regression after 10 rounds: 1 of 2 rows: A x-ns: 101.0ns ± 0%, budget at most 100.0ns: exceeded"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=120ns", of(10, 100), runs(10, "BenchmarkA 1 100 ns/op"), Options{}, "cannot judge: old:3: A x-ns: missing in new (benchgate -removed=allow accepts that)"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=120ns", of(10, 100), runs(10, "BenchmarkA 1 100 ns/op"), Options{NewFirst: order(10), Planned: 10, RequireQuiet: true},
			"cannot judge after 10 rounds: old:3: A x-ns: missing in new (benchgate -removed=allow accepts that)"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=120ns", of(10, 100), runs(10, "BenchmarkA 1 100 ns/op"), Options{AllowRemoved: true}, "pass: 1 row within its margin; removed: A x-ns"},
		{"Unit ns/op gate=5%\nUnit x-ns better=lower max=120ns", of(8, 100), of(8, 101), Options{NewFirst: order(8), Planned: 10, RequireQuiet: true}, "pass after 8 of 10 rounds: 2 rows within their margins and budgets"},
	} {
		r := judge(t, c.units, c.old, c.new, c.o)
		assert.Equal(t, r.headline(), c.headline)
		assert.Assert(t, r.Settled, c.headline)
	}
}
