package process

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
)

// Watch makes Main return 1 if tb fails, and arranges that the lines of tb's results are edited.
func Watch(tb testing.TB) {
	p := current
	p.edit(tb)
	tb.Cleanup(func() {
		if tb.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = true
			if !p.table.Has(tb.Name()) {
				p.table.Add(screen.Entry{Benchmark: tb.Name(), Notes: []string{screen.FailedUnknown}})
			}
		}
	})
}

// Benchmarks returns the names of the benchmarks that the process runs, in their order, or nil if they are unknown.
func Benchmarks() []string {
	if current.job == nil {
		return nil
	}
	return current.job.Names()
}

// Context returns a context that ends with tb, with a signal that Main catches, or when the connection to
// another process is lost.
func Context(tb testing.TB) context.Context {
	ctx, cancel := context.WithCancelCause(tb.Context())
	current.mu.Lock()
	interrupt := current.interrupt
	current.mu.Unlock()
	if interrupt != nil {
		stop := context.AfterFunc(interrupt, func() { cancel(context.Cause(interrupt)) })
		tb.Cleanup(func() { stop() })
		if interrupt.Err() != nil {
			cancel(context.Cause(interrupt))
		}
	}
	tb.Cleanup(func() { cancel(nil) })
	return ctx
}

// patience is how long requests in flight may go on after a signal.
const patience = 5 * time.Second

// Patient returns a context like that of [Context], which ends later after a signal, so that requests in flight may end. The
// channel enough is closed by the signal: no further requests should be sent. It is nil if several processes measure together,
// because all of them would have to stop at the same request; the context then is that of Context.
func Patient(tb testing.TB) (ctx context.Context, enough <-chan struct{}) {
	now := Context(tb)
	current.mu.Lock()
	group := current.group
	current.mu.Unlock()
	if group != nil {
		return now, nil
	}
	ctx, cancel := context.WithCancelCause(tb.Context())
	stop := context.AfterFunc(now, func() {
		if why := context.Cause(now); errors.Is(why, errInterrupted) {
			Tell(fmt.Sprintf("interrupted: the requests in flight have up to %v to end; a second signal ends the process at once", patience))
			select {
			case <-time.After(patience):
			case <-ctx.Done():
			}
		}
		cancel(context.Cause(now))
	})
	tb.Cleanup(func() { stop(); cancel(nil) })
	return ctx, now.Done()
}

// NextPass returns the number of the next pass of a benchmark, from 0. It counts the passes of all -count
// samples.
func NextPass(benchmark string) int {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.passes[benchmark]
	p.passes[benchmark]++
	return n
}

// Sent adds the openings of prompts that will be sent to a server. It returns how many of them are
// repeated.
func Sent(server string, openings []prefix.Opening) (repeated int) {
	return current.sent.Add(server, openings)
}
