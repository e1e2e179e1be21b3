package conn

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestOffersHTTP1 checks which protocols the client offers to a server with TLS that prefers HTTP/2, whatever
// the TLS configuration of the user says.
func TestOffersHTTP1(t *testing.T) {
	offered := make(chan []string, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		offered <- hello.SupportedProtos
		return nil, nil
	}}
	s.StartTLS()
	defer s.Close()
	config := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	_, proto, err := post(t.Context(), newPool(t, Options{URL: s.URL, TLS: config}), s.URL)
	assert.NilError(t, err)
	assert.Equal(t, proto, "HTTP/1.1")
	assert.DeepEqual(t, <-offered, []string{"http/1.1"})
}

// TestOnlyHTTP2 checks the error of a request to a server that speaks only HTTP/2.
func TestOnlyHTTP2(t *testing.T) {
	const want = "the server speaks only HTTP/2: want LLMBENCH_HTTP=2 (Target.HTTP), or a port that speaks HTTP/1.1"
	t.Run("TLS", func(t *testing.T) {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.TLS = &tls.Config{NextProtos: []string{"grpc-exp"}} // crypto/tls lets clients of HTTP/1.1 in if this is h2
		s.StartTLS()
		defer s.Close()
		config := s.Client().Transport.(*http.Transport).TLSClientConfig
		_, _, err := post(t.Context(), newPool(t, Options{URL: s.URL, TLS: config}), s.URL)
		assert.ErrorContains(t, err, want)
	})
	// What servers send before they have understood the request: SETTINGS at once, or GOAWAY as the error.
	for name, frames := range map[string]string{
		"settings": "\x00\x00\x06\x04\x00\x00\x00\x00\x00" + "\x00\x03\x00\x00\x00\x64",
		"go away":  "\x00\x00\x08\x07\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			url := "http://" + runtest.Serve(t, func(c net.Conn) {
				io.WriteString(c, frames)
				io.Copy(io.Discard, c)
			})
			_, _, err := post(t.Context(), newPool(t, Options{URL: url}), url)
			assert.ErrorContains(t, err, want)
		})
	}
	t.Run("neither", func(t *testing.T) {
		url := "http://" + runtest.Serve(t, func(c net.Conn) { io.WriteString(c, "\x00\x00\x06\x05\x00\x00\x00\x00\x01"); c.Close() })
		_, _, err := post(t.Context(), newPool(t, Options{URL: url}), url)
		assert.Assert(t, err != nil && !strings.Contains(err.Error(), "HTTP/2"), "%v", err)
	})
}
