package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// TestAmounts checks margins that are amounts of the unit. Other tests have margins that are shares.
func TestAmounts(t *testing.T) {
	around := func(unit string, v float64) (text string) {
		for i := range 10 {
			text += run(fmt.Sprintf("BenchmarkA 1 %v %s", v*(1+0.001*float64(i%5-2)), unit))
		}
		return text
	}
	for _, c := range []struct {
		gate, unit, better string
		old, new           float64
		headline           string // a part of it
		title              string // of the table
	}{
		{"0.5ms", "mean-tpot-ns", "lower", 20e6, 20.4e6, "pass", "may be 500.0µs worse"},
		{"0.5ms", "mean-tpot-ns", "lower", 20e6, 20.6e6, "regression: time per output token, mean, A: +600.0µs (margin 500.0µs)", "may be 500.0µs worse"},
		{"500000", "mean-tpot-ns", "lower", 20e6, 20.6e6, "regression", "may be 500.0µs worse"},
		{"0.5ms", "p50-x-sec", "lower", 0.020, 0.0206, "regression", "may be 500.0µs worse"},
		{"5%,0.5ms", "mean-tpot-ns", "lower", 20e6, 20.6e6, "pass", "may be 5% or 500.0µs worse"},
		{"5%,0.5ms", "mean-tpot-ns", "lower", 2e6, 2.4e6, "pass", "may be 5% or 500.0µs worse"},
		{"0.5ms,5%", "mean-tpot-ns", "lower", 2e6, 2.6e6, "regression: time per output token, mean, A: +600.0µs (margin 500.0µs)", "may be 5% or 500.0µs worse"},
		{"2ms", "added-ttft-ms", "lower", 0.4, 2.2, "pass", "may be 2.000ms worse"},
		{"2ms", "added-ttft-ms", "lower", 0.4, 2.6, "regression: added to the first token, A: +2.200ms (margin 2.000ms)", "may be 2.000ms worse"},
		{"2ms", "added-ttft-ms", "lower", -0.4, 1.4, "pass", "may be 2.000ms worse"},
		{"2ms", "added-ttft-ms", "lower", -0.4, 1.8, "regression: added to the first token, A: +2.200ms (margin 2.000ms)", "may be 2.000ms worse"},
		{"10%,2ms", "added-ttft-ms", "lower", 44, 48, "pass", "may be 10% or 2.000ms worse"},
		{"10%,2ms", "added-ttft-ms", "lower", 44, 49, "regression: added to the first token, A: +11.36% (margin 10%)", "may be 10% or 2.000ms worse"},
		{"10%,2ms", "added-ttft-ms", "lower", -0.4, 1.8, "regression: added to the first token, A: +2.200ms (margin 2.000ms)", "may be 10% or 2.000ms worse"},
		{"10%,2ms", "added-ttft-ms", "lower", 44, -0.1, "pass", "may be 10% or 2.000ms worse"},
		{"10%,0.02ms", "added-ttft-ms", "lower", -0.4, -0.3, "regression: added to the first token, A: +100.0µs (margin 20.00µs)", "-400.0µs ± 0%"},
		{"2", "x", "higher", -5, -8, "regression: A x: -3.000 (margin 2.000)", ""},
		{"10%", "added-ttft-ms", "lower", -0.4, 1.8, "cannot judge: old:3: A added-ttft-ms: -0.4", ""},
		{"10", "output-tok/s", "higher", 500, 495, "pass", "may be 10.00 worse"},
		{"10", "output-tok/s", "higher", 500, 480, "regression: output tokens per second, A: -20.00 (margin 10.00)", "may be 10.00 worse"},
		{"600", "output-tok/s", "higher", 500, 480, "cannot judge: old:3: A output-tok/s: the median is 500.0, and gate= allows 600.0 less: want a margin that is less than the median", ""},
		{"2ms", "added-ttft-ms", "lower", 0, 2.6, "regression: added to the first token, A: +2.600ms (margin 2.000ms)", ""},
		{"2", "x", "higher", 0, -3, "regression: A x: -3.000 (margin 2.000)", ""},
		{"2", "x", "higher", 0, -1, "pass", ""},
		{"2%,2", "x", "higher", 0, 1, "pass", ""},
		{"2%", "x", "higher", 0, 1, "cannot judge: old:3: A x: the median is 0, and higher is better: want more, or a margin that is an amount, such as gate=3", ""},
		{"2ms", "x", "lower", 1, 1, "cannot judge: units:1: unit x: gate=2ms: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 3, 5%,3 for the larger of both, or none", ""},
		{"2ms,3ms", "x-ns", "lower", 1, 1, "cannot judge: units:1: unit x-ns: gate=2ms,3ms: want a percentage from 0% to less than 100%, percentage points such as 2pp, an amount such as 0.5ms, 5%,0.5ms for the larger of both, or none", ""},
		{"2%,3%", "x-ns", "lower", 1, 1, "gate=2%,3%: want a percentage", ""},
		{"2pp,3", "x-%", "lower", 1, 1, "gate=2pp,3: want percentage points alone", ""},
		{"3,2pp", "x-%", "lower", 1, 1, "gate=3,2pp: want percentage points alone", ""},
		{"0", "x-ns", "lower", 1, 1, "gate=0: want a percentage", ""},
		{"-1ms", "x-ns", "lower", 1, 1, "gate=-1ms: want a percentage", ""},
		{"5%,", "x-ns", "lower", 1, 1, "gate=5%,: want a percentage", ""},
	} {
		t.Run(c.gate+"/"+c.unit, func(t *testing.T) {
			units := fmt.Sprintf("Unit %s better=%s gate=%s", c.unit, c.better, c.gate)
			r := judge(t, units, around(c.unit, c.old), around(c.unit, c.new), Options{})
			assert.Check(t, cmp.Contains(r.headline(), c.headline))
			var text strings.Builder
			assert.NilError(t, r.Text(&text))
			assert.Check(t, cmp.Contains(text.String(), c.title))
		})
	}
}

