package metrics_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestBeside checks from which addresses metrics are read. The credentials of a server must not go
// to another host, nor over a connection that others can read.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		server, raw         string
		url, path           string
		header, certificate bool
	}{
		{"http://host:8000/v1", "http://host:8000/metrics", "http://host:8000", "/metrics", true, true},
		{"http://host:8000", "http://host:9000", "http://host:9000", "", true, true},
		{"http://HOST", "http://host:9000/", "http://host:9000", "", true, true},
		{"http://host", "https://host/a/v1/?x=1", "https://host?x=1", "/a/v1/", true, true},
		{"http://host", "http://host/a%2Fb/metrics", "http://host", "/a%2Fb/metrics", true, true},
		{"https://host", "https://host:8443/metrics", "https://host:8443", "/metrics", true, true},
		{"https://host", "http://host:9000/metrics", "http://host:9000", "/metrics", false, true},
		{"https://host", "https://other/metrics", "https://other", "/metrics", false, false},
		{"https://host", "https://host.evil.example/metrics", "https://host.evil.example", "/metrics", false, false},
		{"http://localhost:8000", "http://127.0.0.1:8000/metrics", "http://127.0.0.1:8000", "/metrics", false, false},
		{"http://[::1]:8000", "http://[::1]:9000/metrics", "http://[::1]:9000", "/metrics", true, true},
		{"unix:///run/llm.sock:/prefix", "unix:///run/llm.sock:/metrics", "unix:///run/llm.sock", "/metrics", true, true},
		{"unix:///run/llm.sock", "unix:///run/a%20b.sock:/metrics?x=1", "unix:///run/a%20b.sock?x=1", "/metrics", false, false},
		{"unix:///run/llm.sock", "unix:///run/llm.sock", "unix:///run/llm.sock", "", true, true},
		{"unix:///run/llm.sock", "http://localhost/metrics", "http://localhost", "/metrics", false, false},
		{"http://localhost", "unix:///run/llm.sock", "unix:///run/llm.sock", "", false, false},
	} {
		pool := x509.NewCertPool()
		server := llmbench.Target{URL: c.server, Proxy: "http://proxy", Header: http.Header{"Authorization": {"Bearer k"}},
			TLS: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{{}}, ServerName: "host", InsecureSkipVerify: true}}
		a, err := metrics.Beside(server, c.raw)
		assert.NilError(t, err, c.raw)
		assert.Equal(t, a.Target.URL, c.url)
		assert.Equal(t, a.Path, c.path)
		assert.Equal(t, a.Target.Header != nil, c.header, "%s beside %s", c.raw, c.server)
		assert.Equal(t, len(a.Target.TLS.Certificates) > 0, c.certificate, "%s beside %s", c.raw, c.server)
		assert.Equal(t, a.Target.TLS.ServerName != "", c.certificate)
		assert.Assert(t, a.Target.TLS.RootCAs == pool && a.Target.TLS.InsecureSkipVerify && a.Target.Proxy == "http://proxy")
	}
}

func TestBesideErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         `URL "": want a base URL`,
		"host:9000":                `URL "host:9000": want a base URL`,
		"ftp://host/secret":        `URL "ftp://host": want`,
		"http://u:secret@host/":    "with a user or a password",
		"http://host/metrics#":     "with a fragment",
		"http://host:port/secret":  "URL cannot be parsed",
		"unix://run/secret":        "three slashes",
		"on":                       `URL "": want`,
		"unix:///run/x.sock:other": "three slashes",
	} {
		_, err := metrics.Beside(llmbench.Target{URL: "http://host"}, raw)
		assert.ErrorContains(t, err, want, raw)
		assert.Assert(t, !strings.Contains(err.Error(), "secret"), "%v", err)
	}
}

// FuzzBeside checks the addresses that are accepted. It must be possible to send a request to each.
// The request may carry the header of the server only if it goes to the server's own host.
func FuzzBeside(f *testing.F) {
	for _, raw := range []string{"http://host:8000/metrics", "https://HOST/a%2Fb?c=d", "unix:///run/x.sock:/m", "http://[::1%25lo]/", "http://host@other/", "http://host\\@other/"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := metrics.Beside(llmbench.Target{URL: "http://host", Header: http.Header{"Authorization": {"k"}}}, raw)
		if err != nil {
			return
		}
		base, _, err := a.Target.Client()
		assert.NilError(t, err, "%q", raw)
		r, err := http.NewRequest(http.MethodGet, base+a.Path, nil)
		assert.NilError(t, err, "%q: %q", raw, base+a.Path)
		assert.Assert(t, a.Target.Header == nil || strings.EqualFold(r.URL.Hostname(), "host"), "%q: %q", raw, base+a.Path)
	})
}
