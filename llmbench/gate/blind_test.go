package gate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
)

// TestFewest checks that pages advise as many runs as the gate wants.
func TestFewest(t *testing.T) { assert.Equal(t, MinSamples(DefaultAlpha), compare.Fewest) }

// lone returns the results of n processes with three gated rows, whose throughput and TTFT are equal on both sides.
func lone(n int, tpot float64) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(run(fmt.Sprintf("BenchmarkChat-2 1 %.3f tok/s %.3f ttft-ns %.3f tpot-ns", 100+0.001*float64(i%3), 50+0.001*float64(i%2), tpot+0.0002*float64(i%4))))
	}
	return b.String()
}

const loneUnits = "Unit tok/s better=higher gate=2%\nUnit ttft-ns better=lower gate=5%\nUnit tpot-ns better=lower gate=2%\n"

// A row that alone of several is twice as slow is never a pass: where the samples are too few to show the regression, the
// number that suffices is named.
func TestLoneRow(t *testing.T) {
	for _, c := range []struct {
		n, planned int
		verdict    Verdict
		want       string
	}{
		{1, 6, CannotJudge, "6 samples a side are planned: want at least 7 at alpha 0.025 for 3 gated rows (benchgate ab -n=7)"},
		{6, 6, CannotJudge, "6 samples a side are planned: want at least 7 at alpha 0.025 for 3 gated rows (benchgate ab -n=7)"},
		{6, 0, CannotJudge, "Chat-2 tpot-ns: cannot judge: +100.00% is worse than the margin of 2% by more than the noise"},
		{7, 7, Regression, "Chat-2 tpot-ns: +"},
		{7, 0, Regression, "Chat-2 tpot-ns: +"},
		{8, 10, Pass, ""}, // not settled: a look at 0.005 needs more
		{10, 10, Regression, "Chat-2 tpot-ns: +"},
	} {
		r := judge(t, loneUnits, lone(c.n, 2), lone(c.n, 4), Options{NewFirst: order(c.n), Planned: c.planned, RequireQuiet: true})
		if c.want == "" {
			assert.Assert(t, !r.Settled)
			continue
		}
		assert.Equal(t, r.Verdict, c.verdict, "%d of %d: %q", c.n, c.planned, r.reasons())
		assert.Assert(t, strings.Contains(strings.Join(r.reasons(), "\n"), c.want), "%q", r.reasons())
	}
	// Files are no pairs. A t-test finds the row with the least number of files.
	r := judge(t, loneUnits, lone(6, 2), lone(6, 4), Options{RequireQuiet: true})
	assert.Equal(t, r.Verdict, Regression, "%q", r.reasons())
	r = judge(t, loneUnits, lone(5, 2), lone(5, 4), Options{RequireQuiet: true})
	assert.Equal(t, r.Verdict, CannotJudge)
	assert.Assert(t, strings.Contains(r.headline(), "5 old and 5 new samples: want at least 6 of each"), "%s", r.headline())
	// One gated row needs six.
	r = judge(t, "Unit tpot-ns better=lower gate=2%\n", lone(6, 2), lone(6, 4), Options{NewFirst: order(6), Planned: 6, RequireQuiet: true})
	assert.Equal(t, r.Verdict, Regression, "%q", r.reasons())
	// Rows that are all shown to be no worse pass with six pairs in a file, too.
	r = judge(t, loneUnits, lone(6, 2), lone(6, 2), Options{NewFirst: order(6)})
	assert.Equal(t, r.Verdict, Pass, "%q", r.reasons())
}

