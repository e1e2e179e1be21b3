package gate

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// rulesOfReasons are Unit lines with two reasons why times were withheld.
const rulesOfReasons = "Unit ttft better=lower gate=5%\nUnit rate better=higher gate=5%\n" +
	"Unit bursts-% better=lower withheld=server says=buffers-streams:come-in-bursts\n" +
	"Unit client-% better=lower withheld=client says=cannot-be-measured-by-this-client:are-disturbed\n"

// sideOf returns a run for each character of kinds: a result with ttft and rate (.), one that came in bursts (b), one that
// the client disturbed (c), and one that lacks the ttft without a reason (?). Without rate, no result has that unit.
func sideOf(kinds string, rate bool) (all string) {
	for i, kind := range kinds {
		line := "BenchmarkA 1 " + map[rune]string{'.': fmt.Sprintf("%d ttft", 99+i%3), 'b': "100 bursts-%", 'c': "30 client-%", '?': "1 x"}[kind]
		if rate {
			line += " 100 rate"
		}
		all += run(line)
	}
	return all
}

// TestWithheld compares results of which some lack a figure, and say why.
func TestWithheld(t *testing.T) {
	rep := strings.Repeat
	paired := func(n, planned, most int) Options {
		return Options{NewFirst: make([]bool, n), Planned: planned, Max: most, RequireQuiet: true, EmptyOld: true}
	}
	const bursts = "new buffers streams: %d of %d runs come in bursts, %d of %d before; ttft withheld"
	for _, c := range []struct {
		name, old, new string
		rate           bool
		o              Options
		settled        bool
		headline       string // if the comparison is settled
	}{
		{"all of new, two files", rep(".", 10), rep("b", 10), true, Options{}, true, "regression: " + fmt.Sprintf(bursts, 10, 10, 0, 10)},
		{"20 of 20, 2 of 20 before", "bb" + rep(".", 18), rep("b", 20), true, Options{}, true, "regression: " + fmt.Sprintf(bursts, 20, 20, 2, 20)},
		{"removed is allowed", rep(".", 10), rep("b", 10), false, Options{AllowRemoved: true}, true, "regression: " + fmt.Sprintf(bursts, 10, 10, 0, 10)},
		{"nothing else is gated", rep(".", 10), rep("b", 10), false, Options{}, true, "regression: " + fmt.Sprintf(bursts, 10, 10, 0, 10)},
		{"a chance in new, and no worse is required", rep(".", 10), "b" + rep(".", 9), true, Options{RequireNoWorse: true}, true, "pass: 2 rows within their margins"},
		{"too few of new", rep(".", 10), "bbb" + rep(".", 7), true, Options{}, true,
			"cannot judge: 1 of 2 rows: A ttft: +0.00%, in all 10 old and 7 of 10 new samples (margin 5%)"},
		{"a chance in new", rep(".", 10), "b" + rep(".", 9), true, Options{}, true, "pass: 2 rows within their margins"},
		{"equal shares", "bbbbb.....", ".....bbbbb", true, Options{}, true, "cannot judge: 1 of 2 rows: A ttft: +0.00%, in 5 of 10 old and 5 of 10 new samples (margin 5%)"},
		{"all of both", rep("b", 10), rep("b", 10), true, Options{}, true, "pass: 1 row within its margin; both files have the same contents, so the results are compared with themselves"},
		{"all of both, nothing else", rep("b", 10), rep("b", 9), false, Options{AllowRemoved: true, EmptyOld: true}, true,
			"cannot judge: no gated row is in both files, so nothing can be judged: 9 of 9 runs of new come in bursts, 10 of 10 before"},
		{"the other way round", rep("b", 10), rep(".", 10), true, Options{}, true, "pass: 1 row within its margin; better: 0 of 10 runs of new come in bursts, 10 of 10 before; new: A ttft"},
		{"the other way round, nothing else", rep("b", 10), rep(".", 10), false, Options{}, true, "pass: better: 0 of 10 runs of new come in bursts, 10 of 10 before; new: A ttft"},
		{"the client's doing", rep(".", 10), rep("c", 10), true, Options{AllowRemoved: true}, true,
			"cannot judge: new cannot be measured by this client: 10 of 10 runs are disturbed, 0 of 10 before; ttft withheld"},
		{"the client's doing, and the server's", rep(".", 20), rep("bc", 10), true, Options{}, true, "regression: " + fmt.Sprintf(bursts, 10, 20, 0, 20)},
		{"the client's doing, in old", rep("c", 10), rep(".", 10), true, Options{}, true, "pass: 1 row within its margin; better: 0 of 10 runs of new are disturbed, 10 of 10 before; new: A ttft"},
		{"old did not say why", rep("?", 10), rep("b", 10), true, Options{}, true, "pass: 1 row within its margin"},
		{"no reason", rep(".", 10), rep("?", 10), true, Options{}, true, "cannot judge: old:3: A ttft: missing in new (benchgate -removed=allow accepts that)"},

		{"pairs, before enough", rep(".", 7), rep("b", 7), true, paired(7, 10, 0), false, ""},
		{"pairs, enough", rep(".", 8), rep("b", 8), true, paired(8, 10, 0), true, "regression after 8 of 10 rounds: " + fmt.Sprintf(bursts, 8, 8, 0, 8)},
		{"pairs, enough long before the first look", rep(".", 8), rep("b", 8), true, paired(8, 20, 50), true, "regression after 8 of 50 rounds: " + fmt.Sprintf(bursts, 8, 8, 0, 8)},
		{"pairs, nothing else is gated", rep(".", 8), rep("b", 8), false, paired(8, 20, 50), true, "regression after 8 of 50 rounds: " + fmt.Sprintf(bursts, 8, 8, 0, 8)},
		{"pairs, two of old", "b.b.......", rep("b", 10), false, paired(10, 20, 50), true, "regression after 10 of 50 rounds: " + fmt.Sprintf(bursts, 10, 10, 2, 10)},
		{"pairs, one the wrong way round", "b" + rep(".", 19), "." + rep("b", 19), false, paired(20, 20, 20), true, "regression after 20 rounds: " + fmt.Sprintf(bursts, 19, 20, 1, 20)},
		{"pairs, both at first", "b", "b", false, paired(1, 10, 0), false, ""},
		{"pairs, the other way round, before the look", rep("b", 4), rep(".", 4), false, paired(4, 10, 0), false, ""},
		{"pairs, the other way round", rep("b", 8), rep(".", 8), false, paired(8, 10, 0), true, "pass after 8 of 10 rounds: better: 0 of 8 runs of new come in bursts, 8 of 8 before; new: A ttft"},
		{"pairs, all of both", rep("b", 10), rep("b", 10), false, paired(10, 10, 0), true,
			"cannot judge after 10 rounds: no gated row is in both files, so nothing can be judged: 10 of 10 runs of new come in bursts, 10 of 10 before"},
		{"pairs, the client's doing", rep(".", 10), rep("c", 10), true, paired(10, 10, 0), true,
			"cannot judge after 10 rounds: new cannot be measured by this client: 10 of 10 runs are disturbed, 0 of 10 before; ttft withheld"},
		{"pairs, old did not say why", rep("?", 10), rep("b", 10), true, paired(10, 10, 0), true, "pass after 10 rounds: 1 row within its margin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, rulesOfReasons, sideOf(c.old, c.rate), sideOf(c.new, c.rate), c.o)
			var b, md strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.NilError(t, r.Markdown(&md))
			assert.Equal(t, r.Settled, c.settled, "%s", &b)
			if c.settled {
				assert.Equal(t, r.headline(), c.headline, "%s", &b)
			}
			// The words for what new does are only for a version that does it more often than the other one.
			says := strings.Contains(b.String(), " buffers streams: ") || strings.Contains(b.String(), " cannot be measured by this client: ")
			assert.Assert(t, !says || r.Verdict != Pass, "%s", &b)
		})
	}
}

