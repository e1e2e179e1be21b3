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
		events []time.Duration // before each event, the pause since the event before
		stop   time.Duration   // pause from the last event to stop
		want   time.Duration   // when the timer expires; 0 means never
	}{
		{"no event after the first", nil, time.Minute, limit},
		{"events within the limit", []time.Duration{900 * time.Millisecond, 900 * time.Millisecond}, time.Minute, 1800*time.Millisecond + limit},
		{"many events", []time.Duration{10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond}, time.Minute, 30*time.Millisecond + limit},
		{"stopped in time", []time.Duration{900 * time.Millisecond}, 900 * time.Millisecond, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := conn.NewClock(conn.WallClock)
				var expired []time.Duration
				timer := newIdleTimer(limit, clock, func(why error) {
					assert.Check(t, why == errStalled, "%v", why)
					expired = append(expired, clock.Now())
				})
				for _, pause := range c.events {
					time.Sleep(pause)
					timer.event(clock.Now())
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
