package llmbench

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
)

// Check returns an error if t is invalid. It sends nothing. The error shows no header value, and only the
// scheme and the host of the URL.
func (t Target) Check() error {
	_, _, err := t.endpoint()
	return err
}

// newClient returns a client of t, which must be closed.
func newClient(t Target) (*send.Client, error) {
	at, proxy, err := t.endpoint()
	if err != nil {
		return nil, err
	}
	c, err := send.NewClient(send.Server{At: at, Dialect: t.dialect(), Header: t.header(), Sign: t.AWS.signer(t.dialect()), Secrets: t.secrets(), Compressed: t.Compressed, Echo: canonicalNames(t.Echo), Shed: t.ShedStatus, Record: canonicalNames(t.RecordHeader), Dial: t.Dial, Proxy: proxy, TLS: t.TLS, HTTP2: t.http2()})
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return c, nil
}

// endpoint returns the address of the server and the URL of the proxy, which is nil if there is none. It
// returns an error if t is invalid.
func (t Target) endpoint() (e endpoint.Endpoint, proxy *url.URL, err error) {
	t.secrets() // so that they are known before the first request
	if e, err = endpoint.Parse(t.URL); err == nil {
		err = t.checkRequests()
	}
	if err == nil {
		proxy, err = t.proxy()
	}
	if err == nil && t.HTTP != "" && t.HTTP != "1.1" && t.HTTP != "2" {
		err = fmt.Errorf("HTTP %.20q: want 1.1 or 2", t.HTTP)
	}
	if err == nil && t.http2() && proxy != nil && e.Socket == "" && strings.HasPrefix(e.Base, "http:") && strings.HasPrefix(proxy.Scheme, "http") {
		err = conn.ErrForwards
	}
	for _, key := range slices.Sorted(maps.Keys(t.Config)) {
		if err == nil && !validConfigKey(key) {
			err = fmt.Errorf("config key %q; must start with a lower-case letter and hold no space, colon or upper case", key)
		}
	}
	if err != nil {
		err = fmt.Errorf("target: %w", err)
	}
	return e, proxy, err
}

// Client returns a client for requests that are not part of a load, such as a health check or a call of the
// server's tokenizer. It also returns the base URL, to which the caller appends a path. The client connects
// to the server like the requests of a load do. It adds the target's Header and the query of its URL to
// each request, and follows no redirects. It keeps idle connections for one second, and has no timeout of
// its own.
func (t Target) Client() (base string, client *http.Client, err error) {
	e, proxy, err := t.endpoint()
	if err != nil {
		return "", nil, err
	}
	return e.Base, e.Client(endpoint.Options{Header: t.header(), TLS: t.TLS, Dial: t.Dial, Proxy: proxy, ProxyTLS: conn.ProxyTLS(t.TLS), Sent: t.aside(), HTTP2: t.http2()}), nil
}

// aside returns where requests are counted that are part of no measured pass, or nil if they are not counted.
func (t Target) aside() *endpoint.Aside {
	if t.Simulated {
		return nil
	}
	return &endpoint.Sent
}

// countAside counts n requests that are part of no measured pass.
func (t Target) countAside(n int, what string) {
	if sent := t.aside(); sent != nil {
		sent.Add(n, what, t.Where())
	}
}
