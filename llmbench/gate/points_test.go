package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// accuracyLines returns a file with one result for each accuracy. Each result comes from its own
// process, which checked the given number of answers. If set is above 0, process i reports the
// question set set+i. If set is below 0, all processes report the question set -set.
func accuracyLines(unit string, set int, of string, percents ...float64) File {
	var b strings.Builder
	for i, percent := range percents {
		fmt.Fprintf(&b, "Unit accuracy-%% %s\nBenchmarkA/concurrency=8 1 %v accuracy-%%", unit, percent)
		if of != "" {
			fmt.Fprintf(&b, " %s checked-req", of)
		}
		switch {
		case set > 0:
			fmt.Fprintf(&b, " %d question-set", set+i)
		case set < 0:
			fmt.Fprintf(&b, " %d question-set", -set)
		}
		b.WriteString("\nPASS\n")
	}
	return File{Name: "f", Data: strings.NewReader(b.String())}
}

func TestPoints(t *testing.T) {
	const unit = "better=higher gate=2pp of=checked-req apart=question-set"
	same := func(v float64) []float64 { return []float64{v, v, v, v, v, v, v, v} }
	for _, test := range []struct {
		name     string
		old, new File
		verdict  Verdict
		reason   string
	}{
		{"equal", accuracyLines(unit, 1, "200", same(97)...), accuracyLines(unit, 1, "200", same(97)...), Pass, ""},
		{"a loss of 5 points", accuracyLines(unit, 1, "200", same(100)...), accuracyLines(unit, 1, "200", same(95)...), Regression,
			"right answers (%), A: -5.00 points, may be 2 percentage points worse"},
		{"from nothing", accuracyLines(unit, 1, "200", same(0)...), accuracyLines(unit, 1, "200", same(0)...), Pass, ""},
		{"few questions", accuracyLines(unit, 1, "5", same(100)...), accuracyLines(unit, 1, "5", same(100)...), CannotJudge,
			"cannot judge: the counts allow errors of 8"},
		{"the same questions", accuracyLines(unit, 1, "200", same(100)...), accuracyLines(unit, -1234, "200", same(95)...), CannotJudge,
			"several results with a question-set of 1234 are of the same observations: want others in each process"},
		{"no counts", accuracyLines(unit, 1, "", same(100)...), accuracyLines(unit, 1, "200", same(95)...), CannotJudge,
			"of=checked-req: 0 of 8 results have it: want a number of observations in each"},
		{"no whole number", accuracyLines(unit, 1, "2.5", same(100)...), accuracyLines(unit, 1, "200", same(95)...), CannotJudge,
			"of=checked-req: 2.5: want a whole number of observations"},
		{"more than all", accuracyLines(unit, 1, "200", same(101)...), accuracyLines(unit, 1, "200", same(95)...), CannotJudge,
			"of=checked-req: 101 %: want at most 100 %"},
		{"no unit of counts", accuracyLines("better=higher gate=2pp", 1, "200", same(97)...), accuracyLines("better=higher gate=2pp", 1, "200", same(97)...), CannotJudge,
			"gate=2pp without of=: want of=UNIT"},
		{"too few samples", accuracyLines(unit, 1, "200", 97, 97), accuracyLines(unit, 1, "200", 97, 97), CannotJudge, "2 old and 2 new samples: want at least 6"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := Compare(File{}, test.old, test.new, Options{})
			assert.NilError(t, err)
			reasons := strings.Join(r.reasons(), "\n")
			assert.Equal(t, r.Verdict, test.verdict, "%s", reasons)
			assert.Assert(t, strings.Contains(reasons, test.reason), "%s", reasons)
			assert.Equal(t, len(r.Noise()), 0, "benchgate aa recommends no margin for counts")
		})
	}
}
