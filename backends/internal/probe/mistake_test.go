package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestUnknownHost checks that the wait ends at once if no host has the name, and goes on if the
// name servers fail.
func TestUnknownHost(t *testing.T) {
	target := llmbench.Target{URL: "unix:///nothing"}
	unknown := fmt.Errorf("dial: %w", &net.DNSError{Err: "no such host", Name: "gpu-box", IsNotFound: true})
	assert.Error(t, Mistake(t.Context(), target, unknown, 0), "no host has the name gpu-box")
	assert.NilError(t, Mistake(t.Context(), target, &net.DNSError{Err: "server misbehaving", Name: "gpu-box", IsTemporary: true}, 0))
}

// TestOnlyHTTP2 checks the error for servers that speak HTTP/2 and not HTTP/1.1, and that a server that speaks
// both is measured.
func TestOnlyHTTP2(t *testing.T) {
	const want = "the server speaks only HTTP/2: want LLMBENCH_HTTP=2 (Target.HTTP), or a port that speaks HTTP/1.1"
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	for _, tt := range []struct {
		name       string
		tls, http1 bool
		want       string
	}{
		{"h2", true, false, want}, {"h2c", false, false, want}, {"both", false, true, ""}, {"both with TLS", true, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(mock)
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetHTTP1(tt.http1)
			if tt.tls {
				s.TLS = &tls.Config{NextProtos: []string{"grpc-exp"}} // crypto/tls lets clients of HTTP/1.1 in if this is h2
				if tt.http1 {
					s.TLS.NextProtos = []string{"h2", "http/1.1"}
				}
				s.StartTLS()
			} else {
				s.Config.Protocols.SetUnencryptedHTTP2(true)
				s.Start()
			}
			defer s.Close()
			target := llmbench.Target{URL: s.URL, Model: "m", TLS: s.Client().Transport.(*http.Transport).TLSClientConfig}
			_, _, err := Completion(t.Context(), target, true, func(err error) {
				assert.Check(t, err, "tried again")
			})
			if tt.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.Error(t, err, tt.want)
		})
	}
}

// TestNoHTTP2 checks the error if the target asks for HTTP/2, and the server does not speak it.
func TestNoHTTP2(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	plain, secure := httptest.NewServer(mock), httptest.NewTLSServer(mock)
	defer plain.Close()
	defer secure.Close()
	for url, want := range map[string]string{plain.URL: "the server speaks HTTP/1.1 here, and not HTTP/2, which LLMBENCH_HTTP=2 (Target.HTTP) asks for", secure.URL: "LLMBENCH_HTTP=2 (Target.HTTP) asks for"} {
		target := llmbench.Target{URL: url, HTTP: "2", TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}
		ctx, cancel := context.WithTimeout(t.Context(), Timeout)
		defer cancel()
		// The server may close the connection before the client has read the answer, which names the protocol. Callers then
		// ask again.
		var mistake error
		for mistake == nil && ctx.Err() == nil {
			_, _, err := Server{Target: target}.List(ctx, "/v1/models")
			assert.Assert(t, err != nil)
			mistake = Mistake(ctx, target, err, 0)
		}
		assert.ErrorContains(t, mistake, want)
		target.Model = "m"
		_, _, err := Completion(ctx, target, true, func(err error) {
			assert.Check(t, err, "tried again")
		})
		assert.ErrorContains(t, err, want)
	}
}
