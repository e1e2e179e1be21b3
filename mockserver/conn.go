package mockserver

import (
	"errors"
	"net"
	"net/http"
)

// A sendConn is a connection that reports a write just before it happens, and its end. Without
// it the log would have the instant before net/http formats and buffers the data.
type sendConn struct {
	net.Conn
	observer observer // of the next write, nil for none
}

// An observer is told about a write.
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

// CloseWrite closes the sending side if the connection can. net/http uses it so
// that a client which is still sending can read the answer.
func (c *sendConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// hangUp closes the connection under an answer, so that the client sees a body
// without its end: by a TCP reset, or with FIN.
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
