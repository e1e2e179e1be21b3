package llmbench

import (
	"context"
	"time"
)

// instants are what the connection tells of a request's way; 0 is none. They are of
// the request's goroutine.
type instants struct {
	clock      clock
	connect    time.Duration // how long it waited for its connection to open
	begun      bool          // its first byte was about to be written
	sent       time.Duration // when that was, for the first time
	written    time.Duration // when its last byte was
	firstByte  time.Duration // when the first byte of the answer was read
	firstStamp int64         // the kernel's, of that
	conns      int           // connections it was sent on
	conn       *conn         // the last of them
	strays     int64         // of that when it got it
}

// instantsKey is the context key of a request's *instants, for the pool.
type instantsKey struct{}

// follow returns a context whose request is followed.
func (i *instants) follow(ctx context.Context) context.Context {
	return context.WithValue(ctx, instantsKey{}, i)
}

// on tells which connection the request is sent on, for the first time or again.
func (i *instants) on(c *conn) {
	i.conn, i.strays, i.written = c, c.countStrays(), 0
	i.conns++
	c.rider, c.newest = i, 0
}

// stamp is the instant, never 0.
func (i *instants) stamp() time.Duration { return max(1, i.clock.now()) }

// disordered tells that segments came out of their order meanwhile. The kernel keeps
// the stamps of those that had to wait for another to be sent again, so that what
// the client could not have before would seem to have come before.
func (i *instants) disordered() bool {
	return i.conn != nil && i.conn.countStrays() != i.strays
}

// first is when the first byte of the answer was read.
func (i *instants) first() read { return read{i.firstByte, i.firstStamp} }
