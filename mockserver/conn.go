package mockserver

import (
	"errors"
	"net"
	"net/http"
)

// A sendConn is a connection that calls an observer just before and just after a write to the
// network. Without a sendConn, the times in the log would be too early: net/http formats and
// buffers data before it writes.
type sendConn struct {
	net.Conn
	observer observer // called for the next write; nil if there is none
}

// An observer is called before and after a write.
type observer interface {
	writing() // just before the write
	wrote()   // as soon as the write has returned
}

// connKey is the context key of a request's *sendConn.
type connKey struct{}

func (c *sendConn) Write(p []byte) (int, error) {
	o := c.observer
	if o == nil {
		return c.Conn.Write(p)
	}
	c.observer = nil
	o.writing()
	defer o.wrote()
	return c.Conn.Write(p)
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
// reset is true and with a FIN otherwise.
func hangUp(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection itself
	}
	if c, ok := conn.(*sendConn); ok {
		conn = c.Conn
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}
