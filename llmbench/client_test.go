package llmbench

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestPrepare checks that connections are opened ahead up to a number, handed
// out while they are fresh, and closed when they are not.
func TestPrepare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		c, err := newClient(Target{URL: "http://server", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials++
			client, _ := net.Pipe()
			return client, nil
		}}, 0)
		assert.NilError(t, err)
		d := c.dialer
		get := func() net.Conn {
			conn, err := d.DialContext(t.Context(), "tcp", "server:80")
			assert.NilError(t, err)
			return conn
		}
		d.prepare(t.Context(), 1, 0)
		first := get()
		assert.Equal(t, dials, 1)
		d.prepare(t.Context(), 2, 0) // one of the two is open already
		assert.Equal(t, dials, 2)

		time.Sleep(keepReady)
		second := get()
		assert.Equal(t, dials, 3, "a connection that a server may have closed was handed out")
		assert.Equal(t, d.open, 2, "the old one was not closed")

		d.prepare(t.Context(), 3, 0)
		c.close()
		first.Close()
		first.Close()
		second.Close()
		assert.Equal(t, d.open, 0)
	})
}

func TestDirectAddr(t *testing.T) {
	t.Setenv("NO_PROXY", "")
	for base, want := range map[string]string{
		"http://127.0.0.1:8000":    "127.0.0.1:8000",
		"http://localhost/prefix":  "localhost:80",
		"https://localhost":        "localhost:443",
		"http://[::1]:8000/prefix": "[::1]:8000",
	} {
		if got := directAddr(base, http.ProxyFromEnvironment); got != want {
			t.Errorf("directAddr(%q) = %q; want %q", base, got, want)
		}
	}
}

// TestNoProxy looks which address is dialed in a process whose environment names
// a proxy: net/http reads that once.
func TestNoProxy(t *testing.T) {
	const helper, proxy = "NO_PROXY_HELPER", "127.0.0.1:1"
	if os.Getenv(helper) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoProxy$", "-test.v")
		cmd.Env = append(os.Environ(), helper+"=1", "HTTP_PROXY=http://"+proxy, "http_proxy=", "NO_PROXY=", "no_proxy=")
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		assert.Assert(t, strings.Contains(string(out), "--- PASS: TestNoProxy"), "%s", out)
		return
	}
	for _, noProxy := range []bool{false, true} {
		want := map[bool]string{false: proxy, true: "172.17.0.2:8000"}[noProxy]
		var dialed string
		Do(t.Context(), Target{URL: "http://172.17.0.2:8000", NoProxy: noProxy, Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialed = addr
			return nil, net.ErrClosed
		}}, Request{Prompt: "a", MaxTokens: 1}, true)
		assert.Equal(t, dialed, want, "NoProxy: %t", noProxy)
	}
}
