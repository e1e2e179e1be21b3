package student

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

// TestQuantile compares quantiles with a table (https://www.itl.nist.gov/div898/handbook/eda/section3/eda3672.htm),
// and with the probability of what is above them.
func TestQuantile(t *testing.T) {
	for _, c := range []struct{ p, free, want float64 }{
		{0.1, 1, 3.078}, {0.025, 1, 12.706}, {0.001, 1, 318.309}, {0.05, 2, 2.920}, {0.025, 10, 2.228}, {0.001, 30, 3.385}, {0.025, 100, 1.984}, {0.5, 7, 0},
	} {
		got := Quantile(c.p, c.free)
		assert.Assert(t, math.Abs(got-c.want) < 0.0006, "%v of %v: %v, want %v", c.p, c.free, got, c.want)
		assert.Equal(t, Quantile(c.p, c.free), got)
		assert.Assert(t, math.Abs(Tail(got, c.free)-c.p) < 1e-9, "%v of %v: the tail is %v", c.p, c.free, Tail(got, c.free))
	}
	assert.Assert(t, math.IsNaN(Quantile(0.05, 0)) && math.IsNaN(Quantile(0.05, math.NaN())))
}
