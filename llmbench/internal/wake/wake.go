// Package wake wakes a goroutine at given instants, on Linux within tens of microseconds.
//
// In an idle process, a timer of package time fires up to a millisecond late. The runtime then waits for
// timers in epoll_wait, whose timeout is a whole number of milliseconds (netpoll in
// https://github.com/golang/go/blob/go1.26.0/src/runtime/netpoll_epoll.go). A [Waker] uses a timer until
// shortly before the instant, and then nanosleep on its own thread. BenchmarkLateness measures both.
package wake

import (
	"context"
	"time"
)

// last is how long before an instant the timer should fire; nanosleep waits for the rest. A longer time
// does not need CPU time, but while nanosleep waits, the end of a context is not noticed.
const last = 2 * time.Millisecond

// A Waker waits for instants, one after the other. Only one goroutine may use it.
type Waker struct {
	timer  *time.Timer
	thread *thread // nil if there is no thread, or if the clock is virtual
}

// New returns a Waker for the calling goroutine. On Linux, the goroutine is locked to its thread until
// Close, as with [runtime.LockOSThread].
func New() *Waker {
	w := &Waker{timer: time.NewTimer(0), thread: newThread()}
	w.timer.Stop()
	return w
}

// Close releases the resources of w. The goroutine that called New must call it.
func (w *Waker) Close() {
	w.timer.Stop()
	w.release()
}

// Until waits until the instant at, or until ctx ends. It returns at once if the instant has passed, and at
// most 2 ms after ctx has ended. The instant must have a monotonic clock reading.
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

// sleep waits with the thread. If the clock has not moved, it is the virtual clock of a testing/synctest
// bubble. In that case, w continues with its timer alone.
func (w *Waker) sleep(d time.Duration) {
	before := time.Now()
	w.thread.sleep(d)
	if time.Since(before) == 0 {
		w.release()
	}
}

// release allows the goroutine to run on any thread again.
func (w *Waker) release() {
	if w.thread != nil {
		w.thread.release()
		w.thread = nil
	}
}