// TestUngated checks that gate=none in the file of units removes the margin that results state for a unit.
func TestUngated(t *testing.T) {
	samples := func(cpu int) (text string) {
		for i := range 10 {
			text += run(fmt.Sprintf("Unit cpu better=lower gate=5%%\nUnit x better=lower gate=5%%\nBenchmarkA 1 %d cpu %d x", cpu, 1000+i%3))
		}
		return text
	}
	for units, headline := range map[string]string{
		"":                                     "regression: ",
		"Unit cpu gate=none":                   "pass",
		"Unit cpu gate=none\nUnit x gate=none": "cannot judge: ",
		"Unit cpu gate=None":                   "cannot judge: units:1: unit cpu: gate=None: want a percentage",
	} {
		r := judge(t, units, samples(100), samples(150), Options{})
		assert.Check(t, cmp.Contains(r.headline(), headline), units)
	}
}

// TestNoiseBelow0 checks the margins that benchgate aa recommends for units whose values are negative, also if they have no
// margin yet, and that units without one say why.
func TestNoiseBelow0(t *testing.T) {
	side := func(sign float64) (text string) {
		for i := range 10 {
			text += run(fmt.Sprintf("BenchmarkA 1 100 y/op %v x/op %v zero/op %v wild/op", 0.01*float64(i%5-2)-1, sign*0.01*float64(i%2), []int{1, 1, 1, 900, 5000}[i%5]))
		}
		return text
	}
	r := judge(t, "Unit y/op better=lower gate=5%\nUnit x/op better=lower\nUnit zero/op better=higher\nUnit wild/op better=lower", side(1), side(-1), Options{})
	var got []string
	for _, u := range r.Noise() {
		got = append(got, strings.Join([]string{u.Unit, u.Text(), u.Gate(), u.None}, "; "))
	}
	assert.DeepEqual(t, got, []string{
		"y/op; 0.00%; 0.5%; ",
		"x/op; 0.01912; 0.029; ",
		"zero/op; 0.006759; 0.011; ",
		"wild/op; 308.51%; 463%; the noise is too large for a margin of less than 100 %",
	})
}