// A row that is worse by more than its margin and its noise, and no regression because the samples are few, says so. It
// does not blame the noise.
func TestTooFewSamples(t *testing.T) {
	side := func(n int, tpot float64) string {
		r := rand.New(rand.NewPCG(1, uint64(tpot)))
		var b strings.Builder
		for range n {
			b.WriteString(run(fmt.Sprintf("BenchmarkChat-2 1 %.3f tok/s %.3f ttft-ns %.3f tpot-ns", 100+0.001*r.Float64(), 50+0.001*r.Float64(), tpot*(1+0.06*r.Float64()))))
		}
		return b.String()
	}
	r := judge(t, loneUnits, side(6, 2), side(6, 4), Options{NewFirst: order(6), RequireQuiet: true})
	text := strings.Join(append(r.reasons(), r.headline()), "\n")
	assert.Equal(t, r.Verdict, CannotJudge)
	assert.Assert(t, strings.Contains(text, "is worse than the margin of 2% by more than the noise,") && strings.Contains(text, "but too few samples show it (p worse 0.031): want about 7 samples a side"), "%s", text)
	assert.Assert(t, strings.Contains(text, ", too few samples (margin 2%)") && !strings.Contains(text, "is more than the margin"), "%s", text)
}

// Files whose noise is above the margin are no pass, and a pass says what it would have found.
func TestNoisyFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	side := func(time, sd float64) string {
		var b strings.Builder
		for range 8 {
			b.WriteString(run(fmt.Sprintf("BenchmarkA-2 1 %.4f ns/op", time*(1+sd*r.NormFloat64()))))
		}
		return b.String()
	}
	passed := 0
	for range 60 { // 10 % slower, and by chance a few with a noise within the margin
		q := judge(t, gateOp, side(100, 0.1), side(110, 0.1), Options{RequireQuiet: true})
		if q.Verdict == Pass {
			passed++
			assert.Assert(t, strings.Contains(q.headline(), "pass: no regression found in 1 row; a regression of "), "%s", q.headline())
		}
	}
	assert.Assert(t, passed <= 2, "%d", passed)
	passed = 0
	for range 60 {
		q := judge(t, gateOp, side(100, 0.01), side(100, 0.01), Options{RequireQuiet: true})
		if q.Verdict == Pass {
			passed++
			text := strings.Join(append(q.power(), q.headline()), "\n")
			assert.Assert(t, strings.Contains(text, "a regression of ") && strings.Contains(text, "would have been found in 80% of such comparisons"), "%s", text)
		}
	}
	assert.Equal(t, passed, 60)
}

// The results of go test without Unit lines have default margins, and the verdict says so.
func TestDefaultMargins(t *testing.T) {
	const by = "; no Unit line has a margin, so ns/op, MB/s, B/op, allocs/op may be 5% worse by default"
	line := "BenchmarkA-8 \t 100\t %s ns/op\t %s MB/s\t %s B/op\t %s allocs/op"
	side := func(ns, mb, b, allocs string) string { return runs(8, fmt.Sprintf(line, ns, mb, b, allocs)) }
	old := side("1000", "50", "64", "2")
	for _, c := range []struct {
		new     string
		verdict Verdict
		want    string
	}{
		{side("1040", "49", "66", "2"), Pass, "pass: 4 rows within their margins" + by},
		{side("1060", "50", "64", "2"), Regression, "regression: 1 of 4 rows: A-8 ns/op: +6.00% (margin 5%)" + by},
		{side("1000", "40", "64", "2"), Regression, "regression: 1 of 4 rows: A-8 MB/s: -20.00% (margin 5%)" + by},
		{side("1000", "50", "80", "2"), Regression, "regression: 1 of 4 rows: A-8 B/op: +25.00% (margin 5%)" + by},
		{side("1000", "50", "64", "3"), Regression, "regression: 1 of 4 rows: A-8 allocs/op: +50.00% (margin 5%)" + by},
	} {
		r := judge(t, "", old, c.new, Options{RequireQuiet: true})
		assert.Equal(t, r.Verdict, c.verdict)
		assert.Equal(t, r.headline(), c.want)
	}
	// One margin of one's own is the only one.
	r := judge(t, "Unit ns/op gate=10%\n", old, side("1060", "50", "64", "3"), Options{RequireQuiet: true})
	assert.Equal(t, r.headline(), "pass: 1 row within its margin")
}
