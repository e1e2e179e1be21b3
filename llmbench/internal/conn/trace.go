package conn

import "time"

// A Trace holds what the connections of one request record about the request. All instants are times since
// the start of Clock; 0 means that the event did not happen. Only the goroutine that sends the request uses
// a Trace, with one exception: until the body of the response is closed, another goroutine may set Written.
type Trace struct {
	Clock     Clock
	Connect   time.Duration // how long the request waited for its connection to open
	Begun     bool          // the first byte was about to be written
	Sent      time.Duration // when this was, on the first connection
	SentBy    time.Duration // the latest instant at which the kernel can have sent the first byte
	Written   time.Duration // when the last byte of the request had been written
	FirstByte Arrival       // the first byte of the response
	Attempts  int           // number of connections on which the request was sent
	Unread    bool          // the request had reached the server before it was sent again

	conn      *Conn // the last of these connections
	reordered int64 // out-of-order segments of conn before the request
}

// attach records that the request is now sent on c.
func (t *Trace) attach(c *Conn) {
	t.conn, t.reordered, t.Written = c, 0, 0
	c.batch = batch{}
	t.reordered = c.reorderedSegments()
	if c.kernel != nil {
		c.kernel.mark()
	}
	t.Attempts++
	c.request, c.wroteBefore = t, c.wrote.Load()
	c.newest.Store(0)
}

// share records that the request is now sent on a stream of c.
func (t *Trace) share(c *Conn) {
	t.conn, t.reordered, t.Written = c, c.reorderedSegments(), 0
	t.Attempts++
}

// now returns the current instant, which is never 0.
func (t *Trace) now() time.Duration { return max(1, t.Clock.Now()) }

// Reordered reports whether segments arrived out of order during the request. A segment may have to wait
// until an earlier one has been sent again, but the kernel keeps its timestamp. Its bytes would then seem
// to have arrived before the client could have read them. On a connection of HTTP/2, this concerns all of its streams.
func (t *Trace) Reordered() bool {
	return t.conn != nil && t.conn.reorderedSegments() != t.reordered
}
