package mockserver

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// A sendConn is a connection that calls an observer just before and just after a write to the
// network. Without a sendConn, the times in the log would be too early: net/http formats and
// buffers data before it writes. With TLS, a sendConn is above the TLS connection.
type sendConn struct {
	net.Conn
	observer observer            // called for the next write; nil if there is none
	tap      atomic.Pointer[tap] // not nil if the client speaks HTTP/2; it then has the observers
	preface  int                 // number of bytes of HTTP/2's preface that the client has sent; -1 if it has sent something else
}

// Read also looks whether the client speaks HTTP/2, and then at its frames.
func (c *sendConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	p = p[:n]
	for ; len(p) > 0 && c.preface >= 0 && c.preface < len(http2.ClientPreface); p = p[1:] {
		if p[0] != http2.ClientPreface[c.preface] {
			c.preface = -1
			break
		}
		if c.preface++; c.preface == len(http2.ClientPreface) {
			c.tap.Store(newTap())
		}
	}
	if t := c.tap.Load(); t != nil {
		t.read(p)
	}
	return n, err
}

// An observer is called before and after a write.
type observer interface {
	writing() // just before the write
	wrote()   // as soon as the write has returned
}

// connKey is the context key of a request's *sendConn.
type connKey struct{}

func (c *sendConn) Write(p []byte) (int, error) {
	if t := c.tap.Load(); t != nil {
		return t.write(c.Conn, p)
	}
	o := c.observer
	if o == nil {
		return c.Conn.Write(p)
	}
	c.observer = nil
	o.writing()
	defer o.wrote()
	return c.Conn.Write(p)
}

// network returns the connection to the network of which a server has made c. It is below TLS.
func network(c net.Conn) net.Conn {
	if s, ok := c.(*sendConn); ok {
		c = s.Conn
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c
}

// CloseWrite closes the sending side of the connection if the connection supports that.
// net/http calls CloseWrite so that a client that is still sending can read the answer.
func (c *sendConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// hangUp closes the client's connection before the body has ended, with a TCP reset if
// reset is true and with a FIN otherwise. With HTTP/2, it resets the stream instead.
func hangUp(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection itself, or resets the stream
	}
	conn = network(conn)
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}
