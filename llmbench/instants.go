package llmbench

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// instants are what net/http and the connection tell of a request's way. Its
// hooks run in goroutines of the transport, and twice when a request is sent
// again.
type instants struct {
	clock              clock
	dialer             *dialer
	asked, connected   atomic.Int64 // for a connection, and when it had waited for one; 0: it had not
	dialed             atomic.Int64 // how many dials had ended when it asked
	ready              atomic.Bool  // its dial took a connection that was opened before
	written, firstByte atomic.Int64
	sent               atomic.Int64 // and one, as it may be at 0
	firstStamp         atomic.Int64 // the kernel's, of the first byte
	conns              atomic.Int64 // connections it was sent on
	conn               atomic.Pointer[conn]
	strays             atomic.Int64 // of the connection when it got it
}

// instantsKey is the context key of a request's *instants, for the dialer.
type instantsKey struct{}

// follow returns a context whose request is followed.
func (i *instants) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(context.WithValue(ctx, instantsKey{}, i), &httptrace.ClientTrace{
		GetConn: func(string) {
			i.ready.Store(false)
			i.connected.Store(0)
			i.asked.Store(i.stamp())
			i.dialed.Store(i.dialer.ended.Load())
		},
		GotConn: func(info httptrace.GotConnInfo) {
			i.conns.Add(1)
			// Nothing was idle, and some connection was being opened: what it waited
			// is not only for a CPU.
			if !info.WasIdle && i.dialer.begun.Load() > i.dialed.Load() {
				i.connected.Store(i.stamp())
			}
			c := connOf(info.Conn)
			if c != nil {
				c.rider.Store(i)
				c.newest.Store(0)
				i.strays.Store(c.countStrays())
			}
			i.conn.Store(c)
		},
		GotFirstResponseByte: func() {
			i.firstByte.Store(i.stamp())
			if c := i.conn.Load(); c != nil {
				i.firstStamp.Store(c.stamp.Load())
			}
		},
	})
}

// stamp is the instant, never 0.
func (i *instants) stamp() int64 { return max(1, int64(i.clock.now())) }

// connect is how long the request waited for a connection: until its own was open,
// or another's that net/http gave it because that was free before.
func (i *instants) connect() time.Duration {
	from, to := i.asked.Load(), i.connected.Load()
	if to == 0 || i.ready.Load() {
		return 0
	}
	return time.Duration(to - from)
}

// disordered tells that segments came out of their order meanwhile. The kernel keeps
// the stamps of those that had to wait for another to be sent again, so that what
// the client could not have before would seem to have come before.
func (i *instants) disordered() bool {
	c := i.conn.Load()
	return c != nil && c.countStrays() != i.strays.Load()
}

// first is when the first byte of the answer was read.
func (i *instants) first() read { return read{time.Duration(i.firstByte.Load()), i.firstStamp.Load()} }

// send is when the first byte of the request was written; 0 if none was.
func (i *instants) send() time.Duration { return time.Duration(max(0, i.sent.Load()-1)) }

func (i *instants) wrote() time.Duration { return time.Duration(i.written.Load()) }
