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

// AddStream adds the errors of one control stream. The sample s is what the client measured; its instants
// count from start and are on the user clock. The control server had written each token at the instants written. On a
// loopback connection, the kernel receives a token during the write. So an instant before the write ended is
// correct, and a late server does not count as an error of the client. AddStream ignores a failed stream, and a stream
// with another number of tokens, because their errors are unknown.
func (e *Errors) AddStream(s *sample.Sample, written []time.Time, start time.Time) {
	if s.Outcome != sample.OK || len(written) != s.Deltas {
		return
	}
	e.Streams++
	late := func(i int, at time.Duration) { e.Late = append(e.Late, max(0, at-written[i].Sub(start))) }
	at := s.First
	late(0, at)
	for i, gap := range s.Gaps {
		at += gap
		late(i+1, at)
	}
}