// TestWithheldFalseAlarms takes comparisons whose results come in bursts at random, whichever version runs, in all orders
// of their first rounds and after each round, as benchgate ab does. The share that ends in a regression must be at most
// alpha.
func TestWithheldFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	const rounds, alpha = 10, DefaultAlpha
	r := rand.New(rand.NewPCG(4, 9))
	units := []string{"ttft", "other"}
	worst := 0.
	for trial, p := range []float64{1, 0.9, 0.5, 0.2} {
		var samples [2][rounds]string
		for side := range samples {
			for i := range rounds {
				line := "BenchmarkA 1 100 rate"
				for j, unit := range units {
					switch has := r.Float64() < p; {
					case has && j == 0 && side == 1, has && p < 1:
						line += fmt.Sprintf(" 100 %s-bursts", unit)
					default:
						line += fmt.Sprintf(" %d %s", 99+r.IntN(3), unit)
					}
				}
				samples[side][i] = run(line)
			}
		}
		rules := "Unit rate better=higher gate=0%\n"
		for _, unit := range units {
			rules += fmt.Sprintf("Unit %s better=lower gate=0%%\nUnit %s-bursts withheld=server\n", unit, unit)
		}
		alarms := 0
		const orders = 1 << rounds
		for way := range orders {
			var texts [2]string
			for i := range rounds {
				swap := way >> i & 1
				texts[0] += samples[swap][i]
				texts[1] += samples[1-swap][i]
				if i < 5 { // no test can find anything before
					continue
				}
				first := make([]bool, i+1)
				for k := range first {
					first[k] = (bits.OnesCount(uint(k))+way>>k)%2 == 1 // an exchange of the versions exchanges this, too
				}
				report, err := Compare(File{Name: "units", Data: strings.NewReader(rules)}, File{Name: "old", Data: strings.NewReader(texts[0])},
					File{Name: "new", Data: strings.NewReader(texts[1])}, Options{NewFirst: first, Planned: 8, Max: rounds})
				assert.NilError(t, err)
				if report.Verdict == Regression {
					alarms++
				}
				if report.Settled {
					break
				}
			}
		}
		share := float64(alarms) / float64(orders)
		t.Logf("bursts with probability %v: %d of %d orders are false alarms, %.2g%%", p, alarms, orders, 100*share)
		worst = max(worst, share)
		assert.Assert(t, share <= alpha, "trial %d: %v", trial, share)
	}
	assert.Assert(t, worst > 0)
}

