package nginxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// upstream answers with the path of the request and the protocol that the proxy speaks.
func upstream(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "%s %s", r.URL.Path, r.Proto)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// client returns a client that uses the proxy. Its requests have a deadline, so that a test cannot
// hang.
func client(t *testing.T, s *Server) *http.Client {
	transport := s.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 2 * time.Minute}
}

func TestStart(t *testing.T) {
	Start(t, Options{Upstream: upstream(t)}) // without nginx this skips the whole test
	for _, tt := range []struct {
		name string
		o    Options
		path string // the path of the request
		want string // the expected answer
		url  string // the beginning of the URL
	}{
		{"default", Options{}, "/v1/models", "200 /v1/models HTTP/1.0", "http://127.0.0.1:"},
		{"HTTP/1.1", Options{HTTP11: true}, "/v1/models", "200 /v1/models HTTP/1.1", "http://127.0.0.1:"},
		{"TLS", Options{TLS: true, Unbuffered: true}, "/x", "200 /x HTTP/1.0", "https://127.0.0.1:"},
		{"IPv6", Options{Network: "tcp6"}, "/x", "200 /x HTTP/1.0", "http://[::1]:"},
		{"IPv6 with TLS", Options{Network: "tcp6", TLS: true}, "/x", "200 /x HTTP/1.0", "https://[::1]:"},
		{"Unix socket", Options{Network: "unix"}, "/x", "200 /x HTTP/1.0", "http://localhost"},
		{"Unix socket with TLS", Options{Network: "unix", TLS: true, Prefix: "/p"}, "/x", "200 /x HTTP/1.0", "https://localhost/p"},
		{"prefix", Options{Prefix: "/a/b"}, "/v1/models", "200 /v1/models HTTP/1.0", "http://127.0.0.1:"},
		{"directives", Options{Directives: `auth_basic x; auth_basic_user_file none;`}, "/", "401", "http://127.0.0.1:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.o.Network == "tcp6" && !loopback6() {
				t.Skip("no IPv6 on the loopback interface")
			}
			tt.o.Upstream = upstream(t)
			s := Start(t, tt.o)
			assert.Assert(t, strings.HasPrefix(s.URL, tt.url), s.URL)
			assert.Assert(t, strings.HasSuffix(s.URL, tt.o.Prefix), s.URL)
			res, err := client(t, s).Get(s.URL + tt.path)
			assert.NilError(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			assert.NilError(t, err)
			assert.Assert(t, strings.HasPrefix(fmt.Sprintf("%d %s", res.StatusCode, body), tt.want), "%d %s", res.StatusCode, body)
			if s.CAFile != "" {
				_, err := os.Stat(s.CAFile)
				assert.NilError(t, err)
			}
			if tt.o.Prefix != "" {
				res, err := client(t, s).Get(strings.TrimSuffix(s.URL, tt.o.Prefix) + tt.path)
				assert.NilError(t, err)
				res.Body.Close()
				assert.Equal(t, res.StatusCode, http.StatusNotFound)
			}
		})
	}
}

// TestRuns checks what is said about an nginx that does not run on this machine.
func TestRuns(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		unavailable  bool
		want         string // part of the error, or empty for none
	}{
		{"runs", `exit 0`, false, ""},
		{"a signal", `kill -SEGV $$`, true, "does not run on this machine: nginx -t: signal: segmentation fault"},
		{"an exit status", `echo unknown directive; exit 1`, false, "nginx -t: exit status 1: unknown directive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := runs([]string{"sh", "-c", tt.script})
			assert.Equal(t, errors.Is(err, need.ErrUnavailable), tt.unavailable)
			if tt.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func loopback6() bool {
	l, _, err := listen("tcp6", "")
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// TestKeepAlive checks which proxies keep connections open.
func TestKeepAlive(t *testing.T) {
	for _, off := range []bool{false, true} {
		s := Start(t, Options{Upstream: upstream(t), NoKeepAlive: off})
		c := client(t, s)
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
		for range 2 {
			get(t, ctx, c, s.URL)
		}
		assert.Equal(t, reused, !off)
	}
}

// get sends a request and reads the answer to its end.
func get(t *testing.T, ctx context.Context, c *http.Client, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	assert.NilError(t, err)
	res, err := c.Do(req)
	assert.NilError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	assert.NilError(t, errors.Join(err, res.Body.Close()))
	return res
}

// TestGzip checks which proxies compress answers. The transport asks for gzip.
func TestGzip(t *testing.T) {
	for _, on := range []bool{false, true} {
		s := Start(t, Options{Upstream: upstream(t), Gzip: on})
		assert.Equal(t, get(t, t.Context(), client(t, s), s.URL).Uncompressed, on)
	}
}

// TestUnbuffered checks that the proxy passes on the beginning of an answer at once. The server
// waits for the client before it sends the rest.
func TestUnbuffered(t *testing.T) {
	read := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "first ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-read:
			fmt.Fprint(w, "second")
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	s := Start(t, Options{Upstream: server.URL, Unbuffered: true})
	res, err := client(t, s).Get(s.URL)
	assert.NilError(t, err)
	defer res.Body.Close()
	first := make([]byte, len("first "))
	_, err = io.ReadFull(res.Body, first)
	assert.NilError(t, err)
	close(read)
	rest, err := io.ReadAll(res.Body)
	assert.NilError(t, err)
	assert.Equal(t, string(first)+string(rest), "first second")
}

// TestRefuses checks the error of a configuration that nginx refuses.
func TestRefuses(t *testing.T) {
	Start(t, Options{Upstream: upstream(t)}) // without nginx this skips the test
	command, err := find()
	assert.NilError(t, err)
	_, _, err = run(t.Context(), command, t.TempDir(), Options{Upstream: upstream(t), Directives: "no_such_directive 1;"})
	assert.ErrorContains(t, err, `ended before it was ready: exit status 1; its last lines:`)
	assert.ErrorContains(t, err, `unknown directive "no_such_directive"`)
	_, _, err = run(t.Context(), command, t.TempDir(), Options{Network: "udp"})
	assert.Error(t, err, `nginxtest: network "udp": want tcp4, tcp6 or unix`)
}

// TestEndsByItself checks the error of an nginx that ended before it was stopped.
func TestEndsByItself(t *testing.T) {
	Start(t, Options{Upstream: upstream(t)}) // without nginx this skips the test
	command, err := find()
	assert.NilError(t, err)
	dir := t.TempDir()
	_, stop, err := run(t.Context(), command, dir, Options{Upstream: upstream(t)})
	assert.NilError(t, err)
	assert.NilError(t, stop())
	assert.ErrorContains(t, stop(), "ended by itself")
}
