package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// steadyOf returns the steady state of samples, which must be of one pass. It checks the conditions that
// hold for every steady state.
func steadyOf(tb testing.TB, samples []Sample) Steady {
	tb.Helper()
	all := Summarize(All(samples...), Elapsed(All(samples...)), SLO{}).Steady
	assert.Equal(tb, len(all), 1)
	s := all[0]
	if s.Why != "" {
		assert.Assert(tb, s.Begin == 0 && s.End == 0 && s.Tokens == 0, "%+v", s)
		return s
	}
	first, last, tokens := samples[0].Due, samples[0].Start, 0
	for i := range samples {
		first, last = min(first, samples[i].Due), max(last, samples[i].Start)
		if samples[i].Outcome == OK {
			tokens += samples[i].OutputTokens
		}
	}
	assert.Assert(tb, s.Begin >= first && s.End == last, "%+v; want it within %v to %v", s, first, last)
	assert.Assert(tb, s.End-s.Begin >= (last-first)/2-1 && s.Tokens <= float64(tokens)+1e-6, "%+v", s)
	return s
}

func rate(s Steady) float64 { return s.Tokens / (s.End - s.Begin).Seconds() }

// random returns a source of random numbers for a seed.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6c6c6d62656e6368)) }

// closedLoop returns the samples of n requests that some workers send. The function cycle returns how long
// a request takes that begins at the given second. A tenth of this time is the time to the first token.
func closedLoop(workers, n, tokens int, cycle func(start float64) float64) []Sample {
	free := make([]float64, workers) // since when each worker has been free, in seconds
	samples := make([]Sample, n)
	for i := range samples {
		w := slices.Index(free, slices.Min(free))
		took := cycle(free[w])
		samples[i] = answer(1000*free[w], 1000*(free[w]+took/10), 1000*(free[w]+took), tokens)
		samples[i].End = samples[i].Last
		free[w] += took
	}
	return samples
}

// queue returns the samples of n requests to a server that processes one request at a time, mu per second.
// The arrivals are a Poisson process with the rate lambda per second. The server begins to process requests
// only at the second late.
func queue(r *rand.Rand, n, tokens int, lambda, mu, late float64) []Sample {
	at, free := 0.0, late
	samples := make([]Sample, n)
	for i := range samples {
		begin := max(at, free)
		free = begin + r.ExpFloat64()/mu
		samples[i] = answer(1000*at, 1000*(begin+(free-begin)/float64(tokens)), 1000*free, tokens)
		samples[i].End = samples[i].Last
		at += r.ExpFloat64() / lambda
	}
	return samples
}

