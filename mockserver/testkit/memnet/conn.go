package memnet

import (
	"io"
	"net"
	"sync/atomic"
)

// A conn is one end of a connection.
type conn struct {
	net.Conn
	in, out *direction // what this end reads and writes
}

// A direction is the state of one direction of a connection.
type direction struct {
	unread atomic.Int64 // number of bytes that are being written and have not been read
	closed atomic.Bool  // the writing end is closed
}

// pipe returns both ends of a connection.
func pipe() (client, server net.Conn) {
	a, b := net.Pipe()
	var up, down direction
	return &conn{a, &down, &up}, &conn{b, &up, &down}
}

// Read reads what the other end writes.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.in.unread.Add(-int64(n))
	return n, err
}

// Write returns when the other end has read all of p, or on an error.
func (c *conn) Write(p []byte) (int, error) {
	c.out.unread.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.out.unread.Add(int64(n - len(p)))
	return n, err
}

// Close closes this end. The other end reads [io.EOF].
func (c *conn) Close() error {
	c.out.closed.Store(true)
	return c.Conn.Close()
}

// Pending reports whether the other end is writing bytes that have not been read. The
// error is [net.ErrClosed] if this end is closed, and [io.EOF] if the other end is.
func (c *conn) Pending() (waiting bool, err error) {
	switch {
	case c.out.closed.Load():
		return false, net.ErrClosed
	case c.in.closed.Load():
		return false, io.EOF
	}
	return c.in.unread.Load() > 0, nil
}
