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
	runID     string        // prefix of the request IDs
	ordinal   atomic.Int64  // of the last request sent
	ended     atomic.Int64  // how many requests have ended, for progress
	control   *control      // or nil
	flight    *flight       // of the pass
	wall      func() int64  // the wall clock
	clockSet  time.Duration // by how much the wall clock was set in the last pass: 0, or no stamp of it counts
	gap       time.Duration // the median between deltas in the warm-up; 0: unknown
	idles     idles         // of the last pass
	offs      offs          // of it: the control's errors; none if clockSet is not 0
	strain    strain        // of it
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
		ReadBufferSize:        4 << 10, // a stream that waits holds it
		ResponseHeaderTimeout: 0,       // a queued request may get its head late
	}
	return &client{
		target:    t,
		base:      base,
		transport: tr,
		close:     func() { tr.CloseIdleConnections(); d.drop() },
		dialer:    d,
		wall:      wallClock,
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

	begun, ended atomic.Int64 // dials of requests, which found nothing ready

	mu    sync.Mutex
	ready []*conn       // opened and not yet asked for
	since time.Time     // when the last of them was
	ramp  time.Duration // until a pass has asked for all
	open  int           // all that are not closed
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

// keepRamp is how much longer they are kept for workers that begin one after the
// other: servers that close after 5 seconds are common, after fewer are not.
const keepRamp = 3 * time.Second

// DialContext hands out a connection that was opened before, and tells the instants
// of the request that asked, or opens one.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if addr == d.addr {
		if d.stale() {
			d.drop()
		}
		if c := d.take(); c != nil {
			if seen, ok := ctx.Value(instantsKey{}).(*instants); ok {
				seen.ready.Store(true)
			}
			return c.top, nil
		}
	}
	d.begun.Add(1)
	defer d.ended.Add(1)
	c, err := d.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c.top, nil
}

// stale reports whether the connections that are ready have waited too long.
func (d *dialer) stale() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.since) >= keepReady+min(d.ramp, keepRamp)
}

// take removes a connection from those that are ready, or returns nil.
func (d *dialer) take() *conn {
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

func (d *dialer) connect(ctx context.Context, network, addr string) (*conn, error) {
	raw, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.open++
	d.mu.Unlock()
	c := &conn{Conn: raw, kernel: stamped(raw), dialer: d}
	c.top = c
	if c.kernel != nil {
		c.strays = c.kernel.strays
	}
	if d.tls && addr == d.addr {
		host, _, _ := net.SplitHostPort(addr)
		secure := tls.Client(c, &tls.Config{ServerName: host, RootCAs: d.roots, NextProtos: []string{"http/1.1"}})
		if err := secure.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		c.top = secure
	}
	return c, nil
}

// prepare opens connections until n are open, which will be asked for within ramp.
// What cannot be opened now will be tried again by the request that needs it.
func (d *dialer) prepare(ctx context.Context, n int, ramp time.Duration) {
	d.mu.Lock()
	d.ramp = ramp
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

// opened is how many connections are open.
func (d *dialer) opened() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// drop closes the connections that nobody asked for.
func (d *dialer) drop() {
	for c := d.take(); c != nil; c = d.take() {
		c.top.Close()
	}
}
