// Package memnet is a network in memory for tests with testing/synctest. The fake
// clock of a bubble does not advance while a goroutine waits for a socket, but it
// does while one waits for a connection of this package.
//
// The connections are net.Pipes, which have no buffer: a write returns when the other
// side has read the data. They have a method Pending, as llmbench.Target.Dial describes,
// by which a client knows whether it can use a connection for a further request.
package memnet

import (
	"context"
	"net"
	"sync"
)

// A Listener accepts the connections that its Dial makes. [Listen] makes one; in a
// test it is called in the bubble that uses the listener.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns an open listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener and ignores the network and the address. It waits
// until the listener accepts. The error is [net.ErrClosed] if the listener is closed,
// or the error of ctx.
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
