package robust

import (
	"math"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		xs         []float64
		median, sd float64
	}{
		{nil, 0, 0},
		{[]float64{3}, 3, 0},
		{[]float64{4, 1}, 2.5, 1.4826 * 1.5},
		{[]float64{1000, 2, 4, 1, 3}, 3, 1.4826},
	} {
		before := slices.Clone(tt.xs)
		median, sd := Spread(tt.xs)
		assert.Equal(t, median, tt.median, "%v", tt.xs)
		assert.Assert(t, math.Abs(sd-tt.sd) < 1e-12, "%v: %v", tt.xs, sd)
		assert.Equal(t, Median(tt.xs), tt.median)
		assert.DeepEqual(t, tt.xs, before)
	}
}
