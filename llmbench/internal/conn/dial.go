package conn

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/proxy"
)

// connectTimeout is the maximum time for opening a connection, including handshakes.
const connectTimeout = 30 * time.Second

// A dialer opens connections to one server, directly or through a proxy.
type dialer struct {
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	network string      // tcp or unix
	addr    string      // host:port of the server, or the path of its socket
	proxy   *url.URL    // the proxy, or nil
	tls     bool        // the server speaks TLS
	mux     bool        // requests are sent over HTTP/2
	config  *tls.Config // the TLS configuration
}

// newDialer returns a dialer for the options o.
func newDialer(o Options) (*dialer, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	d := &dialer{dial: o.Dial, network: "tcp", addr: hostPort(u), tls: u.Scheme == "https", config: &tls.Config{}}
	if o.TLS != nil {
		d.config = o.TLS.Clone()
	}
	d.config.NextProtos = []string{"http/1.1"}
	if d.mux = o.HTTP2; d.mux {
		d.config.NextProtos = []string{"h2", "http/1.1"} // the second one lets the server say what it speaks
	}
	if d.dial == nil {
		d.dial = (&net.Dialer{KeepAlive: 30 * time.Second, Control: keepSegmentsApart(o.HTTP2)}).DialContext
	}
	if o.Socket != "" {
		d.network, d.addr = "unix", o.Socket
		return d, nil
	}
	if d.proxy = o.Proxy; d.mux && d.forwards() {
		return nil, ErrForwards
	}
	return d, nil
}

// ErrForwards is the error of options with HTTP/2 over a proxy that forwards requests.
var ErrForwards = errors.New("HTTP/2 without TLS through a proxy that forwards requests of HTTP/1.1: want an https URL, a proxy with a URL like socks5://proxy:1080, or LLMBENCH_HTTP=1.1 (Target.HTTP)")

// KnownProxy reports whether the scheme of a proxy is supported: http, https, socks5 or socks5h.
func KnownProxy(u *url.URL) bool { return hostPort(u) != "" }

// hostPort returns the host:port of u, or "" if the scheme is unknown. It converts international names to
// ASCII.
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

// forwards reports whether requests are sent to an HTTP proxy that forwards them. If the server speaks TLS,
// the proxy does not forward requests; it only tunnels the bytes.
func (d *dialer) forwards() bool {
	return d.proxy != nil && !d.tls && strings.HasPrefix(d.proxy.Scheme, "http")
}

// open opens a connection that is ready for requests. It calls wrap to turn the network connection into a
// Conn.
func (d *dialer) open(ctx context.Context, wrap func(raw net.Conn, opening time.Duration) *Conn) (*Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, fmt.Errorf("no connection within %v", connectTimeout))
	defer cancel()
	addr := d.addr
	if d.proxy != nil {
		addr = hostPort(d.proxy)
	}
	before := time.Now()
	raw, err := d.dial(ctx, d.network, addr)
	if err != nil {
		return nil, err
	}
	c := wrap(raw, time.Since(before))
	stop := context.AfterFunc(ctx, func() { c.Close() })
	stream, err := d.handshake(ctx, c)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.proxied = d.forwards()
	c.setStream(stream)
	return c, nil
}

// belowTLS returns the connection below a TLS connection. The argument c is raw, or another TLS connection over raw.
func (d *dialer) belowTLS(raw *Conn, c net.Conn) net.Conn {
	if !d.mux {
		return c
	}
	r := &records{Conn: c}
	raw.records = append(raw.records, r)
	return r
}

