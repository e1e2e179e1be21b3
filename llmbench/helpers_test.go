package llmbench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"gotest.tools/v3/assert"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// loopback serves cfg on a loopback socket.
func loopback(tb testing.TB, cfg mockserver.Config) (*mockserver.Server, Target) {
	tb.Helper()
	srv, err := mockserver.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	url, stop, err := mockserver.Listen("127.0.0.1:0", srv)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(0) })
	return srv, Target{URL: url, Model: "mock"}
}

// inMemory serves h over pipes, for use in a synctest bubble. Stop must be
// called before the bubble ends.
func inMemory(t *testing.T, h http.Handler) (target Target, stop func()) {
	ln := &memListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	var wg sync.WaitGroup
	wg.Go(func() { srv.Serve(ln) })
	target = Target{URL: "http://mem", Model: "mock", Dial: ln.dial}
	return target, func() { srv.Close(); wg.Wait() }
}

// memListener accepts the connections that its dial makes.
type memListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *memListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memListener) Addr() net.Addr { return &net.UnixAddr{Name: "mem", Net: "mem"} }

// rawServer calls serve with each connection that is made to it, which is then
// closed.
func rawServer(tb testing.TB, serve func(net.Conn)) (url string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(tb, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	tb.Cleanup(func() { ln.Close(); wg.Wait() })
	return "http://" + ln.Addr().String()
}

// words returns n requests of a few words for out tokens each.
func words(n, out int) []Request {
	all := make([]Request, n)
	for i := range all {
		all[i] = Request{Prompt: "one two three four", MaxTokens: out, FixedOutput: true}
	}
	return all
}

// onePass sends l's requests to t once.
func onePass(tb testing.TB, t Target, l Load) []Sample {
	tb.Helper()
	samples, err := tryPass(tb.Context(), t, l)
	if err != nil {
		tb.Fatal(err)
	}
	return samples
}

// tryPass is onePass with its error. It is one, too, to leave a connection open.
func tryPass(ctx context.Context, t Target, l Load) (samples []Sample, err error) {
	l, err = l.check()
	if err != nil {
		return nil, err
	}
	posts, err := l.bodies(t, l.Requests)
	if err != nil {
		return nil, err
	}
	c, err := newClient(t, l.Concurrency)
	if err != nil {
		return nil, err
	}
	defer func() {
		c.close()
		for range 5000 { // a connection that was given up takes a moment to close
			if c.dialer.inUse() == 0 {
				return
			}
			time.Sleep(ms)
		}
		err = errors.Join(err, fmt.Errorf("%d connections are left open", c.dialer.inUse()))
	}()
	return c.pass(ctx, &l, posts)
}

// inUse is how many connections are not closed.
func (d *dialer) inUse() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

const ms = time.Millisecond