// TestSteadyStates runs models whose true rate is known, 50 times each. How often a steady state is found
// must be within bounds, and the mean of the rate must be near the truth.
func TestSteadyStates(t *testing.T) {
	t.Parallel()
	const runs = 50
	took := func(r *rand.Rand) float64 { return 1 + 2*r.Float64() } // a mean of 2 s
	loop := func(n int, factor func(at float64) float64) func(*rand.Rand) []Sample {
		return func(r *rand.Rand) []Sample {
			return closedLoop(8, n, 40, func(at float64) float64 { return took(r) * factor(at) })
		}
	}
	for _, c := range []struct {
		name        string
		make        func(r *rand.Rand) []Sample
		least, most int     // number of runs with a steady state
		truth       float64 // tokens per second; 0 means that there is no true rate
		error       float64 // relative error of the mean
		why         string  // a reason in at least one run
	}{
		{"closed loop", loop(240, func(float64) float64 { return 1 }), 45, 50, 160, 0.01, ""},
		{"a short one", loop(8*14, func(float64) float64 { return 1 }), 40, 50, 160, 0.02, ""},
		{"waves", func(*rand.Rand) []Sample { return closedLoop(8, 160, 40, func(float64) float64 { return 2 }) }, 50, 50, 160, 1e-9, ""},
		{"warms up: three times slower at first, for 30 s", loop(480, func(at float64) float64 { return 1 + 2*max(0, 1-at/30) }), 45, 50, 160, 0.01, ""},
		{"M/M/1 at half its load", func(r *rand.Rand) []Sample { return queue(r, 1500, 10, 5, 10, 0) }, 47, 50, 50, 0.01, ""},
		{"M/M/1 at 0.9", func(r *rand.Rand) []Sample { return queue(r, 1500, 10, 9, 10, 0) }, 35, 50, 90, 0.02, ""},
		{"slows down all the time", loop(480, func(at float64) float64 { return 1 + at/60 }), 0, 0, 0, 0, "had not settled"},
		{"speeds up all the time", loop(480, func(at float64) float64 { return 1 / (1 + at/60) }), 0, 2, 0, 0, "drifts"},
		{"slows down once, near the end", loop(480, func(at float64) float64 {
			if at > 90 {
				return 2
			}
			return 1
		}), 0, 1, 0, 0, "had not settled"},
		{"more load than the server can do", func(r *rand.Rand) []Sample { return queue(r, 500, 10, 20, 10, 0) }, 0, 0, 0, 0, "the load lasted"},
	} {
		found, sum, whole := 0, 0.0, 0.0
		why := ""
		for seed := range uint64(runs) {
			samples := c.make(random(seed))
			tokens := 0
			for _, s := range samples {
				tokens += s.OutputTokens
			}
			whole += float64(tokens) / Elapsed(All(samples...)).Seconds() / runs
			s := steadyOf(t, samples)
			if s.Why != "" {
				why += s.Why + "\n"
				continue
			}
			found++
			sum += rate(s)
		}
		got := sum / max(1, float64(found))
		t.Logf("%s: steady in %d of %d runs, at %.4g tok/s; truth %.4g; whole passes %.4g", c.name, found, runs, got, c.truth, whole)
		if found < c.least || found > c.most || c.truth > 0 && math.Abs(got/c.truth-1) > c.error {
			t.Errorf("%s: %d steady states at %.4g; want %d to %d at %.4g within %g", c.name, found, got, c.least, c.most, c.truth, c.error)
		}
		if !strings.Contains(why, c.why) {
			t.Errorf("%s: %q; want %q", c.name, why, c.why)
		}
	}
}

// TestSteadyCutsTheBeginning has a server that answers nothing for 20 s.
func TestSteadyCutsTheBeginning(t *testing.T) {
	s := steadyOf(t, closedLoop(8, 480, 40, func(at float64) float64 {
		if at == 0 {
			return 20
		}
		return 2
	}))
	assert.Equal(t, s.Why, "")
	assert.Assert(t, s.Begin >= 20*time.Second && s.Begin <= 23*time.Second, "%v", s.Begin)
	assert.Assert(t, math.Abs(rate(s)-160) < 0.5, "%v", rate(s))
}

// TestNoSteadyState has cases without a steady state, and the reasons.
func TestNoSteadyState(t *testing.T) {
	even := func(change func(i int, s *Sample)) []Sample {
		samples := closedLoop(4, 100, 40, func(float64) float64 { return 2 })
		for i := range samples {
			change(i, &samples[i])
		}
		return samples
	}
	for _, c := range []struct {
		name    string
		samples []Sample
		why     string
	}{
		{"even", even(func(int, *Sample) {}), ""},
		{"failures do not count", even(func(i int, s *Sample) {
			if i%10 == 0 {
				*s = Sample{Due: s.Due, Start: s.Start, End: s.End, Outcome: Timeout}
			}
		}), ""},
		{"too short", closedLoop(8, 64, 40, func(float64) float64 { return 2 }),
			"the load lasted 14s, and a mean request took 2s: want a load of at least 12 mean requests"},
		{"all at once", closedLoop(8, 8, 40, func(float64) float64 { return 2 }), "the load lasted 0s"},
		{"one is not streamed", even(func(i int, s *Sample) {
			if i == 7 {
				s.Streamed, s.Deltas, s.Gaps = false, 0, nil
			}
		}), "instants of the tokens of an answer are unknown"},
		{"unknown tokens", even(func(i int, s *Sample) { s.OutputTokens = 0 }), "instants of the tokens of an answer are unknown"},
		{"gaps are not known", even(func(i int, s *Sample) { s.Gaps = nil }), "instants of the tokens of an answer are unknown"},
		{"failures", even(func(i int, s *Sample) { s.Outcome = HTTP }), "no request succeeded"},
		{"few deltas", closedLoop(1, 100, 1, func(float64) float64 { return 2 }), "100 deltas: want at least 495"},
		{"no time at all", make([]Sample, 3), "no request succeeded"},
		{"answers in no time", []Sample{{Outcome: OK, Deltas: 1, OutputTokens: 1}, {Outcome: OK, Deltas: 1, OutputTokens: 1}}, "a mean request took 0s"},
	} {
		if s := steadyOf(t, c.samples); c.why == "" && s.Why != "" || !strings.Contains(s.Why, c.why) {
			t.Errorf("%s: %q; want %q", c.name, s.Why, c.why)
		}
	}
	assert.Equal(t, len(SteadyStates(func(func(*Sample) bool) {})), 0)
}

