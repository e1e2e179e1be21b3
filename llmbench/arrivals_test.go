package llmbench

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestArrivals(t *testing.T) {
	const n, rate = 20000, 50
	for _, c := range []struct {
		arrivals Arrivals
		cv       float64 // coefficient of variation of the intervals
	}{
		{Constant{Rate: rate}, 0},
		{Poisson{Rate: rate, Seed: 7}, 1},
		{Gamma{Rate: rate, Shape: 1, Seed: 7}, 1},
		{Gamma{Rate: rate, Shape: 4, Seed: 7}, 0.5},
		{Gamma{Rate: rate, Shape: 0.25, Seed: 7}, 2},
	} {
		t.Run(fmt.Sprintf("%T%+v", c.arrivals, c.arrivals), func(t *testing.T) {
			times, err := c.arrivals.Times(n)
			assert.NilError(t, err)
			assert.Equal(t, times[0], time.Duration(0))
			assert.Assert(t, slices.IsSorted(times))
			// The mean rate is hit exactly.
			assert.Equal(t, times[n-1], time.Duration(n-1)*time.Second/rate)
			if got := variation(times); math.Abs(got-c.cv) > 0.05*c.cv+1e-6 {
				t.Errorf("coefficient of variation of %+v = %.3f; want %.3f", c.arrivals, got, c.cv)
			}
			again, err := c.arrivals.Times(n)
			assert.NilError(t, err)
			assert.Assert(t, slices.Equal(times, again), "the same arrivals differ")
		})
	}
	one, _ := Poisson{Rate: 1, Seed: 1}.Times(100)
	two, _ := Poisson{Rate: 1, Seed: 2}.Times(100)
	assert.Assert(t, !slices.Equal(one, two), "two seeds give the same arrivals")
}

// variation is the standard deviation of the intervals over their mean.
func variation(times []time.Duration) float64 {
	n := float64(len(times) - 1)
	mean := times[len(times)-1].Seconds() / n
	var sum float64
	for i := 1; i < len(times); i++ {
		d := (times[i] - times[i-1]).Seconds() - mean
		sum += d * d
	}
	return math.Sqrt(sum/n) / mean
}

// TestArrivalsStay pins the schedules of a seed: a change would make results
// incomparable with those of earlier versions.
func TestArrivalsStay(t *testing.T) {
	for _, c := range []struct {
		arrivals Arrivals
		want     []time.Duration
	}{
		{Constant{Rate: 4}, []time.Duration{0, 250 * ms, 500 * ms, 750 * ms}},
		{Poisson{Rate: 4, Seed: 1}, []time.Duration{0, 324122140, 447569999, 750 * ms}},
		{Gamma{Rate: 4, Shape: 0.5, Seed: 1}, []time.Duration{0, 177011746, 274657567, 750 * ms}},
	} {
		got, err := c.arrivals.Times(len(c.want))
		assert.NilError(t, err)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v.Times(%d) = %d; want %d", c.arrivals, len(c.want), got, c.want)
		}
	}
}

func TestArrivalsErrors(t *testing.T) {
	for _, c := range []struct {
		arrivals Arrivals
		n        int
		want     string
	}{
		{Constant{}, 1, "rate 0"},
		{Constant{Rate: math.NaN()}, 1, "rate NaN"},
		{Poisson{Rate: -1}, 1, "rate -1"},
		{Gamma{Rate: 1, Shape: math.Inf(1)}, 1, "shape +Inf"},
		{Gamma{Rate: 1, Shape: 1e-5}, 3, "too uneven"},
		{Poisson{Rate: 1}, 0, "0 requests"},
		{Poisson{Rate: 1e-300}, 3, "longer than a duration"},
	} {
		_, err := c.arrivals.Times(c.n)
		assert.ErrorContains(t, err, c.want)
	}
}
