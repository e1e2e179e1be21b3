// Package wake wakes a goroutine at instants, on Linux within tens of microseconds.
//
// A timer of package time fires up to a millisecond late in a process that is idle, because the
// runtime then waits for timers in epoll_wait, whose timeout is a number of milliseconds
// (netpoll in https://github.com/golang/go/blob/go1.26.0/src/runtime/netpoll_epoll.go). A [Waker]
// uses a timer until shortly before the instant, and then nanosleep on a thread of its own.
// BenchmarkLateness measures both.
package wake

import (
	"context"
	"time"
)

// last is how long before an instant a timer should fire, so that nanosleep waits for the rest. A
// longer time costs no CPU time, but a context that ends meanwhile is noticed that much later.
const last = 2 * time.Millisecond

// A Waker waits for instants, one after the other. One goroutine uses it.
type Waker struct {
	timer  *time.Timer
	thread *thread // nil once the clock has turned out to be virtual
}

// New returns a Waker for the calling goroutine. On Linux the goroutine is wired to its thread until
// Close, as by [runtime.LockOSThread].
func New() *Waker {
	w := &Waker{timer: time.NewTimer(0), thread: newThread()}
	w.timer.Stop()
	return w
}

// Close frees what w uses. The goroutine of New must call it.
func (w *Waker) Close() {
	w.timer.Stop()
	w.release()
}

// Until waits until the instant at, or until ctx ends. It returns at once if at has passed, and at
// most 2 ms after ctx has ended. The instant must have a reading of the monotonic clock.
func (w *Waker) Until(ctx context.Context, at time.Time) {
	for ctx.Err() == nil {
		left := time.Until(at)
		switch {
		case left <= 0:
			return
		case w.thread == nil:
			w.wait(ctx, left)
		case left > last:
			w.wait(ctx, left-last)
		default:
			w.sleep(left)
		}
	}
}

// wait waits with the timer.
func (w *Waker) wait(ctx context.Context, d time.Duration) {
	w.timer.Reset(d)
	select {
	case <-w.timer.C:
	case <-ctx.Done():
		w.timer.Stop()
	}
}

// sleep waits with the thread. The clock of a bubble of testing/synctest stands still meanwhile; there
// w goes on without a thread.
func (w *Waker) sleep(d time.Duration) {
	before := time.Now()
	w.thread.sleep(d)
	if time.Since(before) == 0 {
		w.release()
	}
}

// release lets the goroutine run on any thread again.
func (w *Waker) release() {
	if w.thread != nil {
		w.thread.release()
		w.thread = nil
	}
}
