package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"

	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// settle decides on which clock the instants of a sample are, and writes them
// into it: on the kernel's if all of them have its stamp, and none is an instant
// that cannot be. Before that, the instants of other events are on the kernel's,
// and Clock is the user's if one of them has no stamp.
func settle(s *sample.Sample, c conn.Clock, first conn.Arrival, deltas []conn.Arrival, end conn.Arrival) {
	if s.Clock == "" {
		s.Clock = sample.KernelClock
	}
	at := func(r conn.Arrival) (kernel, lag time.Duration) {
		kernel, lag = r.On(c)
		if r.Stamp == 0 || lag < -sample.ClockError || kernel < s.Start-sample.ClockError {
			s.Clock = sample.UserClock
		}
		return kernel, lag
	}
	s.FirstByte = first.User
	if first.User > 0 {
		s.FirstByte, s.FirstByteLag = at(first)
	}
	if end.Stamp != 0 { // else it has no stamp of its own
		s.End, s.EndLag = at(end)
	}
	s.Deltas = len(deltas)
	if n := len(deltas); n > 0 {
		all := make([]time.Duration, 2*n-1)
		s.Lags, s.Gaps = all[:n:n], all[n:]
		for i, d := range deltas {
			var kernel time.Duration
			kernel, s.Lags[i] = at(d)
			if i == 0 {
				s.First = kernel
			} else {
				s.Gaps[i-1] = kernel - s.Last
			}
			s.Last = kernel
		}
		if n == 1 {
			s.Gaps = nil
		}
	}
	if s.Clock == sample.UserClock || first.User == 0 {
		s.ToUserClock()
	}
}
