package conn

import (
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestClock checks the conversion of wall clock instants with an exact clock, and that a change of the wall
// clock is noticed.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var change time.Duration
		c := NewClock(func() int64 { return WallClock() + int64(change) })
		began := WallClock()
		assert.Equal(t, c.Epoch().UnixNano(), began)
		time.Sleep(3 * time.Second)
		assert.Equal(t, c.Now(), 3*time.Second)
		assert.Equal(t, c.FromWall(WallClock()), 3*time.Second)
		for _, tt := range []struct{ change, want time.Duration }{
			{0, 0}, {sample.ClockError / 2, 0}, {-sample.ClockError / 2, 0},
			{time.Second, time.Second}, {-time.Hour, -time.Hour}, {sample.ClockError, sample.ClockError},
		} {
			change = tt.change
			assert.Equal(t, c.WallChange(), tt.want, "set by %v", tt.change)
		}
	})
}
