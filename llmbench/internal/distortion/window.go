package distortion

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// window is the number of unread deltas from which on a server may wait. A TCP server sends ten segments
// at first without an acknowledgment (https://www.rfc-editor.org/rfc/rfc6928), of which two may
// be the head of the answer and an event without text.
const window = 8

// backlog is how soon after the client has read a delta that was held back the next one comes, if that was held
// back, too.
const backlog = 100 * time.Microsecond

// heldBack ranges over the deltas of s that the kernel of the server may have held back: those after delta
// free, which nothing held back, up to delta last. A client that does not read does not acknowledge
// segments soon either. So the server sends a window of them, and waits until the client reads. A
// delta that came while a window of others was unread may have been ready when the delta
// before came. So may the deltas that come as soon as the client reads what was held back: the
// server had more to send than a window.
func heldBack(s *sample.Sample) iter.Seq2[int, int] {
	return func(yield func(free, last int) bool) {
		n := s.Deltas
		if n <= window || len(s.Lags) < n || len(s.Gaps) < n-1 {
			return
		}
		at, unread := s.First, s.First // of delta j, and of the first delta that was unread then
		first, free := 0, 0            // that delta, and the last one that nothing held back
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

// release makes the deltas after delta free, up to delta last, earlier, which the server may have held
// back. It is likely that the server was as regular as ever.
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
