package sample

import (
	"math"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestWithin checks which share of a request came after the warm-up and before the time of its pass was over.
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
		{after(stream, 100), 0, 1},
		{after(stream, 101), 0, 1},
		{after(stream, 150), 0, 1},
		{after(stream, 151), 0, 0.75},
		{after(stream, 151), 171, 0.5},
		{after(stream, 201), 0, 0},
		{after(stream, 210), 0, 0},
		{after(tokens, 161), 171, 0.4},
		{after(Sample{Due: 100, End: 200}, 120), 170, 0.5},
		{after(Sample{Due: 100, End: 200}, 120), 0, 0.8},
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

// after returns a sample of a pass with a warm-up until from.
func after(s Sample, from time.Duration) Sample {
	s.From = from
	return s
}

// TestRatesFrom checks the units of a pass with a warm-up: the tokens that come after the warm-up count in rates, and its
// requests in nothing else.
func TestRatesFrom(t *testing.T) {
	before := answer(0, 100, 300, 3)
	into := answer(0, 100, 900, 9)
	failed := answer(0, 100, 900, 9)
	failed.Outcome = Timeout
	whole := answer(500, 600, 1400, 9)
	all := []Sample{before, into, failed, whole}
	for i := range all {
		all[i].End, all[i].From, all[i].Until = all[i].Last, 450*time.Millisecond, 2*time.Second
		all[i].PromptTokens = 9
	}
	elapsed := Elapsed(All(all...))
	assert.Equal(t, elapsed, 950*time.Millisecond)
	s := Summarize(All(all...), elapsed, SLO{})
	share := 5. / 9 // the deltas at 500, 600, 700, 800 and 900 ms
	for unit, want := range map[string]float64{
		"output-tok/s": (9 + 5) / 0.95, "req/s": (1 + share) / 0.95, "prompt-tok/s": (9 + 9*share) / 0.95, "out-tok/req": 9, "mean-ttft-ns": 100e6, "fail-%": 0,
	} {
		assert.Assert(t, math.Abs(s.Metrics[unit]-want) < 1e-6, "%s is %v: want %v", unit, s.Metrics[unit], want)
	}
	assert.Equal(t, s.Requests, 1)
	n := 0
	for s := range Measured(All(all...)) {
		assert.Equal(t, s.Due, whole.Due)
		n++
	}
	assert.Equal(t, n, 1)
}

// TestRatesOfLongRequests checks that a time in which no request began has the rates of what came within, and no other figures.
func TestRatesOfLongRequests(t *testing.T) {
	long := answer(0, 100, 900, 9)
	long.End, long.PromptTokens = long.Last, 9
	s := Summarize(During(All(long), 350*time.Millisecond, 650*time.Millisecond), 300*time.Millisecond, SLO{E2E: time.Second})
	for unit, want := range map[string]float64{"output-tok/s": 3 / 0.3, "req/s": 3. / 9 / 0.3, "good-req/s": 3. / 9 / 0.3} {
		assert.Assert(t, math.Abs(s.Metrics[unit]-want) < 1e-9, "%s is %v: want %v", unit, s.Metrics[unit], want)
	}
	for _, unit := range []string{"out-tok/req", "p50-ttft-ns", "p50-e2e-ns", "fail-%"} {
		_, known := s.Metrics[unit]
		assert.Assert(t, !known, unit)
	}
	assert.Equal(t, s.Requests, 0)
	s = Summarize(During(All(long), time.Second, 2*time.Second), time.Second, SLO{})
	assert.Equal(t, len(s.Metrics), 0, "%v", s.Metrics)
}

// TestDuring checks that two halves of a pass have what the whole has.
func TestDuring(t *testing.T) {
	all := []Sample{answer(0, 100, 300, 3), answer(0, 100, 900, 9), answer(450, 600, 1400, 9), answer(700, 800, 900, 2)}
	for i := range all {
		all[i].End = all[i].Last
	}
	const middle, end = 450 * time.Millisecond, 1400 * time.Millisecond
	tokens, requests := 0.0, 0
	for _, half := range [][2]time.Duration{{0, middle}, {middle, end}} {
		s := Summarize(During(All(all...), half[0], half[1]), half[1]-half[0], SLO{})
		tokens += s.Metrics[OutputRate] * (half[1] - half[0]).Seconds()
		requests += s.Requests
	}
	assert.Assert(t, math.Abs(tokens-23) < 1e-9, "%v", tokens)
	assert.Equal(t, requests, 4)
	assert.Equal(t, all[0].Until, time.Duration(0))
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

// TestElapsedOpen checks that a pass for a time with an open loop lasts for the whole time, although no request is in flight at its
// end, and that a pass lasts for no time if all requests had ended before the time that is measured.
func TestElapsedOpen(t *testing.T) {
	one := Sample{Scheduled: true, Due: 100, End: 300, From: 200, Until: 900}
	two := Sample{Scheduled: true, Due: 500, End: 600, From: 200, Until: 900}
	early := Sample{Scheduled: true, Due: 100, End: 200, From: 200, Until: 900}
	closed := Sample{Due: 500, End: 600, From: 200, Until: 900}
	other := two
	other.Pass = 1
	endless := Sample{Scheduled: true, Due: 100, End: 200}
	for _, c := range []struct {
		samples []Sample
		want    time.Duration
	}{
		{[]Sample{one}, 700},
		{[]Sample{one, two}, 700},
		{[]Sample{one, closed}, 700},
		{[]Sample{closed}, 100},
		{[]Sample{one, two, other}, 1400},
		{[]Sample{early}, 0},
		{[]Sample{endless}, 100},
	} {
		assert.Equal(t, Elapsed(All(c.samples...)), c.want, "%+v", c.samples)
	}
}
