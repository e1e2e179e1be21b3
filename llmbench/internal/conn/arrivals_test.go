package conn

import (
	"math"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestArrivals(t *testing.T) {
	want := []Arrival{
		{3 * time.Second, 1_800_000_000_000_000_001},
		{3*time.Second + 5, 1_800_000_000_020_000_001},
		{3*time.Second + 5, 1_800_000_000_020_000_001},
		{4 * time.Second, 0},
		{2 * time.Second, math.MinInt64},
		{math.MaxInt64, math.MaxInt64},
		{math.MinInt64, math.MinInt64},
		{0, 0},
	}
	var a Arrivals
	for range 2 {
		a.Reset()
		for _, one := range want {
			a.Add(one)
		}
		assert.Equal(t, a.Len(), len(want))
		n := 0
		for i, one := range a.All() {
			assert.Equal(t, one, want[i])
			n++
		}
		assert.Equal(t, n, len(want))
	}
}
