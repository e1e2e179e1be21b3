package mockserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// TB is the part of [testing.TB] that [Start] needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// Start starts a server on a free loopback port for a test or a benchmark, and returns the server and its base
// URL, without a slash at the end. The server is stopped when tb ends; requests in flight are then cut off. If cfg
// is wrong or there is no free port, tb fails.
func Start(tb TB, cfg Config) (srv *Server, url string) {
	tb.Helper()
	srv, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	url, stop, err := Listen("127.0.0.1:0", srv)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(0) })
	return srv, url
}

// Listen serves h, usually a [Server], on a TCP address such as "127.0.0.1:0". Clients may speak HTTP/1.1, and HTTP/2
// without TLS and with prior knowledge (h2c); with HTTP/2, faults that end a connection end the stream instead, and the
// fault [fault.SlowHeader] has no effect. Listen
// returns the base URL, without a slash at the end, and a function that stops the
// server. The error names the address.
//
// The caller must call stop. stop refuses new connections, waits up to grace for the
// requests in flight, closes the connections of the remaining requests and returns when
// every handler has returned. Requests with the fault [fault.SlowHeader] are cut off as soon
// as no other request is in flight. Further calls do nothing.
func Listen(addr string, h http.Handler) (url string, stop func(grace time.Duration), err error) {
	return ListenTLS(addr, h, nil)
}

// ListenTLS is like [Listen], with TLS if config is not nil. Clients may speak HTTP/1.1 and HTTP/2 (h2), whatever
// NextProtos of config says.
func ListenTLS(addr string, h http.Handler, config *tls.Config) (url string, stop func(grace time.Duration), err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("mockserver: %w", err)
	}
	ln = stamped(ln)
	scheme := "http"
	if config != nil {
		scheme, config = "https", config.Clone()
		config.NextProtos = []string{"h2", "http/1.1"}
		ln = tls.NewListener(ln, config)
	}
	return scheme + "://" + ln.Addr().String(), serve(ln, h), nil
}

// serve serves h on a listener. Listen describes stop.
func serve(ln net.Listener, h http.Handler) (stop func(grace time.Duration)) {
	// A hijacked connection leaves net/http before its handler returns, so both
	// connections and handlers count as open.
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background()) // ends the handlers of hijacked connections
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // net/http does not see TLS, which is below the listener's connections
	srv := &http.Server{
		Protocols:   &protocols,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
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
		srv.Serve(sendListener{ln})
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
			srv.Close() // closes a connection that was accepted during the first Close
			cancel()    // last, so that no client sees what the handlers write after it
			open.Wait()
		})
	}
}

// A sendListener is a listener whose connections are [sendConn]s.
type sendListener struct{ net.Listener }

func (l sendListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &sendConn{Conn: c}, nil
}
