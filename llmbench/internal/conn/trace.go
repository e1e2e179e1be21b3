package conn

import "time"

// A Trace is what the connections of one request record about it. All instants are
// times since the start of Clock; 0 means that the event did not happen. A Trace is
// used by the goroutine that sends the request. Written may be set by another
// goroutine until the body of the response is closed.
type Trace struct {
	Clock     Clock
	Connect   time.Duration // how long the request waited for its connection to open
	Begun     bool          // the first byte was about to be written
	Sent      time.Duration // when that was, for the first connection
	SentBy    time.Duration // the latest instant at which the kernel can have sent it
	Written   time.Duration // when the last byte of the request had been written
	FirstByte Arrival       // the first byte of the response
	Attempts  int           // how many connections the request was sent on
	Unread    bool          // the request had reached the server before it was sent again

	conn      *Conn // the last of them
	reordered int64 // out-of-order segments of conn before the request
}

// attach notes that the request is now sent on c.
func (t *Trace) attach(c *Conn) {
	t.conn, t.reordered, t.Written = c, 0, 0
	c.batch = batch{}
	t.reordered = c.reorderedSegments()
	if c.kernel != nil {
		c.kernel.mark()
	}
	t.Attempts++
	c.request, c.newest, c.wroteBefore = t, 0, c.wrote.Load()
}

// now returns the current instant, which is never 0.
func (t *Trace) now() time.Duration { return max(1, t.Clock.Now()) }

// Reordered reports whether segments arrived out of order during the request. The
// kernel keeps the timestamps of segments that had to wait for an earlier one to be
// sent again. Bytes that the client could not read before would then seem to have
// arrived before.
func (t *Trace) Reordered() bool {
	return t.conn != nil && t.conn.reorderedSegments() != t.reordered
}
