package distortion

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Errors are the errors of what the client measured of control streams: of a server in the
// client's own process that knows when it wrote each token. They are in no order, and
// never negative.
type Errors struct {
	TTFT, TPOT, ITL, E2E []time.Duration
}

// A Write is the time in which the control server wrote one token: the instants before and
// after the call. On a loopback connection the kernel has received the token between the
// two, so that an instant between them is right, and a late server is no error of the
// client.
type Write struct{ Before, After time.Time }

// error returns the distance of an instant from the write, negative before it. The instant
// counts from start.
func (w Write) error(at time.Duration, start time.Time) time.Duration {
	before, after := w.Before.Sub(start), w.After.Sub(start)
	return at - min(max(at, before), after)
}

// AddStream adds the errors of one control stream, of which s was measured. Instants of s
// count from start. Failed streams, streams that waited for a connection, and streams with
// another number of tokens than writes have no known errors and add nothing.
func (e *Errors) AddStream(s *sample.Sample, writes []Write, start time.Time) {
	if s.Outcome != sample.OK || len(writes) != s.Deltas || s.Connect > 0 {
		return
	}
	sending := max(0, s.Wrote-s.Start) // t0 may be too early by as much
	at, last := s.First, writes[0].error(s.First, start)
	e.TTFT = append(e.TTFT, last.Abs()+sending)
	first := last
	for i, gap := range s.Gaps {
		at += gap
		now := writes[i+1].error(at, start)
		e.ITL = append(e.ITL, (now - last).Abs())
		last = now
	}
	e.E2E = append(e.E2E, last.Abs()+sending)
	if n := s.Deltas - 1; n > 0 {
		e.TPOT = append(e.TPOT, (last-first).Abs()/time.Duration(n))
	}
}

// add adds the errors of another pass.
func (e *Errors) add(other Errors) {
	e.TTFT = append(e.TTFT, other.TTFT...)
	e.TPOT = append(e.TPOT, other.TPOT...)
	e.ITL = append(e.ITL, other.ITL...)
	e.E2E = append(e.E2E, other.E2E...)
}
