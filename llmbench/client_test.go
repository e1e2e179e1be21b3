package llmbench

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestProxy checks which address is dialed if the environment names a proxy: the address of the server, or
// of Target.Proxy if that is set. It needs a separate process because net/http reads the environment only
// once.
func TestProxy(t *testing.T) {
	const helper, server, proxy = "PROXY_HELPER", "172.17.0.2:8000", "172.17.0.3:3128"
	if os.Getenv(helper) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxy$", "-test.v")
		cmd.Env = append(os.Environ(), helper+"=1", "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "ALL_PROXY=http://127.0.0.1:1", "NO_PROXY=", "no_proxy=")
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		assert.Assert(t, strings.Contains(string(out), "--- PASS: TestProxy"), "%s", out)
		return
	}
	for url, want := range map[string]string{"": server, "http://user:password@" + proxy: proxy, "socks5h://" + proxy: proxy} {
		var dialed []string
		target := Target{URL: "http://" + server, Proxy: url, Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialed = append(dialed, addr)
			return nil, net.ErrClosed
		}}
		Do(t.Context(), target, Request{Prompt: "a", MaxTokens: 1}, true)
		base, beside, err := target.Client()
		assert.NilError(t, err)
		if _, err := beside.Get(base); err == nil {
			t.Errorf("a request with the proxy %q was answered", url)
		}
		assert.DeepEqual(t, dialed, []string{want, want})
	}
}

// TestProxySetting checks what the configuration lines say about a proxy, and the errors for invalid
// proxies.
func TestProxySetting(t *testing.T) {
	target := Target{URL: "http://server", Proxy: "http://user:long-password@proxy:3128/"}
	assert.NilError(t, target.Check())
	assert.Equal(t, target.config()["proxy"], "http://proxy:3128")
	assert.Equal(t, target.Redact("long-password, dXNlcjpsb25nLXBhc3N3b3Jk"), "[redacted], [redacted]")
	short := Target{URL: "http://server", Proxy: "http://user:seven77@proxy:3128/"}
	assert.Equal(t, short.Redact("Basic dXNlcjpzZXZlbjc3"), "Basic [redacted]") // user and password are longer
	named := Target{URL: "http://server", Proxy: "http://token-as-name@proxy:3128/"}
	assert.Equal(t, named.Redact("token-as-name"), "[redacted]")
	described := Target{URL: "http://server", Header: http.Header{"content-type": {"application/x-own"}, "X-Own": {"application/x-secret"}}}
	assert.Equal(t, described.Redact("application/x-own application/x-secret"), "application/x-own [redacted]")
	for proxy, want := range map[string]string{
		"proxy:3128":                     `target: proxy: scheme "proxy": want a URL like http://proxy:3128, of scheme http, https, socks5 or socks5h`,
		"ftp://user:long-password@proxy": `target: proxy: scheme "ftp": want a URL`,
		"http://":                        "target: proxy: no host: want a URL",
		"http://a b:long-password@c":     "target: proxy: not a URL: want a URL",
	} {
		err := Target{URL: "http://server", Proxy: proxy}.Check()
		assert.ErrorContains(t, err, want)
		assert.Assert(t, !strings.Contains(err.Error(), "long-password"), "%v", err)
	}
}
