package llmbench

import (
	"io"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A read is when bytes came, by both clocks.
type read struct {
	user  time.Duration // when Read returned
	stamp int64         // the kernel's, on the wall clock; 0: none
}

// on places the read on the kernel's clock: the instant, and what makes it the
// user clock's. Without a stamp only their sum means anything. A stamp that is
// after its read by no more than the clocks' error is as good as the read.
func (r read) on(c clock) (at, lag time.Duration) {
	at = c.at(r.stamp)
	if lag = r.user - at; lag < 0 && lag >= -sample.ClockError {
		return r.user, 0
	}
	return at, lag
}

// A stampReader keeps the instants of its Reads.
type stampReader struct {
	r     io.Reader
	clock clock
	conn  *conn // that r reads from, or nil
	at    read  // when bytes were last read
	end   read  // when anything was, the end too
}

// Read reads from r. Bytes that were read from the connection before, and waited
// in a buffer, have the stamp of that read: the connection is read again only
// when they are gone. The end of a chunked body is bytes, too, which the
// connection is read for and the caller does not see.
func (s *stampReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.end.user = s.clock.now()
	if s.conn != nil {
		s.end.stamp = s.conn.stamp
	}
	if n > 0 {
		s.at = s.end
	}
	return n, err
}

// settle decides on which clock the instants of a sample are, and writes them
// into it: on the kernel's if all of them have its stamp, and none is an instant
// that cannot be. Before that, the instants of other events are on the kernel's,
// and Clock is the user's if one of them has no stamp.
func settle(s *sample.Sample, c clock, first read, deltas []read, end read) {
	if s.Clock == "" {
		s.Clock = sample.KernelClock
	}
	at := func(r read) (kernel, lag time.Duration) {
		kernel, lag = r.on(c)
		if r.stamp == 0 || lag < -sample.ClockError || kernel < s.Start-sample.ClockError {
			s.Clock = sample.UserClock
		}
		return kernel, lag
	}
	s.FirstByte = first.user
	if first.user > 0 {
		s.FirstByte, s.FirstByteLag = at(first)
	}
	if end.stamp != 0 { // else it has no stamp of its own
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
	if s.Clock == sample.UserClock || first.user == 0 {
		s.ToUserClock()
	}
}
