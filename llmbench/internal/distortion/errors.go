package distortion

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Errors are how late the client read the tokens of control streams: of a server in the
// client's own process that knows when it wrote each token. They are needed where the kernel
// gives no timestamps.
type Errors struct {
	Streams int
	Late    []time.Duration // of each token, in no order; never negative
}

// A Write is the time in which the control server wrote one token: the instants before and
// after the call. On a loopback connection the kernel has received the token between the
// two, so that an instant between them is right, and a late server is no error of the
// client.
type Write struct{ Before, After time.Time }

// late returns by how much an instant is after the write. The instant counts from start.
func (w Write) late(at time.Duration, start time.Time) time.Duration {
	return max(0, at-w.After.Sub(start))
}

// AddStream adds the errors of one control stream, of which s was measured. Instants of s
// count from start, and are on the user clock. Failed streams, and streams with another
// number of tokens than writes, have no known errors and add nothing.
func (e *Errors) AddStream(s *sample.Sample, writes []Write, start time.Time) {
	if s.Outcome != sample.OK || len(writes) != s.Deltas {
		return
	}
	e.Streams++
	at := s.First
	e.Late = append(e.Late, writes[0].late(at, start))
	for i, gap := range s.Gaps {
		at += gap
		e.Late = append(e.Late, writes[i+1].late(at, start))
	}
}
