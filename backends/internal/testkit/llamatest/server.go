package llamatest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/ports"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// A Server is a running llama-server.
type Server struct {
	URL string // base URL without a trailing slash, such as http://127.0.0.1:8080

	process *child.Process
	log     *serverlog.Log
	close   sync.Once
}

// Run starts a server and waits until it is ready. ctx bounds only the wait. The server runs until
// [Server.Close] is called or this process ends, even if this process is killed. If the server exits or
// does not become ready, the error contains the last lines of its log. The error wraps [need.ErrUnavailable] if
// this machine cannot run the server.
func Run(ctx context.Context, o Options) (*Server, error) {
	o.Parallel = cmp.Or(o.Parallel, 4)
	o.Context = cmp.Or(o.Context, 4096)
	o.Model.Context = max(o.Model.WithDefaults().Context, o.Context)

	container, err := needsContainer(ctx, o)
	if err != nil {
		return nil, err
	}
	root, err := rootfs()
	if err != nil {
		return nil, err
	}
	model, err := writeModel(filepath.Join(root, "models"), o.Model)
	if err != nil {
		return nil, err
	}
	s := &Server{log: &serverlog.Log{Next: o.Log}}
	if container {
		s.process, s.URL, err = startContainer(ctx, root, model, o, s.log)
	} else {
		s.process, s.URL, err = startNative(root, model, o, s.log)
	}
	if err != nil {
		return nil, fmt.Errorf("llamatest: %w", err)
	}
	if o.NoWait {
		return s, nil
	}
	// The server refuses connections until its port is open, and answers 503 until the model is loaded.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second} // without a proxy
	if err := s.process.WaitReady(ctx, child.Answers(client, s.URL+"/health", http.StatusOK)); err != nil {
		s.process.Stop()
		return nil, fmt.Errorf("llamatest: llama-server at %s: %w; its last lines:\n%s", s.URL, err, s.log)
	}
	return s, nil
}

// needsContainer reports whether the server must run in a container, because o asks for it or because a
// chroot is not possible.
func needsContainer(ctx context.Context, o Options) (bool, error) {
	if o.Container {
		return true, need.Of(need.Docker, dockerUsable(ctx))
	}
	native := canChroot()
	if native == nil {
		return false, nil
	}
	if err := dockerUsable(ctx); err != nil {
		return false, fmt.Errorf("%w; and no chroot: %w", err, native)
	}
	return true, nil
}

// startNative starts the server in a chroot and returns its URL.
func startNative(root, model string, o Options, log *serverlog.Log) (*child.Process, string, error) {
	host, port, err := ports.FreeAddr(o.Addr)
	if err != nil {
		return nil, "", err
	}
	p, err := startChroot(root, arguments(o, model, host, port), log)
	return p, "http://" + net.JoinHostPort(host, port), err
}

// Done returns a channel that is closed when the server has exited.
func (s *Server) Done() <-chan struct{} { return s.process.Done }

// Log returns the last 40 lines that the server has written.
func (s *Server) Log() string { return s.log.String() }

// Close stops the server, by force after a second, and waits until it has exited. It returns an error if
// the server had exited by itself. Later calls return nil.
func (s *Server) Close() (err error) {
	s.close.Do(func() { err = s.process.Close("llamatest: llama-server at "+s.URL, s.log) })
	return err
}
