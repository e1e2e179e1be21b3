package endpoint

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say how a server is reached.
type Options struct {
	Header http.Header // added to each request
	TLS    *tls.Config // of connections to the server; nil means the default
	// Dial opens a connection; nil means the network.
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	Proxy    *url.URL    // nil means none
	ProxyTLS *tls.Config // of connections to a proxy that speaks TLS; nil means the default
	Sent     *Aside      // counts the requests; may be nil
	HTTP2    bool        // requests are sent over HTTP/2, with TLS or with prior knowledge
}

const (
	// atOnce is the number of connections that a client uses at the same time.
	atOnce = 8
	// idleTime is how long an idle connection is kept. It is short, so that closing the server does not
	// have to wait long.
	idleTime = time.Second
)

// Client returns a client for requests to e.Base with a path, other than the requests of the load. The
// client adds the query and the header to each request, removes /v1 from the path if e is unversioned,
// decodes compressed answers, and does not follow redirects.
func (e Endpoint) Client(o Options) *http.Client {
	var protocols http.Protocols
	protocols.SetHTTP1(!o.HTTP2)
	protocols.SetHTTP2(o.HTTP2)
	protocols.SetUnencryptedHTTP2(o.HTTP2)
	t := &http.Transport{
		Protocols: &protocols,
		Proxy:     http.ProxyURL(o.Proxy), DialContext: o.Dial, TLSClientConfig: o.TLS.Clone(),
		MaxIdleConnsPerHost: atOnce, MaxConnsPerHost: atOnce, IdleConnTimeout: idleTime,
		DisableCompression: true,
	}
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	if o.Proxy != nil && o.Proxy.Scheme == "https" { // the transport calls DialTLSContext for the proxy, not for the server
		t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return startTLS(ctx, dial, network, addr, o.ProxyTLS)
		}
	}
	if e.Socket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, "unix", e.Socket) }
	}
	return &http.Client{
		Transport:     &transport{t, e, o.Header, o.Sent},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// startTLS opens a connection, and performs a TLS handshake on it.
func startTLS(ctx context.Context, dial func(ctx context.Context, network, addr string) (net.Conn, error), network, addr string, config *tls.Config) (net.Conn, error) {
	raw, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config = config.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.ServerName, _, _ = net.SplitHostPort(addr)
	c := tls.Client(raw, config)
	if err := c.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return c, nil
}

// A transport changes each request as its endpoint requires.
type transport struct {
	*http.Transport
	to     Endpoint
	header http.Header
	sent   *Aside
}

// RoundTrip sends a copy of r. It does not replace header fields that r already has.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	AddHeader(r, t.header)
	if path, found := strings.CutPrefix(r.URL.String(), t.to.Base+version+"/"); found && t.to.Unversioned {
		u, err := url.Parse(t.to.Base + "/" + path)
		if err != nil {
			return nil, err
		}
		r.URL = u
	}
	switch {
	case r.URL.RawQuery == "":
		r.URL.RawQuery = t.to.Query
	case t.to.Query != "":
		r.URL.RawQuery += "&" + t.to.Query
	}
	if t.sent != nil {
		path, _, _ := strings.Cut(strings.TrimPrefix(r.URL.String(), t.to.Base), "?")
		t.sent.Add(1, r.Method+" "+path, t.to.Where())
	}
	resp, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// Some gateways compress every answer, whether or not the request allows it.
	if body, err := NewInflater(resp.Header.Get("Content-Encoding"), resp.Body); err == nil {
		resp.Body = decoded{body, resp.Body}
	}
	return resp, nil
}

// A decoded is a response body. It reads from Reader, which decompresses, and closes the compressed body.
type decoded struct {
	io.Reader
	io.Closer
}

// AddHeader adds the fields of header that r does not have. The field Host replaces the host of r.
func AddHeader(r *http.Request, header http.Header) {
	for name, values := range header {
		name = http.CanonicalHeaderKey(name)
		switch {
		case name == "Host" && len(values) > 0:
			r.Host = values[0]
		case r.Header[name] == nil:
			r.Header[name] = values
		}
	}
}
