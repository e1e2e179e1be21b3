package mockserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen serves h, as a rule a [Server], on a TCP address such as "127.0.0.1:0"
// and returns its base URL, which has no slash at the end. It is an error that
// names the address if that cannot be listened on.
//
// The caller must call stop. It refuses further connections, gives the requests
// in flight up to grace to end, cuts off those that have not, stalled ones
// included, and returns when every handler has returned. What comes after a slow
// header ([fault.SlowHeader]) is not waited for. Only its first call does anything.
func Listen(addr string, h http.Handler) (url string, stop func(grace time.Duration), err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("mockserver: %w", err)
	}
	return "http://" + ln.Addr().String(), serve(ln, h), nil
}

// serve is Listen on a listener.
func serve(ln net.Listener, h http.Handler) (stop func(grace time.Duration)) {
	var open sync.WaitGroup                                 // connections, and handlers: a hijacked connection ends before its handler
	ctx, cancel := context.WithCancel(context.Background()) // of handlers that have taken their connection over
	srv := &http.Server{
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, wireKey{}, c) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			open.Add(1)
			defer open.Done()
			h.ServeHTTP(w, r)
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed, http.StateHijacked:
				open.Done()
			}
		},
		ReadHeaderTimeout: time.Minute, // a client may open its connections well before it uses them
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(wires{ln}) // returns when it is closed
	}()
	var once sync.Once
	return func(grace time.Duration) {
		once.Do(func() {
			if grace > 0 {
				ctx, cancel := context.WithTimeout(context.Background(), grace)
				srv.Shutdown(ctx)
				cancel()
			}
			srv.Close()
			<-served
			srv.Close() // a connection accepted during the first Close is not closed by it
			cancel()    // not before: what its handler says then must reach nobody
			open.Wait()
		})
	}
}

// wires is a listener whose connections are [wire]s.
type wires struct{ net.Listener }

func (l wires) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wire{Conn: c}, nil
}

// A wire is a connection that tells when something is really written: what net/http
// does before that is not the time of what is sent.
type wire struct {
	net.Conn
	next *exchange // that is told of the next write, or nil
}

// wireKey is the context key of a request's *wire, if it has one.
type wireKey struct{}

func (c *wire) Write(p []byte) (int, error) {
	if x := c.next; x != nil {
		c.next = nil
		x.sent()
	}
	return c.Conn.Write(p)
}

// CloseWrite is what net/http asks a connection for, so that a client which still
// writes can read what was answered.
func (c *wire) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
