package send

import (
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
)

// TestIdleTimer checks that a timer expires once, a limit after the last event, and never after stop.
func TestIdleTimer(t *testing.T) {
	const limit = time.Second
	for _, c := range []struct {
		name   string
		pauses []time.Duration // before each event, the time since the event before, or since the beginning
		read   time.Duration   // how long before its event an event was read
		stop   time.Duration   // time from the last event to stop
		want   time.Duration   // when the timer expires; 0 means never
	}{
		{"one event", []time.Duration{0}, 0, time.Minute, limit},
		{"events within the limit", []time.Duration{0, 900 * time.Millisecond, 900 * time.Millisecond}, 0, time.Minute, 1800*time.Millisecond + limit},
		{"many events", []time.Duration{0, 10 * time.Millisecond, 10 * time.Millisecond}, 0, time.Minute, 20*time.Millisecond + limit},
		{"read earlier", []time.Duration{0, 900 * time.Millisecond}, 300 * time.Millisecond, time.Minute, 600*time.Millisecond + limit},
		{"stopped in time", []time.Duration{0, 900 * time.Millisecond}, 0, 900 * time.Millisecond, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := conn.NewClock(conn.WallClock)
				var expired []time.Duration
				timer := newIdleTimer(limit, clock, func(why error) {
					assert.Check(t, why == errStalled, "%v", why)
					expired = append(expired, clock.Now())
				})
				for _, pause := range c.pauses {
					time.Sleep(pause)
					timer.sign(clock.Now() - c.read)
				}
				time.Sleep(c.stop)
				synctest.Wait()
				timer.stop()
				time.Sleep(time.Hour)
				synctest.Wait()
				if c.want == 0 {
					assert.Equal(t, len(expired), 0)
					return
				}
				assert.DeepEqual(t, expired, []time.Duration{c.want})
			})
		})
	}
	(*idleTimer)(nil).stop() // a stream without events
}

// TestIdleTimerStopped checks a timer that fires too early just when it is stopped: it is not set again.
func TestIdleTimerStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := conn.NewClock(conn.WallClock)
		timer := newIdleTimer(time.Second, clock, func(why error) { t.Error(why) })
		timer.sign(clock.Now())
		timer.stop()
		timer.fire()
		time.Sleep(time.Hour)
		synctest.Wait()
	})
}
