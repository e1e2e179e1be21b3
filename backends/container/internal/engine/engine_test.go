package engine

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

// fakeEngine returns a client of an engine that answers by handler. opened is called for each connection.
func fakeEngine(t *testing.T, handler http.HandlerFunc, opened func()) *client.Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	assert.NilError(t, err)
	srv := &http.Server{Handler: handler, ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened()
		}
	}}
	go srv.Serve(l) // returns when srv is closed
	t.Cleanup(func() { srv.Close() })
	cli, err := client.New(client.WithHost("unix://"+socket), client.WithAPIVersion("1.44"))
	assert.NilError(t, err)
	t.Cleanup(func() { cli.Close() })
	return cli
}

// TestCloseKeepsConnections closes the provider between requests, as testcontainers does at the end of
// most calls. The connection must stay open, because another start may be using it.
func TestCloseKeepsConnections(t *testing.T) {
	var opened atomic.Int32
	cli := fakeEngine(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, func() { opened.Add(1) })
	p := &testcontainers.DockerProvider{}
	p.SetClient(cli)
	e := newEngine(p)
	for range 3 {
		_, err := e.client.ContainerStart(t.Context(), "c", client.ContainerStartOptions{})
		assert.NilError(t, err)
		assert.NilError(t, p.Close())
	}
	assert.Equal(t, opened.Load(), int32(1))
}

// TestLogOfShortLife reads the log of a container from an engine that gives a follower nothing, and from one that
// gives a follower everything.
func TestLogOfShortLife(t *testing.T) {
	for _, followed := range []bool{false, true} {
		e := &Engine{client: fakeEngine(t, func(w http.ResponseWriter, r *http.Request) {
			if follow := r.URL.Query().Get("follow") == "1"; follow == followed {
				io.WriteString(w, "\x02\x00\x00\x00\x00\x00\x00\x05last\n") // the header of five bytes on stderr
			}
		}, func() {})}
		c := &Container{engine: e, log: &serverlog.Log{}, life: t.Context(), reading: t.Context()}
		c.readLog("c")
		assert.Equal(t, c.log.String(), "last", "followed %v", followed)
	}
}
