package robust

import (
	"math"
	"math/rand/v2"
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

// TestTrend checks that the interval has the true slope, also with points that are far off.
func TestTrend(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, slope := range []float64{0, 1, 1024} {
		missed := 0
		for range 1000 {
			var xs, ys []float64
			for i := range 16 {
				xs = append(xs, float64(i*100))
				ys = append(ys, 1e6+slope*xs[i]+random.NormFloat64()*1e4)
			}
			ys[5] += 1e9
			got := TrendOf(xs, ys)
			assert.Assert(t, got.Low <= got.Slope && got.Slope <= got.High)
			assert.Assert(t, math.Abs(got.Slope-slope) < 60, "%v: %v", slope, got)
			if slope < got.Low || slope > got.High {
				missed++
			}
		}
		assert.Assert(t, missed < 20, "%v: the interval missed the slope %d times of 1000", slope, missed) // 99 % hold it
	}
	assert.Equal(t, TrendOf([]float64{1, 2, 3, 4, 5, 6, 7, 8}, make([]float64, 8)), Trend{})
}
