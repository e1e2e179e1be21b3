package distortion

import (
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestWorse checks the report of several clients: which units any of them distorts, by how much, and which
// client it is.
func TestWorse(t *testing.T) {
	shares := func(itl, ttft, tpot float64) map[string]float64 {
		all := map[string]float64{"itl": itl, "ttft": ttft, "tpot": tpot}
		maps.DeleteFunc(all, func(_ string, share float64) bool { return share == 0 })
		return all
	}
	mild := Report{Likely: shares(0.06, 0, 0), Distorted: []Distorted{{"itl", 0.06, 0.07, "", false}}, Hidden: []string{"e2e"}, Why: "slow"}
	other := Report{Likely: shares(0.01, 0.07, 0), Distorted: []Distorted{{"ttft", 0.07, 0.08, "", false}}}
	worst := Report{Likely: shares(0.09, 0, 0.5), Distorted: []Distorted{{"tpot", 0.5, 0.6, "", false}, {"itl", 0.09, 0.1, "", false}}, Hidden: []string{"e2e", "x"}, Why: "stopped"}
	both := []string{"e2e", "x"}
	for _, test := range []struct {
		name string
		all  []Report
		want Report
	}{
		{"none distorts", []Report{{Likely: shares(0.01, 0, 0)}, {Likely: shares(0.02, 0, 0)}}, Report{Likely: shares(0.02, 0, 0)}},
		{"the worst in the middle", []Report{mild, worst, mild}, Report{shares(0.09, 0, 0.5), []Distorted{{"tpot", 0.5, 0.6, "b", false}, {"itl", 0.09, 0.1, "b", false}}, both, "a: slow\nb: stopped\nc: slow", "", nil, false}},
		{"the worst comes last", []Report{mild, {}, worst}, Report{shares(0.09, 0, 0.5), []Distorted{{"tpot", 0.5, 0.6, "c", false}, {"itl", 0.09, 0.1, "c", false}}, both, "a: slow\nc: stopped", "", nil, false}},
		{"a further unit", []Report{other, worst}, Report{shares(0.09, 0.07, 0.5), []Distorted{{"tpot", 0.5, 0.6, "b", false}, {"itl", 0.09, 0.1, "b", false}, {"ttft", 0.07, 0.08, "a", false}}, both, "b: stopped", "", nil, false}},
		{"one is unknown", []Report{mild, {Unknown: "no stamps"}}, Report{shares(0.06, 0, 0), []Distorted{{"itl", 0.06, 0.07, "a", false}}, []string{"e2e"}, "a: slow", "b: no stamps", nil, false}},
		{"both are unknown", []Report{{Unknown: "x"}, {Likely: shares(0.01, 0, 0), Unknown: "y"}}, Report{shares(0.01, 0, 0), nil, nil, "", "a: x\nb: y", nil, false}},
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

// TestText checks the line about metrics that the client distorted.
func TestText(t *testing.T) {
	itl := Distorted{Unit: "p99-itl-ns", Likely: 0.015, Most: 0.1}
	ttft := Distorted{Unit: "p50-ttft-ns", Likely: 0.01, Most: 0.065}
	added := Distorted{Unit: "added-ttft-ms", Likely: 0.01, Most: 0.065, Computed: true}
	afar := Distorted{Unit: "p99-itl-ns", Likely: 0.015, Most: 20, Client: "shard 2 (n3)"}
	for _, tt := range []struct {
		all      []Distorted
		withheld bool
		want     string
	}{
		{nil, true, ""},
		{[]Distorted{itl}, true, "p99-itl-ns is withheld: the client may have changed it by up to 10 %. To get it, leave the client a free core, set LLMBENCH_PRIORITY=auto (Linux), or ask for longer answers."},
		{[]Distorted{itl, ttft}, true, "p99-itl-ns (by up to 10 %), p50-ttft-ns (by up to 6.5 %) are withheld: the client may have changed them. To get them, leave the client a free core, set LLMBENCH_PRIORITY=auto (Linux), or ask for longer answers."},
		{[]Distorted{ttft, added}, true, "p50-ttft-ns (by up to 6.5 %), added-ttft-ms (by up to 6.5 % of what it is computed from) are withheld: the client may have changed them. To get them, leave the client a free core, set LLMBENCH_PRIORITY=auto (Linux), or ask for longer answers."},
		{[]Distorted{afar}, true, "p99-itl-ns is withheld: the client may have changed it by up to 1000 % or more at shard 2 (n3). To get it, leave the client a free core, set LLMBENCH_PRIORITY=auto (Linux), or ask for longer answers."},
		{[]Distorted{itl}, false, "p99-itl-ns is uncertain: the client may have changed it by up to 10 %. Leave the client a free core, set LLMBENCH_PRIORITY=auto (Linux), or ask for longer answers."},
	} {
		assert.Equal(t, Report{Distorted: tt.all}.Text(tt.withheld), tt.want)
		assert.Equal(t, Report{Distorted: tt.all, Better: true}.Text(tt.withheld), strings.ReplaceAll(tt.want, " set LLMBENCH_PRIORITY=auto (Linux),", ""))
	}
}

// TestShifts checks the bounds of metrics, for one client and for several. The rates of several clients are
// summed; the shift of any other metric is between the extremes.
func TestShifts(t *testing.T) {
	one := Report{Shifts: map[string]Shift{"p50-ttft-ns": {-1, 2, 5, false}, "req/s": {-3, -2, 0, true}, "p99-ttft-ns": {0, 0, 200, false}}}
	two := Report{Shifts: map[string]Shift{"p50-ttft-ns": {-5, -4, 3, false}, "req/s": {-1, -1, 2, true}}}
	metrics := map[string]float64{"p50-ttft-ns": 100, "req/s": 50, "p99-ttft-ns": 120, "fail-%": 0}
	assert.DeepEqual(t, one.Bounds(metrics), map[string]sample.Interval{
		"p50-ttft-ns": {Low: 95, Likely: 98, High: 101}, "req/s": {Low: 50, Likely: 52, High: 53}, "p99-ttft-ns": {Low: 0, Likely: 120, High: 120},
	})
	both := Report{}.Worse("a", one).Worse("b", two)
	assert.DeepEqual(t, both.Bounds(metrics), map[string]sample.Interval{
		"p50-ttft-ns": {Low: 95, Likely: 104, High: 105}, "req/s": {Low: 48, Likely: 53, High: 54}, "p99-ttft-ns": {Low: 0, Likely: 120, High: 120},
	})
	delete(metrics, "req/s")
	_, known := both.Bounds(metrics)["req/s"]
	assert.Assert(t, !known)
}
