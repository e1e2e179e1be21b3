package llmbench

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A client holds the connections to one target. Its transport keeps every
// connection for reuse whatever the concurrency, asks for no compression, and
// follows no redirects. HTTP/1.1 is spoken, so that a stream has a connection
// of its own.
type client struct {
	target    Target
	base      string // the target's URL without a trailing slash
	transport http.RoundTripper
	close     func()
	dialer    *dialer
	runID     string       // prefix of the request IDs
	ordinal   atomic.Int64 // of the last request sent
	ended     atomic.Int64 // how many requests have ended, for progress
}

// newClient returns a client that opens at most conns connections at a time; 0 is
// no limit.
func newClient(t Target, conns int) (*client, error) {
	base, err := t.base()
	if err != nil {
		return nil, err
	}
	t.Header = canonical(t.Header)
	proxy := http.ProxyFromEnvironment
	if t.NoProxy {
		proxy = nil
	}
	d := &dialer{dial: t.Dial, addr: directAddr(base, proxy), tls: strings.HasPrefix(base, "https:")}
	if d.dial == nil {
		d.dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	tr := &http.Transport{
		Proxy:                 proxy,
		DialContext:           d.DialContext,
		DialTLSContext:        d.DialContext, // for https without a proxy
		DisableCompression:    true,
		MaxIdleConns:          0, // no limit
		MaxIdleConnsPerHost:   1 << 20,
		MaxConnsPerHost:       conns, // or a worker that waits for a dial may take another's
		IdleConnTimeout:       5 * time.Minute,
		TLSHandshakeTimeout:   30 * time.Second,
		ReadBufferSize:        16 << 10,
		ResponseHeaderTimeout: 0, // a queued request may get its head late
	}
	return &client{
		target:    t,
		base:      base,
		transport: tr,
		close:     func() { tr.CloseIdleConnections(); d.drop() },
		dialer:    d,
		runID:     fmt.Sprintf("llmbench-%08x", rand.Uint32()),
	}, nil
}

// canonical returns a copy of h whose names are in canonical form.
func canonical(h http.Header) http.Header {
	c := http.Header{}
	for name, values := range h {
		for _, v := range values {
			c.Add(name, v)
		}
	}
	return c
}

// A dialer opens connections and knows how many are open, so that those a pass
// will need can be opened before it.
type dialer struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
	addr string // host:port of the target; "" when a proxy is asked instead
	// tls tells to speak TLS with addr, trusting roots (nil: the system's).
	tls   bool
	roots *x509.CertPool

	mu    sync.Mutex
	ready []*countedConn // opened and not yet asked for
	since time.Time      // when the last of them was
	open  int            // all that are not closed
}

// directAddr returns the host:port of a base URL, or "" when requests to it go
// through a proxy; a nil one is none.
func directAddr(base string, proxy func(*http.Request) (*url.URL, error)) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	if proxy != nil {
		if through, err := proxy(&http.Request{URL: u}); through != nil || err != nil {
			return ""
		}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// keepReady is how long a connection opened ahead is good for. Servers close
// those on which nothing comes, some after a few seconds, and a request that
// met such a one would look like a failure of the server.
const keepReady = time.Second

// DialContext hands out a connection that was opened before, or opens one, in
// which case it tells the instants of the request that asked.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if addr == d.addr {
		if d.stale() {
			d.drop()
		}
		if c := d.take(); c != nil {
			return c.conn, nil
		}
	}
	if seen, ok := ctx.Value(instantsKey{}).(*instants); ok {
		seen.dialing.CompareAndSwap(0, seen.stamp())
	}
	c, err := d.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c.conn, nil
}

// stale reports whether the connections that are ready have waited too long.
func (d *dialer) stale() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.since) >= keepReady
}

// take removes a connection from those that are ready, or returns nil.
func (d *dialer) take() *countedConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.ready)
	if n == 0 {
		return nil
	}
	c := d.ready[n-1]
	d.ready = d.ready[:n-1]
	return c
}

func (d *dialer) connect(ctx context.Context, network, addr string) (*countedConn, error) {
	raw, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.open++
	d.mu.Unlock()
	c := &countedConn{Conn: raw, dialer: d}
	c.conn = c
	if d.tls && addr == d.addr {
		host, _, _ := net.SplitHostPort(addr)
		secure := tls.Client(c, &tls.Config{ServerName: host, RootCAs: d.roots, NextProtos: []string{"http/1.1"}})
		if err := secure.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		c.conn = secure
	}
	return c, nil
}

// prepare opens connections until n are open. What cannot be opened now will be
// tried again by the request that needs it.
func (d *dialer) prepare(ctx context.Context, n int) {
	d.mu.Lock()
	missing := n - d.open
	d.mu.Unlock()
	if d.addr == "" {
		return
	}
	var wg sync.WaitGroup
	for range missing {
		wg.Go(func() {
			if c, err := d.connect(ctx, "tcp", d.addr); err == nil {
				d.mu.Lock()
				d.ready = append(d.ready, c)
				d.mu.Unlock()
			}
		})
	}
	wg.Wait()
	d.mu.Lock()
	d.since = time.Now()
	d.mu.Unlock()
}

// drop closes the connections that nobody asked for.
func (d *dialer) drop() {
	for c := d.take(); c != nil; c = d.take() {
		c.conn.Close()
	}
}

// countedConn tells its dialer when it is closed.
type countedConn struct {
	net.Conn
	conn   net.Conn // itself, or TLS on top of it
	dialer *dialer
	once   sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() {
		c.dialer.mu.Lock()
		c.dialer.open--
		c.dialer.mu.Unlock()
	})
	return c.Conn.Close()
}