// handshake performs the handshakes with the proxy and with the server. It returns the stream over which
// requests are sent.
func (d *dialer) handshake(ctx context.Context, raw *Conn) (stream net.Conn, err error) {
	c := net.Conn(raw)
	if d.proxy != nil {
		switch d.proxy.Scheme {
		case "https":
			if c, err = startTLS(ctx, d.belowTLS(raw, c), hostPort(d.proxy), ProxyTLS(d.config)); err != nil {
				return nil, err
			}
		case "socks5", "socks5h":
			if err := d.socks(ctx, c); err != nil {
				return nil, err
			}
		}
		if d.tls && strings.HasPrefix(d.proxy.Scheme, "http") {
			if err := d.tunnel(c); err != nil {
				return nil, err
			}
		}
	}
	if !d.tls {
		return c, nil
	}
	s, err := startTLS(ctx, d.belowTLS(raw, c), d.addr, d.config)
	if err == nil && d.mux {
		if chosen := s.ConnectionState().NegotiatedProtocol; chosen != "h2" {
			err = fmt.Errorf("the server does not offer HTTP/2 over TLS, which LLMBENCH_HTTP=2 (Target.HTTP) asks for: by ALPN it chose %s: want LLMBENCH_HTTP=1.1", cmp.Or(chosen, "no protocol"))
		}
	}
	return s, err
}

// ProxyTLS returns the configuration of connections to a proxy that speaks TLS. The argument is the
// configuration of connections to the server. A proxy is not offered the client's certificate and is not expected
// to have the server's name: both are for the server. If the argument is nil, so is the result.
func ProxyTLS(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.NextProtos = []string{"http/1.1"}
	config.Certificates, config.GetClientCertificate, config.ServerName, config.EncryptedClientHelloConfigList = nil, nil, "", nil
	return config
}

// startTLS performs a TLS handshake on c, with the server at addr.
func startTLS(ctx context.Context, c net.Conn, addr string, config *tls.Config) (*tls.Conn, error) {
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	s := tls.Client(c, config)
	err := s.HandshakeContext(ctx)
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
		err = fmt.Errorf("%s does not speak TLS; without TLS the URL begins with http:// (%w)", addr, err)
	}
	// A server that shares no protocol with the client answers with the alert no_application_protocol (RFC
	// 7301, 3.2), for which crypto/tls has no type.
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" && strings.HasSuffix(alert.Err.Error(), "no application protocol") {
		if slices.Contains(config.NextProtos, "h2") {
			return s, fmt.Errorf("the server speaks neither HTTP/2 nor HTTP/1.1 (%w)", err)
		}
		err = fmt.Errorf("%w (%w)", errOnlyHTTP2, err)
	}
	return s, err
}

// proxyAuth returns the value of the header Proxy-Authorization for the proxy's user (RFC 7617), or "".
func proxyAuth(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// tunnel asks the proxy for a connection to the server (RFC 9110, 9.3.6).
func (d *dialer) tunnel(c net.Conn) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: d.addr}, Host: d.addr, Header: http.Header{}}
	if auth := proxyAuth(d.proxy); auth != "" {
		req.Header.Set("Proxy-Authorization", auth)
	}
	if err := req.Write(c); err != nil {
		return err
	}
	in := newResponse(c)
	resp, err := in.head(req)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy: status %s", resp.Status)
	}
	if in.Buffered() > 0 {
		return errors.New("proxy: bytes after the response to CONNECT")
	}
	return nil
}

// socks asks a SOCKS proxy for a connection to the server (RFC 1928).
func (d *dialer) socks(ctx context.Context, c net.Conn) error {
	var auth *proxy.Auth
	if u := d.proxy.User; u != nil {
		password, _ := u.Password()
		auth = &proxy.Auth{User: u.Username(), Password: password}
	}
	s, err := proxy.SOCKS5("tcp", hostPort(d.proxy), auth, openConn{c})
	if err != nil {
		return err
	}
	_, err = s.(proxy.ContextDialer).DialContext(ctx, "tcp", d.addr)
	return err
}

// An openConn is a dialer that returns a connection that is already open.
type openConn struct{ net.Conn }

func (o openConn) Dial(string, string) (net.Conn, error) { return o.Conn, nil }

func (o openConn) DialContext(context.Context, string, string) (net.Conn, error) { return o.Conn, nil }
