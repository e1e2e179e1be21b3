package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Pool holds the connections to one server. It sends requests over them: with HTTP/1.1 one at a time on each
// connection, and with HTTP/2 as many at a time as the server allows. It is safe for concurrent use.
type Pool struct {
	dialer *dialer
	muxes  *muxes // the connections of HTTP/2; nil for HTTP/1.1, for which the fields below are

	mu    sync.Mutex
	idle  []*Conn // in the order of their last use
	open  int     // number of connections that are not closed
	trial *Conn   // connection on trial, or nil; see try

	// If ended is larger than kept, the server does not keep connections.
	kept   atomic.Int64 // number of answers on connections that had been used before
	strays atomic.Int64 // number of connections on which an answer came without a request
	ended  atomic.Int64 // number of connections that the server closed soon after an answer
}

// Options say how a [Pool] connects to its server.
type Options struct {
	// URL is the server's base URL, with the scheme http or https.
	URL string
	// Socket is the path of the server's Unix socket; "" means TCP. A server with a socket is reached
	// without a proxy.
	Socket string
	// Dial opens a connection; nil means a network connection.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Proxy is the proxy to the server; nil means none. [KnownProxy] must return true for it.
	Proxy *url.URL
	// TLS configures connections to servers that speak TLS; nil means the default.
	TLS *tls.Config
	// HTTP2 sends requests over HTTP/2: over TLS if the server speaks TLS, and otherwise with prior knowledge (RFC
	// 9113, 3.3). A request uses the oldest connection on which the server allows a further stream
	// (SETTINGS_MAX_CONCURRENT_STREAMS, or 1000 if the server states no limit), and a new connection if there is
	// none. So streams share connections, as in the HTTP/2 clients of net/http and of SDKs.
	HTTP2 bool
}

// NewPool returns a pool without connections. It fails if the URL cannot be parsed.
func NewPool(o Options) (*Pool, error) {
	d, err := newDialer(o)
	if err != nil {
		return nil, err
	}
	p := &Pool{dialer: d}
	if o.HTTP2 {
		p.muxes = &muxes{connect: p.connect}
	}
	return p, nil
}

// Send sends req, and returns when the head of its response has been read. It records the request's steps
// in t. The caller must close the body. The connection is used again only if the caller also reads the body
// to its end.
//
// A server may close a kept-alive connection at the same time at which a request is sent. Send therefore
// sends some requests again, once, on a new connection. These are requests that got no byte of a response
// on a connection that had been used before, if the request did not reach the server, or if the server
// closed the connection too soon to have processed the request; see [ending.loss]. Any other request
// without a response fails, because the server may have processed it.
//
// With HTTP/2, Send sends a request again if the server says that it has not processed it; see [muxes.send].
func (p *Pool) Send(req *http.Request, t *Trace) (*http.Response, error) {
	if p.muxes != nil {
		return p.muxes.send(req, t)
	}
	ctx := req.Context()
	if p.dialer.forwards() {
		if auth := proxyAuth(p.dialer.proxy); auth != "" {
			req.Header.Set("Proxy-Authorization", auth)
		}
	}
	c, err := p.get(ctx, t)
	if err != nil {
		return nil, err
	}
	resp, err := c.exchange(req, t)
	switch {
	case !c.used:
		return resp, err
	case err == nil:
		p.kept.Add(1)
		return resp, nil
	case t.FirstByte.User != 0 || ctx.Err() != nil:
		return nil, err
	}
	l := c.ending.loss(p.kept.Load() > 0)
	if l == worked {
		return nil, err
	}
	t.Unread = l == unread
	p.noteEnd(c.ending.afterAnswer)
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	if c, err = p.connectFor(ctx, t); err != nil {
		return nil, err
	}
	return c.exchange(req, t)
}

// get returns an idle connection, or opens one.
func (p *Pool) get(ctx context.Context, t *Trace) (*Conn, error) {
	for c := p.take(); c != nil; c = p.take() {
		if !p.unusable(c) {
			return c, nil
		}
		c.stream.Close()
	}
	return p.connectFor(ctx, t)
}

// connectFor opens a connection for a waiting request, and records the time in t.
func (p *Pool) connectFor(ctx context.Context, t *Trace) (*Conn, error) {
	before := t.Clock.Now()
	var c *Conn
	var err error
	Apart(func() { c, err = p.connect(ctx) })
	if err == nil {
		t.Connect = t.Clock.Now() - before
	}
	return c, err
}

// connect opens a connection.
func (p *Pool) connect(ctx context.Context) (*Conn, error) {
	return p.dialer.open(ctx, func(raw net.Conn, opening time.Duration) *Conn {
		p.mu.Lock()
		p.open++
		p.mu.Unlock()
		c := newConn(raw, opening, func() {
			p.mu.Lock()
			p.open--
			p.mu.Unlock()
		})
		c.release, c.stray = p.put, func() { p.strays.Add(1) }
		return c
	})
}

