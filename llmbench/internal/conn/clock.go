package conn

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Clock measures the time since the start of a pass on the monotonic clock. It also converts instants of
// the wall clock, such as the kernel's timestamps, to this time.
//
// The two clocks run at the same rate: the kernel slews both of them, and sets only the wall clock
// (https://man7.org/linux/man-pages/man2/clock_gettime.2.html). The difference between them is therefore
// constant during a pass, unless the wall clock is set.
type Clock struct {
	start time.Time
	wall  func() int64 // nanoseconds since 1970
	zero  int64        // the wall clock at start
}

// NewClock starts a clock. The function wall reads the wall clock; see [WallClock].
func NewClock(wall func() int64) Clock { return NewClockAt(time.Now(), wall) }

// NewClockAt returns a clock that measures the time since start, which may be in the future. The time start
// must have a monotonic clock reading.
func NewClockAt(start time.Time, wall func() int64) Clock {
	c := Clock{start: start, wall: wall}
	c.zero = c.wallAtStart()
	return c
}

// WallClock returns the wall clock's time in nanoseconds since 1970.
func WallClock() int64 { return time.Now().UnixNano() }

// Now returns the time since the start.
func (c Clock) Now() time.Duration { return time.Since(c.start) }

// Start returns the start, with its monotonic clock reading.
func (c Clock) Start() time.Time { return c.start }

// Epoch returns the start on the wall clock, without a monotonic clock reading.
func (c Clock) Epoch() time.Time { return time.Unix(0, c.zero) }

// FromWall converts an instant of the wall clock, in nanoseconds since 1970, to the
// time since the start.
func (c Clock) FromWall(wall int64) time.Duration { return time.Duration(wall - c.zero) }

// wallAtStart computes the wall clock's time at the start from its current time. It reads the wall clock
// several times, each time between two readings of the monotonic clock. It uses the reading whose two
// monotonic readings are closest together.
func (c Clock) wallAtStart() int64 {
	const tries = 32
	closest, zero := time.Duration(math.MaxInt64), int64(0)
	before := c.Now()
	for range tries {
		wall, after := c.wall(), c.Now()
		if apart := after - before; apart < closest {
			closest, zero = apart, wall-int64(before+apart/2)
		}
		before = after
	}
	return zero
}

// WallChange returns the amount by which the wall clock was set since the start, or 0 if the amount is
// below [sample.ClockError].
func (c Clock) WallChange() time.Duration {
	d := time.Duration(c.wallAtStart() - c.zero)
	if d.Abs() < sample.ClockError {
		return 0
	}
	return d
}
