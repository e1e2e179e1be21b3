package sample

import (
	"math"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestWithin checks which share of a request came before the time of its pass was over.
func TestWithin(t *testing.T) {
	stream := Sample{Due: 100, Streamed: true, Deltas: 4, First: 150, Gaps: []time.Duration{10, 10, 30}, Last: 200, End: 210}
	blank := stream
	blank.Blank = 1
	tokens := stream
	tokens.DeltaTokens = []int32{1, 3, 4, 2}
	for _, c := range []struct {
		sample Sample
		until  time.Duration
		want   float64
	}{
		{stream, 0, 1},
		{stream, 210, 1},
		{stream, 205, 1},
		{stream, 171, 0.75},
		{stream, 170, 0.5}, // what comes at the end no longer counts
		{stream, 150, 0},
		{stream, 101, 0},
		{stream, 100, 0},
		{stream, 50, 0},
		{blank, 161, 1. / 3},
		{tokens, 161, 0.4},
		{Sample{Due: 100, End: 200, Streamed: true, Deltas: 2, First: 110, Gaps: []time.Duration{80}, DeltaTokens: []int32{7, 0}, Blank: 1}, 150, 0.5},
		{Sample{Due: 100, End: 200}, 125, 0.25},
		{Sample{Due: 100, End: 200}, 99, 0},
		{Sample{Due: 100, End: 100}, 100, 1},
	} {
		c.sample.Until = c.until
		assert.Equal(t, c.sample.Within(), c.want, "%+v", c.sample)
	}
}

// TestRatesUntil checks the units of a pass whose time is over before its last answers end: rates are of the time alone,
// and all else is of all answers.
func TestRatesUntil(t *testing.T) {
	whole := answer(0, 100, 900, 9)
	whole.End = whole.Last
	cut := answer(500, 600, 1400, 9)
	cut.End = cut.Last
	none := answer(1500, 1600, 1700, 2) // a later turn of a session
	none.End = none.Last
	all := []Sample{whole, cut, none}
	for i := range all {
		all[i].Until = time.Second
		all[i].PromptTokens, all[i].PromptChars = 10, 40
	}
	elapsed := Elapsed(All(all...))
	assert.Equal(t, elapsed, time.Second)
	s := Summarize(All(all...), elapsed, SLO{E2E: time.Minute})
	share := 4. / 9 // the deltas at 600, 700, 800 and 900 ms
	for unit, want := range map[string]float64{
		"output-tok/s": 9 + 4, "req/s": 1 + share, "good-req/s": 1 + share, "prompt-tok/s": 10 + 10*share, "total-tok/s": 9 + 4 + 10 + 10*share,
		"prompt-chars/s": 40 + 40*share, "out-tok/req": 20. / 3, "in-tok/req": 10,
	} {
		assert.Assert(t, math.Abs(s.Metrics[unit]-want) < 1e-9, "%s is %v: want %v", unit, s.Metrics[unit], want)
	}
	assert.Equal(t, s.Outcomes[OK], 3)
	for i := range all {
		all[i].Until = 2 * time.Second
	}
	assert.Equal(t, Elapsed(All(all...)), 1700*time.Millisecond)
}
