package conn

import (
	"context"
	"crypto/tls"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestRefuses checks that a name is not taken for refused if one of its addresses does not answer. Package net then
// returns the error of the first address.
func TestRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			took time.Duration
			err  error
			want bool
		}{
			{0, syscall.ECONNREFUSED, true},
			{300 * time.Millisecond, syscall.ECONNREFUSED, true},
			{time.Hour, syscall.ECONNREFUSED, false},
			{time.Hour, context.DeadlineExceeded, false},
			{0, syscall.EAGAIN, false}, // a Unix socket whose queue is full
			{0, fs.ErrNotExist, true},
		} {
			p := newPool(t, Options{URL: "http://server", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				select {
				case <-time.After(tt.took):
				case <-ctx.Done():
				}
				return nil, &net.OpError{Op: "dial", Err: tt.err}
			}})
			assert.Equal(t, p.Refuses(t.Context()), tt.want, "%v after %v", tt.err, tt.took)
		}
	})
}

// TestPrepare checks that Prepare opens connections up to a number, and that connections are reused and
// closed.
func TestPrepare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		p := newPool(t, Options{URL: "http://server", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials++
			client, _ := net.Pipe()
			return client, nil
		}})
		get := func(open bool) *Conn {
			t.Helper()
			before := dials
			c, err := p.get(t.Context(), &Trace{Clock: NewClock(WallClock)})
			assert.NilError(t, err)
			assert.Equal(t, dials == before, open)
			return c
		}
		p.Prepare(t.Context(), 1)
		first := get(true)
		assert.Equal(t, dials, 1)
		p.Prepare(t.Context(), 2) // one of the two is open already
		assert.Equal(t, dials, 2)

		time.Sleep(maxIdleUnseen) // the client cannot see whether a pipe was closed
		get(true).Close()
		p.Prepare(t.Context(), 2)
		time.Sleep(maxIdleUnseen + 1)
		second := get(false)
		assert.Equal(t, p.Open(), 2, "the connection that idled too long is still open")

		second.used = true
		p.put(second)
		p.Prepare(t.Context(), 3)
		assert.Equal(t, p.Open(), 3)
		p.CloseUnused()
		assert.Equal(t, p.Open(), 2)
		p.CloseIdle()
		assert.Equal(t, p.Open(), 1)
		first.Close()
		first.Close()
		assert.Equal(t, p.Open(), 0)
	})
}

// TestIdleConnectionEnds checks that a connection that the server closed while it was idle is replaced: by
// Prepare, and by the request that needs it.
func TestIdleConnectionEnds(t *testing.T) {
	for _, tt := range []struct {
		name, extra string
		strays      int // connections on which an answer came without a request
	}{
		{"the server closes it", "", 0},
		{"the server says that it will close it", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", 0},
		{"the server ends the answer with a blank line too many", "\r\n", 0},
		{"the server sends an answer to nothing", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nunasked", 2},
		{"the server begins an answer to nothing", "HTTP/1.1", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			idle := make(chan bool)
			url := "http://" + runtest.Serve(t, func(c net.Conn) {
				runtest.EachRequest(c, func(c net.Conn, _ int) bool {
					answer(c)
					<-idle
					io.WriteString(c, tt.extra)
					return tt.extra != ""
				})
			})
			p := newPool(t, Options{URL: url})
			p.kept.Store(2) // so that the ends of two connections are not taken for a habit
			end := func() { // ends the idle connection
				idle <- true
				runtest.Until(t, "the connection is unusable", p.idle[0].unusable)
			}
			trace, _, err := post(t.Context(), p, url)
			assert.NilError(t, err)
			assert.Assert(t, trace.Connect > 0)
			end()
			p.Prepare(t.Context(), 1)
			trace, _, err = post(t.Context(), p, url)
			assert.NilError(t, err)
			assert.Equal(t, trace.Connect, time.Duration(0), "the connection was not opened ahead")
			assert.Equal(t, trace.Attempts, 1)
			end()
			trace, _, err = post(t.Context(), p, url)
			assert.NilError(t, err)
			assert.Assert(t, trace.Connect > 0)
			assert.Equal(t, trace.Attempts, 1)
			assert.Equal(t, p.Open(), 1)
			assert.Equal(t, p.Strays(0), tt.strays)
			close(idle)
			p.CloseIdle()
		})
	}
}

// TestIdleTLS checks that an idle TLS connection is reused unless TLS has received its end.
func TestIdleTLS(t *testing.T) {
	runtest.CheckLeaks(t)
	for _, ends := range []bool{false, true} { // the server closes the connection after each request
		srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(w, r.Body)
		}))
		defer srv.Close()
		p := newPool(t, Options{URL: srv.URL, TLS: srv.Client().Transport.(*http.Transport).TLSClientConfig})
		p.kept.Store(2) // so that the ends of two connections are not taken for a habit
		if !ends {
			p.Prepare(t.Context(), 1)
		}
		for i := range 3 {
			if ends && i > 0 {
				srv.CloseClientConnections()
				runtest.Until(t, "the connection is unusable", p.idle[0].unusable)
			}
			trace, _, err := post(t.Context(), p, srv.URL)
			assert.NilError(t, err)
			assert.Equal(t, trace.Attempts, 1)
			assert.Equal(t, trace.Connect > 0, ends, "request %d waited %v for a connection", i, trace.Connect)
		}
		assert.Equal(t, p.Open(), 1)
	}
}

// TestInvalidRequest checks that Send does not wait for the answer to a request that
// cannot be written.
func TestInvalidRequest(t *testing.T) {
	p := newPool(t, Options{
		URL:   "http://a<b",
		Proxy: &url.URL{Scheme: "http", Host: "proxy"},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, _ := net.Pipe()
			return client, nil
		},
	})
	_, _, err := post(t.Context(), p, "http://a<b")
	assert.ErrorContains(t, err, "invalid Host header")
	assert.Equal(t, p.Open(), 0)
}

// TestStrays checks that an additional answer is noticed, right after the answer to a request or later,
// with and without TLS.
func TestStrays(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, later := range []bool{false, true} {
			next := make(chan bool, 1)
			serve := func(c net.Conn) {
				runtest.EachRequest(c, func(c net.Conn, _ int) bool {
					const text = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"
					if !later {
						io.WriteString(c, text+text)
						return true
					}
					io.WriteString(c, text)
					<-next
					io.WriteString(c, text)
					return true
				})
			}
			o := Options{}
			if secure {
				srv := httptest.NewTLSServer(nil)
				srv.Close()
				config := srv.TLS
				o.TLS = srv.Client().Transport.(*http.Transport).TLSClientConfig
				o.URL = "https://" + runtest.Serve(t, func(c net.Conn) { serve(tls.Server(c, config)) })
			} else {
				o.URL = "http://" + runtest.Serve(t, serve)
			}
			p := newPool(t, o)
			_, _, err := post(t.Context(), p, o.URL)
			assert.NilError(t, err)
			if later {
				assert.Equal(t, p.Strays(0), 0)
				next <- true
			}
			assert.Equal(t, p.Strays(time.Minute), 1, "tls=%t later=%t", secure, later)
			assert.Equal(t, p.Open(), 0)
		}
	}
}
