package engine

import (
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"gotest.tools/v3/assert"
)

// TestCloseKeepsConnections closes the provider between requests, as testcontainers does at the end of
// most calls. The connection must stay open, because another start may be using it.
func TestCloseKeepsConnections(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	assert.NilError(t, err)
	var opened atomic.Int32
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				opened.Add(1)
			}
		},
	}
	go srv.Serve(l) // returns when srv is closed
	defer srv.Close()
	cli, err := client.New(client.WithHost("unix://"+socket), client.WithAPIVersion("1.44"))
	assert.NilError(t, err)
	defer cli.Close()
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
