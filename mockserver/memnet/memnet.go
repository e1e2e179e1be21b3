// Package memnet is a network in memory: a listener whose connections are
// net.Pipes, so that client and server can run on the fake clock of a
// testing/synctest bubble, which sockets would stop.
//
// A pipe has no buffer: a write returns when the other side has read it.
package memnet

import (
	"context"
	"net"
	"sync"
)

// A Listener accepts the connections that its Dial makes. Its zero value is not
// ready: [Listen] makes one, in the bubble that it is for.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns an open listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the network and the address, as soon as
// it accepts. The error is [net.ErrClosed] once it is closed, or ctx's.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection, or until the listener is closed: then the error is
// [net.ErrClosed].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the listener, not the connections made. It may be called again.
func (l *Listener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

// Addr is no address that anything else could reach.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
