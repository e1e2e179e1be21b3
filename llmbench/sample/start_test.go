package sample

import (
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// arrivals returns a sample on the kernel's clock whose deltas came at the given instants.
func arrivals(at ...time.Duration) Sample {
	s := Sample{Outcome: OK, Streamed: true, Clock: KernelClock, Deltas: len(at), First: at[0], Last: at[len(at)-1], Lags: make([]time.Duration, len(at))}
	for i, t := range at[1:] {
		s.Gaps = append(s.Gaps, t-at[i])
	}
	return s
}

// held returns a stream of n deltas, one each pace after 20 ms, of which something holds those from delta from on
// until the first is delayed by hold.
func held(n, from int, pace, hold time.Duration) Sample {
	first := 20 * time.Millisecond
	release := first + time.Duration(from)*pace + hold
	var at []time.Duration
	for i := range n {
		t := first + time.Duration(i)*pace
		if i >= from {
			t = max(t, release)
		}
		at = append(at, t)
	}
	return arrivals(at...)
}

// TestFindStart checks which starts of streams count as held.
func TestFindStart(t *testing.T) {
	const ms = time.Millisecond
	each := func(s Sample, change func(i int, gap time.Duration) time.Duration) Sample {
		at := []time.Duration{s.First}
		for i, gap := range s.Gaps {
			at = append(at, at[i]+change(i, gap))
		}
		return arrivals(at...)
	}
	groups := func(n int, sizes ...int) Sample { // as an engine sends them that generates several tokens in a step
		var at []time.Duration
		for step := 0; len(at) < n; step++ {
			for range sizes[step%len(sizes)] {
				at = append(at, 20*ms+time.Duration(step)*10*ms)
			}
		}
		return arrivals(at...)
	}
	merged := held(32, 0, 5*ms, 43*ms)
	merged.Lags[0], merged.Merged = 40*ms, []Merged{{Delta: 0, Deltas: 8, Since: 20 * ms}}
	prompt := merged
	prompt.Lags = make([]time.Duration, 32)
	user, lateUser := held(32, 0, 5*ms, 43*ms), held(32, 0, 5*ms, 43*ms)
	user.ToUserClock()
	lateUser.ToUserClock()
	for _, tt := range []struct {
		name   string
		sample Sample
		late   time.Duration
		want   string // "" is a start that was not held, and "?" a stream that cannot be judged
		longer time.Duration
	}{
		{"Nagle and a delayed acknowledgement", held(64, 0, 5*ms, 43*ms), 0, "the first 9 deltas", 40 * ms},
		{"another pace", held(128, 0, 1500*time.Microsecond, 43*ms), 0, "the first 29 deltas", 42 * ms},
		{"a shorter delay", held(32, 0, 10*ms, 12*ms), 0, "the first 2 deltas", 10 * ms},
		{"a longer delay", held(64, 0, 10*ms, 200*ms), 0, "the first 21 deltas", 200 * ms},
		{"most of the answer", held(16, 0, 5*ms, 55*ms), 0, "the first 12 deltas", 55 * ms},
		{"the first delta is sent at once", held(64, 1, 5*ms, 43*ms), 0, "deltas 2 to 10", 40 * ms},
		{"the held deltas are sent one after the other", each(held(64, 0, 5*ms, 43*ms), func(_ int, gap time.Duration) time.Duration { return gap + 30*time.Microsecond }), 0, "the first 9 deltas", 40 * ms},
		{"irregular pace", each(held(64, 0, 5*ms, 43*ms), func(i int, gap time.Duration) time.Duration { return gap * time.Duration(7+i%7) / 10 }), 0, "the first 9 deltas", 40 * ms},
		{"the client read the segments late", merged, 0, "?", 0},
		{"the client read the segments promptly", prompt, 0, "the first 9 deltas", 40 * ms},
		{"without timestamps", user, 0, "the first 9 deltas", 40 * ms},
		{"without timestamps, and the client may have been late", lateUser, 50 * ms, "?", 0},
		{"nothing is held", held(64, 0, 5*ms, 0), 0, "", 0},
		{"less than a gap", held(64, 0, 5*ms, 4*ms), 0, "", 0},
		{"the whole answer", held(32, 0, 5*ms, time.Second), 0, "?", 0},
		{"a few deltas", held(5, 0, 5*ms, 11*ms), 0, "?", 0},
		{"a fast engine", held(100, 0, 20*time.Microsecond, 200*time.Microsecond), 0, "", 0},
		{"several tokens in each step", groups(64, 4), 0, "", 0},
		{"drafts of different lengths", groups(64, 1, 3, 2, 4, 1, 2), 0, "", 0},
		{"one delta, then several tokens in each step", groups(65, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4), 0, "", 0},
		{"faster at the start", each(held(64, 0, 5*ms, 0), func(i int, gap time.Duration) time.Duration {
			if i < 8 {
				return gap / 3
			}
			return gap
		}), 0, "", 0},
	} {
		s := FindStart(All(tt.sample), tt.late)
		if tt.want == "?" {
			assert.Equal(t, s, Start{}, tt.name)
			continue
		}
		assert.Equal(t, s.Streams, 1, tt.name)
		assert.Equal(t, s.Found(), tt.want != "", "%s: %+v", tt.name, s)
		if s.Found() {
			assert.Equal(t, s.String(), tt.want, tt.name)
			assert.Assert(t, s.Longer > tt.longer*8/10 && s.Longer < tt.longer*12/10, "%s: %v, want about %v", tt.name, s.Longer, tt.longer)
		}
	}
}

// TestFound checks that the start of most streams decides, and what the streams have in common.
func TestFound(t *testing.T) {
	nagle, plain := held(64, 0, 5*time.Millisecond, 43*time.Millisecond), held(64, 0, 5*time.Millisecond, 0)
	failed := nagle
	failed.Outcome = Truncated
	longer := held(64, 0, 5*time.Millisecond, 48*time.Millisecond)
	half := FindStart(All(nagle, plain, failed), 0)
	assert.Assert(t, !half.Found() && half.Streams == 2 && half.Held == 1, "%+v", half)
	most := FindStart(All(slices.Concat([]Sample{plain}, []Sample{nagle, nagle, longer})...), 0)
	assert.Assert(t, most.Found() && most.Deltas == 9, "%+v", most)
	assert.Assert(t, !FindStart(All(), 0).Found())
}
