package conn

import (
	"encoding/binary"
	"iter"
	"time"
)

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
