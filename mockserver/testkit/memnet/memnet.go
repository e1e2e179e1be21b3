// Package memnet is a network in memory for tests with testing/synctest. In a bubble, the
// fake clock stands still while a goroutine waits for a socket. It advances while
// goroutines wait for connections of this package.
//
// The connections are net.Pipes, which have no buffer: a write returns when the other
// side has read the data. They have the method Pending, which llmbench.Target.Dial
// describes. With it, a client finds out whether it can use the connection for another
// request.
package memnet

import (
	"context"
	"net"
	"sync"
)

// A Listener accepts the connections that its Dial method makes. [Listen] returns a new
// Listener. A test must call Listen inside the bubble that uses the listener.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns an open listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener. It ignores the network and the address, and waits until
// the listener accepts the connection. The error is [net.ErrClosed] if the listener is
// closed, or the error of ctx.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection. The error is [net.ErrClosed] if the listener is
// closed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the listener but not its connections. Further calls do nothing.
func (l *Listener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

// Addr returns the address "memory".
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
