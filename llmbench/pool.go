package llmbench

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/proxy"
)

// A pool holds the connections to one target, and carries requests over them: one
// at a time on each, as HTTP/1.1 has it, in the goroutine of who sends it. An
// [http.Transport] would have two goroutines more for each connection, through
// which all that comes has to pass. How messages look is net/http's all the same.
type pool struct {
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	addr  string         // host:port of the target
	proxy *url.URL       // that is asked for it, or nil
	tls   bool           // is spoken with addr
	roots *x509.CertPool // that are trusted; nil: the system's

	mu    sync.Mutex
	idle  []*conn // the one that was used last is the last
	conns int     // all that are not closed
}

const (
	// connectTimeout is how long one may take to open.
	connectTimeout = 30 * time.Second
	// keepIdle is how long one is kept on which nothing is sent, and keepUnseen if it
	// cannot be seen whether the server has closed it: some do after a few seconds.
	keepIdle   = 5 * time.Minute
	keepUnseen = 2 * time.Second
)

// newPool returns a pool of connections to base. Through is what proxy the
// environment names for a request.
func newPool(t Target, base string, through func(*http.Request) (*url.URL, error)) (*pool, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	p := &pool{dial: t.Dial, addr: hostPort(u), tls: u.Scheme == "https"}
	if p.dial == nil {
		p.dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	if through == nil {
		return p, nil
	}
	if p.proxy, err = through(&http.Request{URL: u}); err != nil {
		return nil, fmt.Errorf("target: the proxy that the environment names: %w", err)
	}
	if p.proxy != nil && hostPort(p.proxy) == "" {
		return nil, fmt.Errorf("target: the environment names a proxy of scheme %q; want http, https, socks5 or socks5h", p.proxy.Scheme)
	}
	return p, nil
}

// hostPort returns the host:port to connect to, of an international name its ASCII form, or "" for an unknown scheme.
func hostPort(u *url.URL) string {
	port, known := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	if !known {
		return ""
	}
	if u.Port() != "" {
		port = u.Port()
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	if ascii, err := httpguts.PunycodeHostPort(addr); err == nil {
		addr = ascii
	}
	return addr
}

// RoundTrip sends a request whose context has its [instants], and returns when the
// head of its response has come; its body is to be closed. A server may close a
// connection that it had kept just when a request is on its way there: one that got
// no byte of an answer is then sent again, once, on a new connection.
func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	seen := ctx.Value(instantsKey{}).(*instants)
	if p.plainProxy() {
		if auth := proxyAuth(p.proxy); auth != "" {
			req.Header.Set("Proxy-Authorization", auth)
		}
	}
	c, err := p.get(ctx, seen)
	if err != nil {
		return nil, err
	}
	resp, err := c.exchange(req, seen)
	if err == nil || !c.used || seen.firstByte != 0 || ctx.Err() != nil {
		return resp, err
	}
	if req.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	if c, err = p.open(ctx, seen); err != nil {
		return nil, err
	}
	return c.exchange(req, seen)
}

// get returns an idle connection, or opens one.
func (p *pool) get(ctx context.Context, seen *instants) (*conn, error) {
	for c := p.take(); c != nil; c = p.take() {
		if !c.gone() {
			return c, nil
		}
		c.top.Close()
	}
	return p.open(ctx, seen)
}

// open opens a connection for a request, which waits for it.
func (p *pool) open(ctx context.Context, seen *instants) (*conn, error) {
	asked := seen.clock.now()
	c, err := p.connect(ctx)
	if err == nil {
		seen.connect = seen.clock.now() - asked
	}
	return c, err
}

// take removes a connection from those that are idle, or returns nil.
func (p *pool) take() *conn {
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

// put adds one to them.
func (p *pool) put(c *conn) {
	c.idleSince = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

func (p *pool) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, fmt.Errorf("no connection within %v", connectTimeout))
	defer cancel()
	addr := p.addr
	if p.proxy != nil {
		addr = hostPort(p.proxy)
	}
	raw, err := p.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := p.adopt(raw)
	stop := context.AfterFunc(ctx, func() { c.Close() })
	top, err := p.handshakes(ctx, c)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.carry(top)
	return c, nil
}

// adopt makes raw one of the pool.
func (p *pool) adopt(raw net.Conn) *conn {
	p.mu.Lock()
	p.conns++
	p.mu.Unlock()
	c := &conn{Conn: raw, kernel: stamped(raw), pool: p}
	if c.kernel != nil {
		c.strays = c.kernel.strays
	}
	return c
}

// handshakes are what comes before the first request: with the proxy, and with the
// target. It returns what that is then sent on.
func (p *pool) handshakes(ctx context.Context, c net.Conn) (top net.Conn, err error) {
	if p.proxy != nil {
		switch p.proxy.Scheme {
		case "https":
			if c, err = secure(ctx, c, hostPort(p.proxy), p.roots); err != nil {
				return nil, err
			}
		case "socks5", "socks5h":
			if err := p.socks(ctx, c); err != nil {
				return nil, err
			}
		}
		if p.tls && strings.HasPrefix(p.proxy.Scheme, "http") {
			if err := p.tunnel(c); err != nil {
				return nil, err
			}
		}
	}
	if !p.tls {
		return c, nil
	}
	return secure(ctx, c, p.addr, p.roots)
}

// secure speaks TLS with addr on c.
func secure(ctx context.Context, c net.Conn, addr string, roots *x509.CertPool) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(addr)
	s := tls.Client(c, &tls.Config{ServerName: host, RootCAs: roots, NextProtos: []string{"http/1.1"}})
	return s, s.HandshakeContext(ctx)
}

