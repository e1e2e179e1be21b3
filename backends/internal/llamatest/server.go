package llamatest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

// A Server is a running llama-server.
type Server struct {
	URL string // base URL without a slash at its end, such as http://127.0.0.1:8080

	process *child.Process
	log     *serverlog.Log
	close   sync.Once
}

const (
	readyTimeout = 2 * time.Minute // from the start of the process until the model is loaded
	readyPoll    = 10 * time.Millisecond
)

// Run starts a server and waits until it is ready. ctx bounds the wait only. The
// server runs until [Server.Close], and ends with this process even if this process
// is killed. If the server ends or does not become ready, the error has the last
// lines of its log. The error wraps [ErrUnavailable] if this machine cannot run the
// server.
func Run(ctx context.Context, o Options) (*Server, error) {
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	if o.Context == 0 {
		o.Context = 4096
	}
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
	if err := s.waitReady(ctx); err != nil {
		s.process.Stop()
		return nil, fmt.Errorf("llamatest: llama-server at %s: %w; its last lines:\n%s", s.URL, err, s.log)
	}
	return s, nil
}

// needsContainer reports whether the server must run in a container: if o says so, or
// if a chroot is not possible.
func needsContainer(ctx context.Context, o Options) (bool, error) {
	if o.Container {
		return true, dockerUsable(ctx)
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
	host, port, err := child.FreeAddr(o.Addr)
	if err != nil {
		return nil, "", err
	}
	p, err := startChroot(root, arguments(o, model, host, port), log)
	return p, "http://" + net.JoinHostPort(host, port), err
}

// waitReady waits until /health answers 200. Connections are refused until the port is
// open, and the answer is 503 until the model is loaded.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not ready after %v", readyTimeout))
	defer cancel()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second} // without a proxy
	probing, end := context.WithCancel(ctx)                                                               // until the server ends
	defer end()
	go func() {
		select {
		case <-s.process.Done:
			end()
		case <-probing.Done():
		}
	}()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for last := errors.New("no answer"); ; {
		status, err := health(probing, &client, s.URL)
		if err != nil {
			last = err
		} else if status != http.StatusOK {
			last = fmt.Errorf("/health: status %d", status)
		}
		select {
		case <-s.process.Done:
			return fmt.Errorf("ended before it was ready: %w", s.process.Err)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		default:
		}
		if err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-s.process.Done:
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func health(ctx context.Context, client *http.Client, url string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/health", nil)
	if err != nil {
		return 0, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	res.Body.Close()
	return res.StatusCode, nil
}

// Done returns a channel that is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.Done }

// Log returns the last 40 lines that the server has written.
func (s *Server) Log() string { return s.log.String() }

// Close ends the server, by force after a second, and waits for its end. It returns an
// error if the server had ended by itself. Later calls return nil.
func (s *Server) Close() (err error) {
	s.close.Do(func() {
		select {
		case <-s.process.Done:
			err = fmt.Errorf("llamatest: llama-server at %s ended by itself: %w; its last lines:\n%s", s.URL, s.process.Err, s.log)
		default:
		}
		s.process.Stop()
	})
	return err
}
