package distortion

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// If window or more deltas are unread, a server may be waiting for the client. A TCP server first sends ten
// segments without an acknowledgment (https://www.rfc-editor.org/rfc/rfc6928). Two of these may be the head
// of the answer and an event without text.
const window = 8

// backlog is a limit. If the client reads a delta that the server's kernel had held back, and the next delta
// arrives within this time, the next delta counts as held back, too.
const backlog = 100 * time.Microsecond

// heldBack yields the ranges of deltas of s that the server's kernel may have held back: the deltas after
// delta free, up to delta last. Delta free itself was not held back. A client that does not read does not
// acknowledge segments soon either. So the server sends a window of segments, and then waits until the
// client reads. If a delta came while a window of other deltas was unread, it may have been ready when the
// delta before it came. The same is true of deltas that came as soon as the client had read deltas that
// were held back: the server had more to send than a window.
func heldBack(s *sample.Sample) iter.Seq2[int, int] {
	return func(yield func(free, last int) bool) {
		n := s.Deltas
		if n <= window || len(s.Lags) < n || len(s.Gaps) < n-1 {
			return
		}
		at, unread := s.First, s.First // instants of delta j, and of the first delta that was unread at the instant of j
		first, free := 0, 0            // the first unread delta, and the last delta that was not held back
		var read time.Duration         // when the last delta that was held back was read
		for j := 1; j < n; j++ {
			at += s.Gaps[j-1]
			for first < j && unread+s.Lags[first] <= at {
				unread += s.Gaps[first]
				first++
			}
			if j-first >= window || free < j-1 && at-read < backlog {
				read = at + s.Lags[j]
				continue
			}
			if free < j-1 && !yield(free, j-1) {
				return
			}
			free = j
		}
		if free < n-1 {
			yield(free, n-1)
		}
	}
}

// release corrects the deltas after delta free, up to delta last, which the server may have held back. In
// the way likely, it assumes that the server sent them at regular intervals. In other ways, it makes them
// as early as delta free.
func (c *corrector) release(free, last int) {
	from, to := c.at[free], c.at[last]
	for i := free + 1; i <= last; i++ {
		switch {
		case c.way == likely:
			c.at[i] = min(c.at[i], from+(to-from)*time.Duration(i-free)/time.Duration(last-free))
		case c.way == earliest || c.way == heldEarliest || c.way == lastEarliest && i == len(c.at)-1:
			c.at[i] = min(c.at[i], from)
		}
	}
}