// TestRemovedIsNoPass checks that -removed=allow never ends in a pass if nothing was judged.
func TestRemovedIsNoPass(t *testing.T) {
	for _, o := range []Options{{AllowRemoved: true}, {AllowRemoved: true, EmptyOld: true}, {AllowRemoved: true, EmptyOld: true, NewFirst: order(10), Planned: 10}} {
		r := judge(t, rulesOfReasons, sideOf(strings.Repeat(".", 10), false), sideOf(strings.Repeat("?", 10), false), o)
		assert.Equal(t, r.Verdict, CannotJudge)
		assert.Assert(t, r.Settled && !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Verdict == Pass }), r.headline())
	}
}

// TestWithheldColumns compares two columns of a file, of which one comes in bursts.
func TestWithheldColumns(t *testing.T) {
	text := ""
	for i := range 10 {
		text += run(fmt.Sprintf("BenchmarkA/via=direct 1 %d ttft", 99+i%3), "BenchmarkA/via=gateway 1 100 bursts-%")
	}
	r, err := CompareColumns(unitsFile("units", rulesOfReasons), File{Name: "f", Data: strings.NewReader(text)}, "/via", Options{})
	assert.NilError(t, err)
	assert.Equal(t, r.headline(), "regression: /via=gateway buffers streams: 10 of 10 runs come in bursts, 0 of 10 before; ttft withheld")
}
