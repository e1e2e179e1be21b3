package llmbench

import (
	"context"
	"net"
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
		d.prepare(t.Context(), 1)
		first := get()
		assert.Equal(t, dials, 1)
		d.prepare(t.Context(), 2) // one of the two is open already
		assert.Equal(t, dials, 2)

		time.Sleep(keepReady)
		second := get()
		assert.Equal(t, dials, 3, "a connection that a server may have closed was handed out")
		assert.Equal(t, d.open, 2, "the old one was not closed")

		d.prepare(t.Context(), 3)
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
		if got := directAddr(base); got != want {
			t.Errorf("directAddr(%q) = %q; want %q", base, got, want)
		}
	}
}
