package send

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
)

// An idleTimer gives a stream up once it has shown no sign of life for the time limit. It begins with the
// first event. From then on, these are signs of life:
//
//   - output: text, the name of a tool, a token without text, or a higher count of output tokens
//   - the progress of llama.cpp with the prompt
//   - the first finish reason, and the end marker
//   - until the first output, what servers and gateways send while a request waits in a queue: comments of
//     text/event-stream, and events of the type ping
//
// All other events, such as deltas with an empty text, do not count. So a stream that has stopped does not last
// until the timeout of the request because a gateway keeps the connection open.
//
// A sign of life only stores its instant. The timer is set again when it fires too early, because that is
// cheaper than to set it at each event. The method stop may be called on nil.
type idleTimer struct {
	limit   time.Duration
	clock   conn.Clock
	giveUp  context.CancelCauseFunc
	last    atomic.Int64 // instant of the last sign of life on clock, in nanoseconds
	stopped atomic.Bool
	timer   *time.Timer
}

// newIdleTimer returns a timer for a stream. The caller must record the first sign of life at once, and must stop
// the timer.
func newIdleTimer(limit time.Duration, clock conn.Clock, giveUp context.CancelCauseFunc) *idleTimer {
	t := &idleTimer{limit: limit, clock: clock, giveUp: giveUp}
	t.timer = time.AfterFunc(time.Hour, t.fire) // fire uses t.timer, so it must not run before t.timer is set
	t.timer.Reset(limit)
	return t
}

// sign records a sign of life at the instant at.
func (t *idleTimer) sign(at time.Duration) { t.last.Store(int64(at)) }

// fire gives the stream up if it was idle for the limit. Otherwise it sets the timer again.
func (t *idleTimer) fire() {
	left := t.limit - (t.clock.Now() - time.Duration(t.last.Load()))
	if left <= 0 {
		t.giveUp(errStalled)
		return
	}
	t.timer.Reset(left)
	if t.stopped.Load() { // stop may have come before Reset
		t.timer.Stop()
	}
}

// stop stops the timer. The stream may be given up at the same time.
func (t *idleTimer) stop() {
	if t == nil {
		return
	}
	t.stopped.Store(true)
	t.timer.Stop()
}
