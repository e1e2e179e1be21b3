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
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Mistake returns an error that explains err, the result of a request to t, if the reason is a wrong host
// name, URL or TLS setting. Waiting does not help then. In all other cases Mistake returns nil. The argument
// status is the HTTP status of the answer, or 0 if there was none. If t has an http URL, Mistake may send the server
// a request over TLS to find out whether it speaks TLS, because servers answer requests without TLS in many
// ways, or not at all.
func Mistake(ctx context.Context, t llmbench.Target, err error, status int) error {
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
			if t.HTTP == "2" {
				return errNoHTTP2
			}
			return errOnlyHTTP2
		}
		return fmt.Errorf("the server ends the TLS handshake: %w; LLMBENCH_CLIENT_CERT and LLMBENCH_CLIENT_KEY name a client's certificate and key", op.Err)
	case t.HTTP == "2" && strings.Contains(err.Error(), "looked like an HTTP/1.1 header"): // of net/http
		return errNoHTTP2
	case t.HTTP == "2" && strings.Contains(err.Error(), "LLMBENCH_HTTP=2 (Target.HTTP) asks for"): // of requests of a load
		return err
	case strings.HasPrefix(t.URL, "http://") && !errors.Is(err, syscall.ECONNREFUSED) && mayWantTLS(err, status) && speaksTLS(ctx, t):
		return fmt.Errorf("%s speaks TLS; the URL of such a server begins with https://", t.Where())
	case strings.HasPrefix(t.URL, "http://") && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) && t.HTTP != "2" && speaksHTTP2(ctx, t):
		return errOnlyHTTP2
	}
	return nil
}

// errOnlyHTTP2 is the error for a server that does not answer requests of HTTP/1.1.
var errOnlyHTTP2 = errors.New("the server speaks only HTTP/2: want LLMBENCH_HTTP=2 (Target.HTTP), or a port that speaks HTTP/1.1")

// errNoHTTP2 is the error for a server that does not answer requests of HTTP/2, which the target asks for.
var errNoHTTP2 = errors.New("the server speaks HTTP/1.1 here, and not HTTP/2, which LLMBENCH_HTTP=2 (Target.HTTP) asks for: want LLMBENCH_HTTP=1.1, or a port that speaks HTTP/2")

// mayWantTLS reports whether a server that speaks TLS may have given this answer to a request without TLS. Such a server
// answers nothing, bytes that are no HTTP, or status 400 with a sentence. An API refuses a request with a JSON object.
func mayWantTLS(err error, status int) bool {
	return status == 0 || status == http.StatusBadRequest && !strings.Contains(err.Error(), "{")
}

// handshakeTimeout limits the search for a server that speaks TLS. A server that does not, such as llama.cpp, may wait
// for the rest of what it takes for a request.
const handshakeTimeout = 3 * time.Second

// speaksTLS reports whether the server at the http URL of t answers a request over TLS. The
// request has no credentials.
func speaksTLS(ctx context.Context, t llmbench.Target) bool {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
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
