package distortion

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestWorse checks the report of several clients: which units are distorted by any of them, by how
// much, and whose texts say it.
func TestWorse(t *testing.T) {
	mild := Report{Worst: 0.06, Units: []string{"itl"}, Text: "itl 6%"}
	other := Report{Worst: 0.07, Units: []string{"ttft"}, Text: "ttft 7%"}
	worst := Report{Worst: 0.5, Units: []string{"tpot", "itl"}, Text: "tpot 50%, itl 9%"}
	for _, test := range []struct {
		name string
		all  []Report
		want Report
	}{
		{"none distorts", []Report{{Worst: 0.01}, {Worst: 0.02}}, Report{Worst: 0.02}},
		{"the worst says it for others", []Report{mild, worst, mild}, Report{0.5, []string{"tpot", "itl"}, "b: tpot 50%, itl 9%", ""}},
		{"the worst comes last", []Report{mild, {}, worst}, Report{0.5, []string{"tpot", "itl"}, "c: tpot 50%, itl 9%", ""}},
		{"a further unit", []Report{other, worst, other}, Report{0.5, []string{"tpot", "itl", "ttft"}, "b: tpot 50%, itl 9%\na: ttft 7%", ""}},
		{"one is unknown", []Report{mild, {Unknown: "no stamps"}}, Report{0.06, []string{"itl"}, "a: itl 6%", "b: no stamps"}},
		{"both are unknown", []Report{{Unknown: "x"}, {Worst: 0.01, Unknown: "y"}}, Report{0.01, nil, "", "b: y\na: x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r Report
			for i, o := range test.all {
				r = r.Worse(string(rune('a'+i)), o)
			}
			assert.DeepEqual(t, r, test.want)
		})
	}
}
