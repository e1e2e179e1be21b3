package conn

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Clock measures the time since the start of a pass on the monotonic clock, and
// converts instants of the wall clock, such as the kernel's timestamps, to it.
//
// The two clocks run at the same rate: the kernel slews both of them and sets only
// the wall clock (https://man7.org/linux/man-pages/man2/clock_gettime.2.html). Their
// difference therefore holds for a whole pass unless the wall clock is set.
type Clock struct {
	start time.Time
	wall  func() int64 // nanoseconds since 1970
	zero  int64        // the wall clock at start
}

// NewClock starts a clock. The function wall reads the wall clock; see [WallClock].
func NewClock(wall func() int64) Clock { return NewClockAt(time.Now(), wall) }

// NewClockAt returns a clock whose zero is start, which may be to come. Start must have a reading
// of the monotonic clock.
func NewClockAt(start time.Time, wall func() int64) Clock {
	c := Clock{start: start, wall: wall}
	c.zero = c.wallAtStart()
	return c
}

// WallClock returns the wall clock's time in nanoseconds since 1970.
func WallClock() int64 { return time.Now().UnixNano() }

// Now returns the time since the start.
func (c Clock) Now() time.Duration { return time.Since(c.start) }

// Start returns the start, with its reading of the monotonic clock.
func (c Clock) Start() time.Time { return c.start }

// Epoch returns the start by the wall clock alone.
func (c Clock) Epoch() time.Time { return time.Unix(0, c.zero) }

// FromWall converts an instant of the wall clock, in nanoseconds since 1970, to the
// time since the start.
func (c Clock) FromWall(wall int64) time.Duration { return time.Duration(wall - c.zero) }

// wallAtStart computes what the wall clock showed at the start from what it shows
// now. It reads the wall clock several times, each time between two readings of the
// monotonic clock, and uses the two readings that are closest together.
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

// WallChange returns by how much the wall clock was set since the start, or 0 if the
// change is below [sample.ClockError].
func (c Clock) WallChange() time.Duration {
	d := time.Duration(c.wallAtStart() - c.zero)
	if d.Abs() < sample.ClockError {
		return 0
	}
	return d
}
