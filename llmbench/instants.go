package llmbench

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// instants are what net/http tells of a request's way. Its hooks run in
// goroutines of the transport, and twice when a request is sent again.
type instants struct {
	clock                                  clock
	dialing, connected, written, firstByte atomic.Int64
	conns                                  atomic.Int64 // connections it was sent on
}

// instantsKey is the context key of a request's *instants, for the dialer.
type instantsKey struct{}

// follow returns a context whose request is followed.
func (i *instants) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(context.WithValue(ctx, instantsKey{}, i), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			i.conns.Add(1)
			if !info.Reused {
				i.connected.Store(i.stamp())
			}
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				i.written.Store(i.stamp())
			}
		},
		GotFirstResponseByte: func() { i.firstByte.Store(i.stamp()) },
	})
}

// stamp is the instant, never 0.
func (i *instants) stamp() int64 { return max(1, int64(i.clock.now())) }

// connect is how long the connection that the request was sent on took to open.
func (i *instants) connect() time.Duration {
	from, to := i.dialing.Load(), i.connected.Load()
	if from == 0 || to < from {
		return 0
	}
	return time.Duration(to - from)
}

func (i *instants) wrote() time.Duration { return time.Duration(i.written.Load()) }
func (i *instants) first() time.Duration { return time.Duration(i.firstByte.Load()) }
