package nginxtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
)

// ErrUnavailable is wrapped by errors that say why this machine cannot run nginx.
var ErrUnavailable = errors.New("nginx is not available here")

// Options describe a proxy. The zero value of a field is nginx's default, except that requests
// may have any length.
type Options struct {
	// Upstream is the base URL of the server behind the proxy, http://HOST:PORT.
	Upstream string
	// Network is where the proxy listens: "tcp4" (the default) for a free port of 127.0.0.1,
	// "tcp6" for a free port of [::1], or "unix" for a Unix socket.
	Network string
	// TLS makes the proxy speak HTTPS, with a certificate of a private CA for 127.0.0.1, ::1
	// and localhost.
	TLS bool
	// Prefix is a path like /llm that the proxy takes off: Prefix/v1/models is the upstream's
	// /v1/models. Other paths are answered with 404.
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
	// URL is the base URL with Prefix and without a slash at its end. With a Unix socket its
	// host is localhost.
	URL string
	// Socket is the path of the Unix socket, or "".
	Socket string
	// CA has the certificate of the private CA, and CAFile is the path of its PEM file. They
	// are nil and "" without TLS.
	CA     *x509.CertPool
	CAFile string
}

// Transport returns a transport for requests to the proxy, without a proxy of the environment. The
// caller closes its idle connections.
func (s *Server) Transport() *http.Transport {
	t := &http.Transport{}
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
