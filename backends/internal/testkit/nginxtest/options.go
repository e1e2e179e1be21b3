package nginxtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Options describes a proxy. The zero value of a field is nginx's default, except that the size of requests
// is not limited.
type Options struct {
	// Upstream is the base URL of the server behind the proxy, http://HOST:PORT.
	Upstream string
	// Network is where the proxy listens: "tcp4" (the default) for a free port of 127.0.0.1,
	// "tcp6" for a free port of [::1], or "unix" for a Unix socket.
	Network string
	// TLS makes the proxy speak HTTPS, with a certificate for 127.0.0.1, ::1 and localhost that
	// signs itself.
	TLS bool
	// HTTP2 makes the proxy speak HTTP/2: with TLS beside HTTP/1.1, and without TLS only HTTP/2, with prior knowledge.
	HTTP2 bool
	// Prefix is a path like /llm that the proxy strips: it passes Prefix/v1/models to the upstream's
	// /v1/models. It answers other paths with 404.
	Prefix string
	// Unbuffered turns proxy_buffering off.
	Unbuffered bool
	// HTTP11 makes the proxy speak HTTP/1.1 with the upstream instead of HTTP/1.0.
	HTTP11 bool
	// NoKeepAlive makes the proxy close each connection after one answer.
	NoKeepAlive bool
	// Gzip compresses answers of any type and length for clients that accept gzip.
	Gzip bool
	// Directives are further directives for requests to the upstream, such as
	// "proxy_buffer_size 16k;".
	Directives string
}

// A Server is a running nginx.
type Server struct {
	// URL is the base URL including Prefix, without a trailing slash. With a Unix socket the host is
	// localhost.
	URL string
	// Socket is the path of the Unix socket, or "".
	Socket string
	// CA contains the certificate, and CAFile is the path of its PEM file. Without TLS they are nil and "".
	CA     *x509.CertPool
	CAFile string

	pid int  // of nginx, which is one process with one thread
	h2c bool // nginx speaks only HTTP/2 without TLS
}

// Waited returns how long nginx has waited for a CPU until now, or 0 where the kernel does not tell
// (https://docs.kernel.org/scheduler/sched-stats.html, /proc/<pid>/schedstat).
func (s *Server) Waited() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", s.pid))
	var ran, waited time.Duration // in nanoseconds
	_, _ = fmt.Sscan(string(text), &ran, &waited)
	return waited
}

// Transport returns a transport for requests to the proxy. It ignores proxies in the environment. The
// caller closes its idle connections.
func (s *Server) Transport() *http.Transport {
	t := &http.Transport{}
	if s.h2c {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	if s.CA != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: s.CA}
	}
	if s.Socket != "" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", s.Socket)
		}
	}
	return t
}