// TestSteadyPasses checks that the steady parts of several passes are combined, and that there is no rate
// if one of the passes has no steady part.
func TestSteadyPasses(t *testing.T) {
	pass := func(n int, cycle float64, number int) []Sample {
		samples := closedLoop(4, n, 40, func(float64) float64 { return cycle })
		for i := range samples {
			samples[i].Pass = number
		}
		return samples
	}
	both := Summarize(All(slices.Concat(pass(80, 2, 0), pass(80, 4, 1))...), time.Minute, SLO{})
	assert.Equal(t, len(both.Steady), 2)
	assert.Equal(t, both.Steady[1].Pass, 1)
	// 38 s with 80 tokens per second and 76 s with 40.
	got := both.Metrics["steady-output-tok/s"]
	assert.Assert(t, math.Abs(got-2*3040/114.0) < 0.01, "%v", got)
	one := Summarize(All(slices.Concat(pass(80, 2, 0), pass(4, 4, 1))...), time.Minute, SLO{})
	assert.Equal(t, one.Steady[0].Why, "")
	assert.Assert(t, one.Steady[1].Why != "")
	_, has := one.Metrics["steady-output-tok/s"]
	assert.Assert(t, !has)
}

// TestSteadyOrder checks that neither the order of samples nor the time of the first request matters.
func TestSteadyOrder(t *testing.T) {
	r := random(3)
	samples := closedLoop(8, 240, 40, func(float64) float64 { return 1 + 2*r.Float64() })
	want := steadyOf(t, samples)
	assert.Equal(t, want.Why, "")
	r.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
	for i := range samples {
		s := &samples[i]
		for _, at := range []*time.Duration{&s.Due, &s.Start, &s.First, &s.Last, &s.End} {
			*at += time.Hour
		}
	}
	got := steadyOf(t, samples)
	assert.Equal(t, got.Begin, want.Begin+time.Hour)
	assert.Assert(t, math.Abs(got.Tokens-want.Tokens) < 1e-6, "%v and %v", got, want)
}

// TestMSER compares mser with its definition on random series, and checks some series whose cut is obvious.
func TestMSER(t *testing.T) {
	defined := func(x []float64) (cut int) {
		least := math.Inf(1)
		for d := 0; d <= len(x)-max(5, (len(x)+3)/4); d++ {
			m, sum := mean(x[d:]), 0.0
			for _, v := range x[d:] {
				sum += (v - m) * (v - m)
			}
			if e := sum / float64(len(x)-d) / float64(len(x)-d); e < least {
				cut, least = d, e
			}
		}
		return cut
	}
	for seed := range uint64(500) {
		r := random(seed)
		x := make([]float64, 12+r.IntN(100))
		for i := range x {
			x[i] = 10 + r.NormFloat64() - 10*math.Exp(-float64(i)/5)
		}
		assert.Equal(t, mser(x), defined(x))
	}
	ramp := make([]float64, 20)
	for i := range ramp {
		ramp[i] = float64(i)
	}
	for _, c := range []struct {
		values []float64
		cut    int
	}{
		{slices.Repeat([]float64{7}, 12), 0},
		{append([]float64{0, 0, 0}, slices.Repeat([]float64{7}, 12)...), 3},
		{ramp, 15},
		// Deviations by single tokens are not a reason to cut anything.
		{append([]float64{1e5, 1e5 + 1, 1e5, 1e5 - 1, 1e5 + 1, 1e5}, slices.Repeat([]float64{1e5}, 6)...), 0},
	} {
		if got := mser(c.values); got != c.cut {
			t.Errorf("mser(%v) = %d; want %d", c.values, got, c.cut)
		}
	}
}
