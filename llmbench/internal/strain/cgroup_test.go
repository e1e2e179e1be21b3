package strain

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestThrottledIn(t *testing.T) {
	for _, tt := range []struct {
		stat string
		want time.Duration
	}{
		{"usage_usec 9\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1500\nnr_bursts 0\n", 1500 * time.Microsecond},
		{"nr_periods 3\nnr_throttled 2\nthrottled_time 1500\n", 1500},
		{"usage_usec 9\nuser_usec 9\nsystem_usec 0\n", 0},
		{"throttled_usec many\n", 0},
		{"", 0},
	} {
		assert.Equal(t, throttledIn(tt.stat), tt.want, "%q", tt.stat)
	}
}
