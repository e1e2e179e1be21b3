package numbers

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

func TestCount(t *testing.T) {
	assert.Equal(t, Count(0, "run"), "0 runs")
	assert.Equal(t, Count(1, "run"), "1 run")
	assert.Equal(t, Count(2, "gated row"), "2 gated rows")
	assert.Equal(t, Count(1, "series"), "1 series")
	assert.Equal(t, Count(2, "series"), "2 series")
}

func TestRounded(t *testing.T) {
	assert.Equal(t, Rounded(123456, 4), 123500.0)
	assert.Equal(t, Rounded(-0.000123456, 3), -0.000123)
	assert.Equal(t, Rounded(0, 6), 0.0)
	assert.Equal(t, Rounded(math.Inf(1), 4), math.Inf(1))
}
