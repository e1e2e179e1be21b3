package conn

import (
	"encoding/binary"
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Arrival is the instant at which bytes arrived, measured by two clocks.
type Arrival struct {
	User  time.Duration // when Read returned, since the start of the pass
	Stamp int64         // the kernel's timestamp in nanoseconds since 1970; 0 means none
}

// On returns the instant of the kernel's timestamp on c, and the lag from there to the instant at which
// Read returned. Without a timestamp, only the sum of the two has a meaning. If the timestamp is later than
// the Read, but by at most [sample.ClockError], On returns the instant of the Read instead.
func (a Arrival) On(c Clock) (at, lag time.Duration) {
	at = c.FromWall(a.Stamp)
	if lag = a.User - at; lag < 0 && lag >= -sample.ClockError {
		return a.User, 0
	}
	return at, lag
}

// Arrivals holds the arrivals of a stream in the order in which they were added. An arrival takes about 8
// bytes, because many streams have many arrivals at the same time. The zero value is empty.
type Arrivals struct {
	n    int
	data []byte // for each arrival, the differences of its User and its Stamp from the arrival before
	last Arrival
}

// Reset removes all arrivals.
func (a *Arrivals) Reset() { *a = Arrivals{data: a.data[:0]} }

// Len returns the number of arrivals.
func (a *Arrivals) Len() int { return a.n }

// Add adds an arrival.
func (a *Arrivals) Add(next Arrival) {
	a.data = binary.AppendVarint(a.data, int64(next.User-a.last.User))
	a.data = binary.AppendVarint(a.data, next.Stamp-a.last.Stamp)
	a.last = next
	a.n++
}

// All ranges over the arrivals, with their indices.
func (a *Arrivals) All() iter.Seq2[int, Arrival] {
	return func(yield func(int, Arrival) bool) {
		var one Arrival
		data := a.data
		for i := range a.n {
			user, n := binary.Varint(data)
			stamp, m := binary.Varint(data[n:])
			data = data[n+m:]
			one.User += time.Duration(user)
			one.Stamp += stamp
			if !yield(i, one) {
				return
			}
		}
	}
}
