package measure

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/bisect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"gotest.tools/v3/assert"
)

// TestBisectReport checks the report in all formats.
func TestBisectReport(t *testing.T) {
	change, again := 0.0512, -0.001
	at := time.Date(2026, 11, 26, 21, 17, 16, 0, time.UTC)
	r := &bisectReport{Verdict: bisectFound, Summary: "bbbbbbbbbbbb is the first commit that is worse than allowed", First: "bbbbbbbbbbbbbb", Parent: "aaaaaaaaaaaaaa",
		Name: "Server-8", Unit: "x/op", Margin: 0.02, Change: 0.05, Alpha: 0.025, Noise: 0.0123, Pairs: 17, Good: "gggggggggggggg", Bad: "bbbbbbbbbbbbbb",
		Commits: []bisectCommit{
			{Commit: "cccccccccccccc", Time: at, Subject: "cache"},
			{Commit: "aaaaaaaaaaaaaa", Time: at, Subject: "a | b", Probability: 0.0105, Change: &again, Pairs: 9},
			{Commit: "dddddddddddddd", Time: at, Subject: "typo", Skipped: "the server cannot be built: exit status 1\nmain.go:1"},
			{Commit: "bbbbbbbbbbbbbb", Time: at, Subject: "parse twice", Probability: 0.9893, Change: &change, Confirmed: 8},
		}}
	want := map[string]string{"text": `bbbbbbbbbbbb is the first commit that is worse than allowed

Server-8 x/op; the change is from the good commit, gggggggggggg; a pair has a standard deviation of 1.2%

probability  change  pairs  with its parent  commit        date        subject
1.1%         -0.1%   9      0                aaaaaaaaaaaa  2026-11-26  a | b
0.0%         -       0      0                dddddddddddd  2026-11-26  typo (skipped: the server cannot be built: exit status 1)
98.9%        +5.1%   0      8                bbbbbbbbbbbb  2026-11-26  parse twice

of 1 further commits, each has a probability of less than 0.1%

bbbbbbbbbbbb is the first commit that is worse than allowed
`, "md": `### 🔎 benchgate bisect: found

bbbbbbbbbbbb is the first commit that is worse than allowed

` + "`Server-8` `x/op`; the change is from the good commit, `gggggggggggg`" + `; a pair has a standard deviation of 1.2%.

| probability | change | pairs | with its parent | commit | date | subject |
| --- | --- | --- | --- | --- | --- | --- |
| 1.1% | -0.1% | 9 | 0 | aaaaaaaaaaaa | 2026-11-26 | a \| b |
| 0.0% | - | 0 | 0 | dddddddddddd | 2026-11-26 | typo (skipped: the server cannot be built: exit status 1) |
| 98.9% | +5.1% | 0 | 8 | bbbbbbbbbbbb | 2026-11-26 | parse twice |

of 1 further commits, each has a probability of less than 0.1%
`}
	for format, text := range want {
		var b strings.Builder
		assert.NilError(t, bisectFormats[format](r, &b))
		assert.Equal(t, b.String(), text)
	}
}

// TestExhausted checks that the summary of a search without a result describes one candidate, the most probable one.
func TestExhausted(t *testing.T) {
	margin := 0.02
	first := []float64{0.06, 0.061, 0.059, 0.06, 0.062, 0.058}
	search, err := bisect.New(bisect.Options{Commits: 4, Margin: math.Log1p(margin), Alpha: 0.05, First: first})
	assert.NilError(t, err)
	l := &looker{bisection: &bisection{limit: 40, commits: make([]revision, 5)}, search: search}
	for i := range l.commits {
		l.commits[i].hash = strings.Repeat(fmt.Sprint(i), 12)
	}
	l.row = newBisectRow(gate.Row{Name: "A", Unit: "ns/op", Better: "lower", Margin: &margin})
	add := func(c bisect.Comparison, differences ...float64) {
		for _, x := range differences {
			l.state.Pairs = append(l.state.Pairs, c)
			search.Add(c, x)
		}
	}
	assert.Assert(t, strings.Contains(l.exhausted(), " further pairs are needed"), l.exhausted())
	add(bisect.Comparison{New: 1}, 0, 0.001, -0.001, 0)
	add(bisect.Comparison{New: 2}, 0.03, 0.031, 0.029, 0.03)
	small := []float64{0.011, 0.012, 0.01, 0.011, 0.011, 0.012, 0.01, 0.011}
	add(bisect.Comparison{Old: 2, New: 3, Confirm: true}, small...)
	add(bisect.Comparison{Old: 3, New: 4, Confirm: true}, small...)
	add(bisect.Comparison{Old: 1, New: 2, Confirm: true}, 0.015, 0.016, 0.014, 0.015, 0.015, 0.016, 0.014, 0.015)
	const want = "cannot judge: 40 pairs were not enough (-pairs): A ns/op changes by +6.2%, where +2% is allowed, and a pair has a standard deviation of 0.3%; " +
		"the first worse commit is 222222222222 with a probability of 100%, but changes by only +1.5% against its parent: do several commits share the loss?"
	for range 20 {
		assert.Equal(t, l.exhausted(), want)
	}
}
