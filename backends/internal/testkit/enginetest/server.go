package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/ports"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/program"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// Limits of a start and of a stop.
const (
	startTimeout = 10 * time.Minute
	startPoll    = 50 * time.Millisecond
	stopDelay    = 5 * time.Second
)

// Options says how an engine is started. The zero value is good.
type Options struct {
	Key  string    // that clients must send; "" means none, and an engine that cannot require one ignores it
	Addr string    // host:port to listen on; "" means a free port of 127.0.0.1
	Args []string  // further arguments of the engine
	Log  io.Writer // receives the output of all programs, if not nil
}

// A Server is a running engine.
type Server struct {
	Engine
	URL   string        // base URL without a trailing slash
	Key   string        // that clients must send
	Model string        // folder of the model
	Ready time.Duration // from the start until the engine was ready

	running []*program.Program // in the order of e.programs
	paths   *strings.Replacer
	tmp     string // removed by Close
	log     *serverlog.Log
	close   sync.Once
	err     error
}

// Start runs an engine until tb ends. If the engine is not installed, Start skips tb, or fails it; see [Engine.Each].
// Any other error fails tb. With -short, Start skips tb.
func Start(tb testing.TB, e Engine, o Options) *Server {
	tb.Helper()
	Check(tb, e)
	s, err := e.Run(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Check skips tb, or fails it, if the engine is not installed; see [Engine.Each]. With -short, it skips tb.
func Check(tb testing.TB, e Engine) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: a real engine takes seconds")
	}
	_, err := e.Installed()
	switch {
	case err == nil:
	case !errors.Is(err, need.ErrUnavailable):
		tb.Fatal(err)
	case e.Each:
		need.Missing(tb, need.Engines, err)
	default:
		tb.Skip(err)
	}
}

// Run starts an engine and waits until it is ready. ctx bounds only the wait. The engine runs until [Server.Close] is
// called or this process ends. The error wraps [need.ErrUnavailable] if the engine is not installed.
func (e Engine) Run(ctx context.Context, o Options) (*Server, error) {
	tmp, err := os.MkdirTemp("", "llmbench-engine-")
	if err != nil {
		return nil, err
	}
	replace, err := e.paths(ctx, tmp)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	s := &Server{Engine: e, tmp: tmp, Model: replace.Replace("{model}"), paths: replace, log: &serverlog.Log{Next: o.Log}}
	if e.Keyed() {
		s.Key = o.Key
	}
	began, port := time.Now(), ""
	for i, p := range e.programs {
		args, addr := slices.Clone(p.args), ""
		if i == len(e.programs)-1 {
			addr, args = o.Addr, append(args, o.Args...)
			if s.Key != "" {
				args = append(args, e.keyed...)
			}
		}
		host, free, err := ports.FreeAddr(addr)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("enginetest: %s: %w", e.Name, err), s.Close())
		}
		ports := strings.NewReplacer("{port}", free, "{upstream}", port, "{key}", s.Key, "127.0.0.1", host)
		fill := func(text string) string { return replace.Replace(ports.Replace(text)) }
		c := program.Command{Env: os.Environ(), Output: s.log, StopDelay: stopDelay}
		for _, v := range p.env {
			c.Env = append(c.Env, fill(v))
		}
		for _, word := range args {
			c.Args = append(c.Args, fill(word))
		}
		started, err := program.Start(c)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("enginetest: %s: %w", e.Name, err), s.Close())
		}
		s.running, port, s.URL = append(s.running, started), free, "http://"+net.JoinHostPort(host, free)
	}
	if err := s.wait(ctx); err != nil {
		log := s.log.String()
		return nil, errors.Join(fmt.Errorf("enginetest: %s at %s: %w; its last lines:\n%s", e.Name, s.URL, err, log), s.Close())
	}
	s.Ready = time.Since(began)
	return s, nil
}

// wait waits until the engine is ready.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	last := errors.New("no answer")
	for {
		body, err := s.get(ctx, s.ready.path)
		switch {
		case err == nil && strings.Contains(body, s.ready.contains):
			return nil
		case err == nil:
			last = fmt.Errorf("GET %s: %.300s: want %s", s.ready.path, body, s.ready.contains)
		case ctx.Err() == nil:
			last = err
		}
		if end := s.ended(); end != "" {
			return errors.New("ended before it was ready: " + end)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// ended says how a program has ended, or returns "" if all run.
func (s *Server) ended() string {
	for _, p := range s.running {
		select {
		case <-p.Ended():
			return p.End()
		default:
		}
	}
	return ""
}

// OwnBenchmark returns the command of the engine's own benchmark with random prompts, which writes its results to file.
func (s *Server) OwnBenchmark(ctx context.Context, requests, concurrency, input, output int, file string) *exec.Cmd {
	replace := strings.NewReplacer("{url}", s.URL, "{requests}", strconv.Itoa(requests), "{concurrency}", strconv.Itoa(concurrency),
		"{input}", strconv.Itoa(input), "{output}", strconv.Itoa(output), "{file}", file)
	last := s.programs[len(s.programs)-1]
	words := make([]string, len(s.ownBenchmark))
	for i, word := range s.ownBenchmark {
		words[i] = s.paths.Replace(replace.Replace(word))
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+s.Key)
	for _, v := range last.env {
		cmd.Env = append(cmd.Env, s.paths.Replace(v))
	}
	return cmd
}

// Signal sends a signal to all processes of the engine's last program, which answers requests.
func (s *Server) Signal(sig syscall.Signal) error { return s.running[len(s.running)-1].Signal(sig) }

// Terminate sends a signal that ends the engine. Afterwards, [Server.Close] returns no error.
func (s *Server) Terminate(sig syscall.Signal) error {
	s.close.Do(func() {})
	return s.Signal(sig)
}

// Done returns a channel that is closed when the engine's last program has ended.
func (s *Server) Done() <-chan struct{} { return s.running[len(s.running)-1].Ended() }

// Log returns the last lines that the engine has written.
func (s *Server) Log() string { return s.log.String() }

// Close stops the engine and waits until it has ended. It returns an error if the engine had ended by itself.
func (s *Server) Close() error {
	s.close.Do(func() {
		if end := s.ended(); end != "" && s.Ready > 0 {
			s.err = fmt.Errorf("enginetest: %s at %s ended by itself: %s; its last lines:\n%s", s.Name, s.URL, end, s.log)
		}
	})
	for _, p := range slices.Backward(s.running) {
		_, err := p.Stop()
		s.err = errors.Join(s.err, err)
	}
	s.err = errors.Join(s.err, os.RemoveAll(s.tmp))
	return s.err
}
