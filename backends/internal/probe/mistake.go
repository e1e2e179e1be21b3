package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Mistake returns an error that explains err, the result of a request to t, if the reason is a wrong host
// name, URL or TLS setting. Waiting does not help then. In all other cases Mistake returns nil. If t has an
// http URL, Mistake may send the server a request over TLS to find out whether it speaks TLS, because
// servers answer requests without TLS in many ways, or not at all.
func Mistake(ctx context.Context, t llmbench.Target, err error) error {
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case err == nil, ctx.Err() != nil:
		return nil
	case errors.As(err, &untrusted):
		return fmt.Errorf("the server's certificate is not trusted: %w; LLMBENCH_CA names a file with its certificate authority", untrusted.Err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("no host has the name %s", dns.Name)
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s does not speak TLS; without TLS the URL begins with http://", t.Where())
	case errors.As(err, &op) && op.Op == "remote error": // a TLS alert from the server
		if strings.HasSuffix(op.Err.Error(), "no application protocol") { // RFC 7301, 3.2
			return errOnlyHTTP2
		}
		return fmt.Errorf("the server ends the TLS handshake: %w; LLMBENCH_CLIENT_CERT and LLMBENCH_CLIENT_KEY name a client's certificate and key", op.Err)
	case strings.HasPrefix(t.URL, "http://") && !errors.Is(err, syscall.ECONNREFUSED) && speaksTLS(ctx, t):
		return fmt.Errorf("%s speaks TLS; the URL of such a server begins with https://", t.Where())
	case strings.HasPrefix(t.URL, "http://") && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) && speaksHTTP2(ctx, t):
		return errOnlyHTTP2
	}
	return nil
}

// errOnlyHTTP2 is the error for a server that does not answer requests of HTTP/1.1.
var errOnlyHTTP2 = errors.New("the server speaks only HTTP/2; want a port that speaks HTTP/1.1, or a gateway before the server that does")

// speaksTLS reports whether the server at the http URL of t answers a request over TLS. The
// request has no credentials.
func speaksTLS(ctx context.Context, t llmbench.Target) bool {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	base, _, err := t.Client()
	if err != nil {
		return false
	}
	secure := llmbench.Target{
		URL:  "https" + strings.TrimPrefix(base, "http"),
		TLS:  &tls.Config{InsecureSkipVerify: true}, // the request contains no secret
		Dial: t.Dial, Proxy: t.Proxy,
	}
	_, err = Fetch(ctx, secure, http.MethodGet, "/v1/models", "")
	_, answered := errors.AsType[StatusError](err)
	return err == nil || answered
}

// speaksHTTP2 reports whether the server at the http URL of t, which did not answer a request of HTTP/1.1,
// answers one of HTTP/2 without TLS. Some servers close the connection of a request in HTTP/1.1 without a word.
// The request has no credentials.
func speaksHTTP2(ctx context.Context, t llmbench.Target) bool {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	base, _, err := t.Client()
	if err != nil || t.Proxy != "" {
		return false
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols, DialContext: t.Dial}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/models", nil)
	if err != nil {
		return false
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return true
}

// Reason returns the part of err that tells a user why a server does not answer: "connection refused"
// without the addresses around it.
func Reason(err error) string {
	if err == nil {
		return "no answer yet"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}
