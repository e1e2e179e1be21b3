package distortion

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Errors says how late the client read the tokens of control streams. The server of a control stream is in
// the client's own process, and knows when it wrote each token. Errors is needed if the kernel provides no
// timestamps.
type Errors struct {
	Streams int
	Late    []time.Duration // for each token, in any order; never negative
}

// A Write is the period in which the control server wrote one token: the instants before and after the
// call. On a loopback connection, the kernel receives the token in this period. So an instant in this
// period is correct, and a late server does not count as an error of the client.
type Write struct{ Before, After time.Time }

// late returns by how much the instant at is after the write. The instant counts from start.
func (w Write) late(at time.Duration, start time.Time) time.Duration {
	return max(0, at-w.After.Sub(start))
}

// AddStream adds the errors of one control stream. The sample s is what the client measured; its instants
// count from start and are on the user clock. AddStream ignores a failed stream, and a stream whose number
// of tokens is not the number of writes, because their errors are unknown.
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
