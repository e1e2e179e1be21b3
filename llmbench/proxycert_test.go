package llmbench

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestClientCertificate checks that the client's certificate is offered to the server, and not to an https proxy
// that asks for one, neither in requests of a load nor in others.
func TestClientCertificate(t *testing.T) {
	const answer = `{"choices":[{"message":{"content":"a b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) != 1 {
			http.Error(w, "no certificate", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	var asked, offered atomic.Int64
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		offered.Add(int64(len(r.TLS.PeerCertificates)))
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer to.Close()
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(to, from) }()
		_, _ = io.Copy(from, to)
	}))
	proxy.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	proxy.StartTLS()
	defer proxy.Close()

	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	certificate := server.TLS.Certificates[0]
	target := Target{
		URL: server.URL, Model: "m", Proxy: proxy.URL,
		TLS: &tls.Config{RootCAs: trusted, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }},
	}
	for range 2 {
		s := Do(t.Context(), target, Request{Prompt: "p", MaxTokens: 2}, false)
		assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
		base, client, err := target.Client()
		assert.NilError(t, err)
		resp, err := client.Get(base + "/health")
		assert.NilError(t, err)
		resp.Body.Close()
		client.CloseIdleConnections()
		assert.Equal(t, resp.StatusCode, http.StatusOK)
		target.TLS = &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{certificate}, ServerName: "example.com"} // the other ways to set it
		target.TLS.InsecureSkipVerify = true
	}
	assert.Equal(t, asked.Load(), int64(4))
	assert.Equal(t, offered.Load(), int64(0), "certificates offered to the proxy")
}