// Refuses reports whether nothing listens at the server's address, so that a new connection is refused. It returns false
// if that is unknown, as behind a proxy, or if one of several addresses of a name does not answer: localhost may refuse
// at ::1, while a full queue of connections drops a new one at 127.0.0.1.
func (p *Pool) Refuses(ctx context.Context) bool {
	d := p.dialer
	if d.proxy != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	began := time.Now()
	raw, err := d.dial(ctx, d.network, d.addr)
	if err == nil {
		raw.Close()
		return false
	}
	if time.Since(began) >= lookTimeout/2 { // package net returns the error of the first address
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) // ErrNotExist is for a Unix socket
}

// lookTimeout limits the time of Refuses. A refusal comes within a round trip.
const lookTimeout = 2 * time.Second

// take removes an idle connection from the pool and returns it. It returns nil if there is none.
func (p *Pool) take() *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

// put adds an idle connection to the pool. If the server does not keep connections, put calls try for a
// connection that has answered a request.
func (p *Pool) put(c *Conn) {
	c.idleSince = time.Now()
	if c.used && p.ended.Load() > p.kept.Load() {
		p.try(c)
		return
	}
	p.keep(c)
}

// keep adds an idle connection to the pool.
func (p *Pool) keep(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// Lacking returns how many connections have to be opened so that n requests can be sent at the same time. With HTTP/2 and
// without a connection, Lacking returns at most 1, because the server's limit is unknown.
func (p *Pool) Lacking(n int) int {
	if p.muxes != nil {
		return p.muxes.lacking(n)
	}
	return max(0, n-p.Open())
}

// Prepare closes the unusable connections, and opens new connections until n requests can be sent at the same time. It
// ignores errors, because a request that finds no connection tries to open one itself.
func (p *Pool) Prepare(ctx context.Context, n int) {
	p.CloseUnusable()
	if p.muxes != nil {
		p.muxes.prepare(ctx, n)
		return
	}
	var wg sync.WaitGroup
	for range p.Lacking(n) {
		wg.Go(func() {
			if c, err := p.connect(ctx); err == nil {
				p.put(c)
			}
		})
	}
	wg.Wait()
}

// Open returns the number of open connections, idle or not.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// Stamped reports whether the kernel provides timestamps on an idle connection. If the kernel has accepted
// the request for timestamps, Stamped waits until it provides them, at most for awaitTime or until ctx
// ends.
func (p *Pool) Stamped(ctx context.Context) bool {
	if p.muxes != nil {
		return p.muxes.stamped() && awaitStamps(ctx)
	}
	p.mu.Lock()
	agreed := slices.ContainsFunc(p.idle, func(c *Conn) bool { return c.kernel != nil })
	p.mu.Unlock()
	return agreed && awaitStamps(ctx)
}

// CloseIdle closes all idle connections.
func (p *Pool) CloseIdle() {
	if p.muxes != nil {
		p.muxes.closeIdle(func(bool, time.Duration) bool { return false })
		return
	}
	p.closeIdle(func(*Conn) bool { return true })
}

// CloseUnusable closes the idle connections that must not be used again, for example because the server has
// closed them.
func (p *Pool) CloseUnusable() {
	if p.muxes != nil {
		p.muxes.closeIdle(young)
		return
	}
	p.closeIdle(p.unusable)
}

// Strays returns the number of connections on which an answer came without a request. Such an answer may
// have been taken for the answer to a later request. Strays watches the idle connections that have answered
// a request until it finds such an answer, at most for the time wait. With HTTP/2, such an answer ends its connection.
func (p *Pool) Strays(wait time.Duration) int {
	const step = 2 * time.Millisecond
	for left := wait; ; left -= step {
		p.CloseUnusable()
		if n := p.strays.Load(); n > 0 || left <= 0 || !p.answered() {
			return int(n)
		}
		time.Sleep(min(step, left))
	}
}

// answered reports whether an idle connection has answered a request.
func (p *Pool) answered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.idle, func(c *Conn) bool { return c.used })
}

// CloseUnused closes the idle connections over which no request was sent.
func (p *Pool) CloseUnused() {
	if p.muxes != nil {
		p.muxes.closeIdle(func(used bool, _ time.Duration) bool { return used })
		return
	}
	p.closeIdle(func(c *Conn) bool { return !c.used })
}

// closeIdle closes the idle connections for which remove returns true. It always closes the connection on
// trial. The other connections stay in the pool all the time, so that no request opens a connection in vain.
func (p *Pool) closeIdle(remove func(*Conn) bool) {
	p.mu.Lock()
	n, trial := len(p.idle), p.trial
	p.trial = nil
	p.mu.Unlock()
	if trial != nil {
		trial.stream.Close()
	}
	for i := n - 1; i >= 0; i-- { // requests take connections from the end and put them there, so the connections below i stay
		if c := p.removeIdle(i, remove); c != nil {
			c.stream.Close()
		}
	}
}

// removeIdle removes the idle connection with index i from the pool if there is one and remove returns true for it, and
// returns the connection. Requests that want a connection wait meanwhile, so remove must not wait for anything.
func (p *Pool) removeIdle(i int, remove func(*Conn) bool) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.idle) || !remove(p.idle[i]) {
		return nil
	}
	c := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	return c
}
