package llmbench

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A clock tells the time since the start of a pass, on the monotonic clock, and
// maps the wall clock's instants to it, which the kernel's stamps are on. The two
// run at one rate: the kernel slews both, and sets only the wall clock
// (https://man7.org/linux/man-pages/man2/clock_gettime.2.html). So their
// difference holds for a whole pass, unless the wall clock was set.
type clock struct {
	start time.Time
	wall  func() int64 // nanoseconds since 1970
	zero  int64        // what wall showed at start
}

// newClock starts a clock.
func newClock(wall func() int64) clock {
	c := clock{start: time.Now(), wall: wall}
	c.zero = c.measure()
	return c
}

func wallClock() int64 { return time.Now().UnixNano() }

// now is the time since the start.
func (c clock) now() time.Duration { return time.Since(c.start) }

// epoch is the wall clock's instant of the start.
func (c clock) epoch() time.Time { return time.Unix(0, c.zero) }

// at maps an instant of the wall clock.
func (c clock) at(wall int64) time.Duration { return time.Duration(wall - c.zero) }

// measure returns what the wall clock showed at the start, by what it shows now:
// read between two readings of the monotonic clock, several times, of which the
// closest two count.
func (c clock) measure() int64 {
	const tries = 32
	closest, zero := time.Duration(math.MaxInt64), int64(0)
	before := c.now()
	for range tries {
		wall, after := c.wall(), c.now()
		if apart := after - before; apart < closest {
			closest, zero = apart, wall-int64(before+apart/2)
		}
		before = after
	}
	return zero
}

// set tells by how much the wall clock was set since the start; less than
// ClockError is nothing.
func (c clock) set() time.Duration {
	d := time.Duration(c.measure() - c.zero)
	if d.Abs() < sample.ClockError {
		return 0
	}
	return d
}
