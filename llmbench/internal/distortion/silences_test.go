package distortion

import (
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const us = time.Microsecond

// pairs returns a request whose answer has 40 deltas after ttft. They come in pairs of two segments that
// are 20 µs apart, with a silence of 980 µs after each pair. Every other pair was read together.
func pairs(i int, ttft, lag time.Duration) sample.Sample {
	const n = 40
	start := time.Duration(i) * 100 * ms
	s := sample.Sample{
		Request: i, Due: start, Start: start, Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, OutputTokens: n, TokenSource: sample.FromUsage,
		Deltas: n, Outputs: n, First: start + ttft, FirstOutput: start + ttft, Lags: slices.Repeat([]time.Duration{lag}, n),
	}
	s.Last = s.First
	for k := range n - 1 {
		gap := 20 * us
		if k%2 == 1 {
			gap = 980 * us
		}
		s.Gaps = append(s.Gaps, gap)
		s.Last += gap
	}
	s.End = s.Last + ms
	for k := 0; k < n; k += 4 {
		together(&s, k, k+1, lag, s.Start)
	}
	return s
}

// TestSilences checks that a client is not blamed for bursts of the server if its reads before silences are
// prompt, and that it is blamed if they are late.
func TestSilences(t *testing.T) {
	for _, tt := range []struct {
		lag     time.Duration
		longest time.Duration
		units   []string
	}{
		{60 * us, 100 * us, nil},
		{600 * us, unlimited, []string{"p50-ttft-ns"}},
	} {
		var all []sample.Sample
		for i := range 40 {
			all = append(all, pairs(i, 10*ms, tt.lag))
		}
		p := Pass{Samples: sample.All(all...), Stays: staggered(1, 0)}
		var e Estimate
		e.Add(p)
		assert.Equal(t, e.silences.longest(), tt.longest)
		assert.DeepEqual(t, report(p, "p50-ttft-ns").Units(), tt.units)
	}
}

// TestFewSilences checks that a few reads that were prompt by chance prove nothing.
func TestFewSilences(t *testing.T) {
	var e Estimate
	s := pairs(0, 10*ms, 60*us)
	e.Add(Pass{Samples: sample.All(s), Stays: staggered(1, 0)})
	assert.Equal(t, e.silences.longest(), unlimited)
}

// TestHeldBack checks which deltas a server may have held back: the deltas that came while a window of
// others was unread.
func TestHeldBack(t *testing.T) {
	for _, tt := range []struct {
		lags []time.Duration
		want [][2]int
	}{
		{[]time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, nil},
		{[]time.Duration{0, 8 * ms, 7 * ms, 6 * ms, 5 * ms, 4 * ms, 3 * ms, 2 * ms, 0, 0, 0, 0}, nil},                                // only seven deltas were unread
		{[]time.Duration{0, 9 * ms, 8 * ms, 7 * ms, 6 * ms, 5 * ms, 4 * ms, 3 * ms, 2 * ms, 0, 0, 0}, [][2]int{{8, 9}}},              // eight deltas were unread
		{[]time.Duration{0, 11 * ms, 10 * ms, 9 * ms, 8 * ms, 7 * ms, 6 * ms, 5 * ms, 4 * ms, 3 * ms, 2 * ms, 0}, [][2]int{{8, 11}}}, // all deltas to the end
		{[]time.Duration{0, 9 * ms, 8 * ms, 7 * ms, 6 * ms, 5 * ms, 4 * ms, 3 * ms, 2 * ms, 950 * us, 0, 0}, [][2]int{{8, 10}}},      // and one more, which came as soon as the client had read
	} {
		s := &sample.Sample{Outcome: sample.OK, First: 10 * ms, Deltas: 12, Gaps: slices.Repeat([]time.Duration{ms}, 11), Lags: tt.lags}
		var got [][2]int
		for free, last := range heldBack(s) {
			got = append(got, [2]int{free, last})
		}
		assert.DeepEqual(t, got, tt.want)
	}
}

// TestRelease checks a client that leaves a window of segments unread. It may have delayed what the server
// sent after that, and so the next request.
func TestRelease(t *testing.T) {
	for _, tt := range []struct {
		unread int
		units  []string
	}{
		{window - 1, nil},
		{window, []string{"req/s", "p50-e2e-ns"}},
	} {
		var all []sample.Sample
		for i := range 40 {
			start := time.Duration(i) * 61 * ms
			n := tt.unread + 1
			s := sample.Sample{
				Request: i, Due: start, Start: start, Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, OutputTokens: n, TokenSource: sample.FromUsage,
				Deltas: n, Outputs: n, First: start + 40*ms, FirstOutput: start + 40*ms, Last: start + 60*ms, End: start + 60*ms,
				Gaps: slices.Repeat([]time.Duration{0}, n-1), Lags: slices.Repeat([]time.Duration{21 * ms}, n),
			}
			s.Gaps[n-2], s.Lags[n-1] = 20*ms, ms // came just before the client read what was there
			all = append(all, s)
		}
		r := report(Pass{Samples: sample.All(all...), Stays: staggered(1, 0)}, "p50-e2e-ns", "req/s", "p50-ttft-ns")
		assert.DeepEqual(t, r.Units(), tt.units)
	}
}

// TestGapAfterRelease checks the gap after a delta that the server held back. It may be longer than the
// measured gap: the delta may have been ready earlier, although the next one was not.
func TestGapAfterRelease(t *testing.T) {
	var all []sample.Sample
	for i := range 40 {
		start := time.Duration(i) * 100 * ms
		const n = 20
		s := sample.Sample{
			Request: i, Due: start, Start: start, Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, OutputTokens: n, TokenSource: sample.FromUsage,
			Deltas: n, Outputs: n, First: start + 40*ms, FirstOutput: start + 40*ms,
			Gaps: slices.Repeat([]time.Duration{ms}, n-1), Lags: make([]time.Duration, n),
		}
		if i%3 == 0 {
			for k := 1; k <= 9; k++ { // a window that the client reads 3 ms late
				s.Gaps[k], s.Lags[k] = 0, 3*ms
			}
			s.Gaps[9] = 3 * ms // the tenth came when the client had read
			s.Gaps[10], s.Gaps[11] = 2*ms, 0
			s.Merged = []sample.Merged{{Delta: 11, Deltas: 1, Since: start + 44*ms}}
		}
		s.Last = s.First
		for _, gap := range s.Gaps {
			s.Last += gap
		}
		s.End = s.Last
		all = append(all, s)
	}
	r := report(Pass{Samples: sample.All(all...), Stays: staggered(1, 0)}, "p99-itl-ns")
	assert.DeepEqual(t, r.Units(), []string{"p99-itl-ns"})
	assert.Assert(t, r.Most("p99-itl-ns") > 0.3, "%v", r.Distorted)
}
