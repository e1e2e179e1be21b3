package ollamatest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/ports"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
)

// A Server is a running Ollama.
type Server struct {
	URL string // base URL without a trailing slash, such as http://127.0.0.1:11434

	process *child.Process
	dir     string // home directory of the server
	log     *serverlog.Log
	close   sync.Once
	ended   error // the result of Close
}

// Run starts a server and waits until its model is loaded. ctx bounds only the wait. The server runs until
// [Server.Close] is called; on Linux it also ends with this process. The error wraps [need.ErrUnavailable] if
// Ollama is not built; see [Build].
func Run(ctx context.Context, o Options) (*Server, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	o.Parallel = cmp.Or(o.Parallel, 4)
	o.Context = cmp.Or(o.Context, 4096)
	o.Model.Context = max(o.Model.WithDefaults().Context, o.Context)
	host, port, err := ports.FreeAddr(o.Addr)
	if err != nil {
		return nil, fmt.Errorf("ollamatest: %w", err)
	}
	addr := net.JoinHostPort(host, port)
	dir, err := os.MkdirTemp("", "ollamatest-")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + addr, dir: dir, log: &serverlog.Log{Next: o.Log}}
	cmd := exec.Command(program, "serve")
	cmd.Dir = dir
	// https://docs.ollama.com/faq
	cmd.Env = []string{
		"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "GIN_MODE=release",
		"OLLAMA_HOST=" + addr, "OLLAMA_MODELS=" + filepath.Join(dir, "models"),
		"OLLAMA_NUM_PARALLEL=" + strconv.Itoa(o.Parallel), "OLLAMA_KEEP_ALIVE=-1", "OLLAMA_NO_CLOUD=1",
	}
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if s.process, err = child.Start(cmd, stopDelay); err != nil {
		return nil, errors.Join(fmt.Errorf("ollamatest: %w", err), os.RemoveAll(dir))
	}
	if err := s.setUp(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("ollamatest: Ollama at %s: %w; its last lines:\n%s", s.URL, err, s.log), s.Close())
	}
	return s, nil
}

// Done returns a channel that is closed when the server has exited.
func (s *Server) Done() <-chan struct{} { return s.process.Done }

// Close stops the server and waits until it has exited. It returns an error if the server had exited by
// itself.
func (s *Server) Close() error {
	s.close.Do(func() {
		s.ended = errors.Join(s.process.Close("ollamatest: Ollama at "+s.URL, s.log), os.RemoveAll(s.dir))
	})
	return s.ended
}
