package llmbench

import (
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// settle writes the instants of a request into its sample, and decides which clock they are
// on. That is the kernel's clock if each arrival has a possible timestamp, and else the
// user's. A sample that is on the user's clock before stays on it. The instants that s
// already holds must be on the kernel's clock. Settle copies deltas and merged.
func settle(s *sample.Sample, c conn.Clock, first conn.Arrival, deltas *conn.Arrivals, merged []sample.Merged, end conn.Arrival) {
	if s.Clock == "" {
		s.Clock = sample.KernelClock
	}
	on := func(a conn.Arrival) (at, lag time.Duration) {
		at, lag = a.On(c)
		if a.Stamp == 0 || lag < -sample.ClockError || at < s.Start-sample.ClockError {
			s.Clock = sample.UserClock
		}
		return at, lag
	}
	s.FirstByte = first.User
	if first.User > 0 {
		s.FirstByte, s.FirstByteLag = on(first)
	}
	if end.Stamp != 0 { // else the end has no timestamp of its own
		s.End, s.EndLag = on(end)
	}
	s.Deltas = deltas.Len()
	if n := deltas.Len(); n > 0 {
		all := make([]time.Duration, 2*n-1)
		s.Lags, s.Gaps = all[:n:n], all[n:]
		for i, d := range deltas.All() {
			var at time.Duration
			at, s.Lags[i] = on(d)
			if i == 0 {
				s.First = at
			} else {
				s.Gaps[i-1] = at - s.Last
			}
			s.Last = at
		}
		if n == 1 {
			s.Gaps = nil
		}
	}
	s.Merged = slices.Clip(append([]sample.Merged(nil), merged...))
	if s.Clock == sample.UserClock || first.User == 0 {
		s.ToUserClock()
	}
}