// plainProxy tells that requests are sent to a proxy instead of the target: it speaks
// HTTP, and there is no TLS that it must not see into.
func (p *pool) plainProxy() bool {
	return p.proxy != nil && !p.tls && strings.HasPrefix(p.proxy.Scheme, "http")
}

// proxyAuth is the header with which a user of a proxy is named (RFC 7617), or "".
func proxyAuth(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// tunnel asks the proxy for a connection to the target (RFC 9110, 9.3.6).
func (p *pool) tunnel(c net.Conn) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: p.addr}, Host: p.addr, Header: http.Header{}}
	if auth := proxyAuth(p.proxy); auth != "" {
		req.Header.Set("Proxy-Authorization", auth)
	}
	if err := req.Write(c); err != nil {
		return err
	}
	in := newLimited(c)
	resp, err := in.head(req)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy: status %s", resp.Status)
	}
	if in.Buffered() > 0 {
		return errors.New("proxy: more than a response to CONNECT")
	}
	return nil
}

// socks asks a SOCKS proxy for a connection to the target (RFC 1928).
func (p *pool) socks(ctx context.Context, c net.Conn) error {
	var auth *proxy.Auth
	if u := p.proxy.User; u != nil {
		password, _ := u.Password()
		auth = &proxy.Auth{User: u.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", hostPort(p.proxy), auth, opened{c})
	if err != nil {
		return err
	}
	_, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", p.addr)
	return err
}

// opened is a dialer of one connection, which is open.
type opened struct{ net.Conn }

func (o opened) Dial(string, string) (net.Conn, error) { return o.Conn, nil }

func (o opened) DialContext(context.Context, string, string) (net.Conn, error) { return o.Conn, nil }

// prepare opens connections until n are open, which those are not that the server
// has closed. What cannot be opened now will be tried again by the request that
// needs it.
func (p *pool) prepare(ctx context.Context, n int) {
	p.drop((*conn).gone)
	var wg sync.WaitGroup
	for range n - p.opened() {
		wg.Go(func() {
			if c, err := p.connect(ctx); err == nil {
				p.put(c)
			}
		})
	}
	wg.Wait()
}

// opened is how many connections are open.
func (p *pool) opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns
}

// drop closes the idle connections that are of no use.
func (p *pool) drop(useless func(*conn) bool) {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var kept []*conn
	for _, c := range idle {
		if useless(c) {
			c.top.Close()
		} else {
			kept = append(kept, c)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(kept, p.idle...)
}

func (c *conn) unused() bool { return !c.used }

func (*conn) any() bool { return true }
