package send

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
)

// An idleTimer gives a stream up once no event has come for the time limit. An event only stores
// its instant. The timer is set again when it fires too early, because that is cheaper than to set it at each
// event. The method stop may be called on nil.
type idleTimer struct {
	limit   time.Duration
	clock   conn.Clock
	giveUp  context.CancelCauseFunc
	last    atomic.Int64 // instant of the last event on clock, in nanoseconds
	stopped atomic.Bool
	timer   *time.Timer
}

// newIdleTimer returns a timer for a stream. The caller must record the first event at once, and must stop
// the timer.
func newIdleTimer(limit time.Duration, clock conn.Clock, giveUp context.CancelCauseFunc) *idleTimer {
	t := &idleTimer{limit: limit, clock: clock, giveUp: giveUp}
	t.timer = time.AfterFunc(time.Hour, t.fire) // fire uses t.timer, so it must not run before t.timer is set
	t.timer.Reset(limit)
	return t
}

// event records that an event came at the instant at.
func (t *idleTimer) event(at time.Duration) { t.last.Store(int64(at)) }

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
