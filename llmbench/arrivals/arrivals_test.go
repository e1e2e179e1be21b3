package arrivals

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

const ms = time.Millisecond

func TestArrivals(t *testing.T) {
	const n, rate = 20000, 50
	for _, c := range []struct {
		arrivals Process
		cv       float64 // coefficient of variation of the intervals
	}{
		{Constant{Rate: rate}, 0},
		{Poisson{Rate: rate, Seed: 7}, 1},
		{Gamma{Rate: rate, Shape: 1, Seed: 7}, 1},
		{Gamma{Rate: rate, Shape: 4, Seed: 7}, 0.5},
		{Gamma{Rate: rate, Shape: 0.25, Seed: 7}, 2},
	} {
		t.Run(fmt.Sprint(c.arrivals.Name(), c.arrivals.Parameters()), func(t *testing.T) {
			times, err := c.arrivals.Times(n)
			assert.NilError(t, err)
			assert.Equal(t, times[0], time.Duration(0))
			assert.Assert(t, slices.IsSorted(times))
			// The mean rate is exact.
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

// variation returns the coefficient of variation of the intervals: their standard deviation divided by
// their mean.
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

// TestArrivalsStay checks that a seed gives the same schedules as in earlier versions, so that new results
// can be compared with earlier ones.
func TestArrivalsStay(t *testing.T) {
	for _, c := range []struct {
		arrivals Process
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
		arrivals Process
		n        int
		want     string
	}{
		{Constant{}, 1, "rate 0"},
		{Constant{Rate: math.NaN()}, 1, "rate NaN"},
		{Poisson{Rate: -1}, 1, "rate -1"},
		{Gamma{Rate: 1, Shape: math.Inf(1)}, 1, "shape +Inf"},
		{Gamma{Rate: 1, Shape: 1e-5}, 3, "all intervals are rounded to 0"},
		{Poisson{Rate: 1}, 0, "0 requests"},
		{Poisson{Rate: 1e-300}, 3, "longer than a duration"},
	} {
		_, err := c.arrivals.Times(c.n)
		assert.ErrorContains(t, err, c.want)
	}
}

// TestParameters checks the parameters of each process in records.
func TestParameters(t *testing.T) {
	second := []time.Duration{0, time.Second}
	for _, c := range []struct {
		process    Process
		name       string
		parameters map[string]string
	}{
		{Constant{Rate: 4}, "constant", map[string]string{"rate": "4"}},
		{Poisson{Rate: 0.1, Seed: math.MaxUint64}, "poisson", map[string]string{"rate": "0.1", "seed": "18446744073709551615"}},
		{Gamma{Rate: 4, Shape: 0.5, Seed: 1}, "gamma", map[string]string{"rate": "4", "shape": "0.5", "seed": "1"}},
		{
			Stages{Stages: []Stage{{For: time.Minute, Rate: 10}, {For: time.Second, Rate: 10, Ramp: Linear, To: 50}}, Seed: 2},
			"stages", map[string]string{"stages": "10:1m0s,10..50:1s", "shape": "1", "seed": "2"},
		},
		{Stages{Stages: []Stage{{For: time.Second, Rate: 1}}, Shape: math.Inf(1)}, "stages", map[string]string{"stages": "1:1s", "shape": "+Inf", "seed": "0"}},
		{Replay{At: second}, "replay", map[string]string{"speed": "1", "requests": "2", "last": "1s", "checksum": "082ab3fd1d2bc17c"}},
		{Replay{At: second, Speed: 2.5}, "replay", map[string]string{"speed": "2.5", "requests": "2", "last": "1s", "checksum": "082ab3fd1d2bc17c"}},
	} {
		assert.Equal(t, c.process.Name(), c.name)
		assert.DeepEqual(t, c.process.Parameters(), c.parameters)
	}
	other := Replay{At: []time.Duration{1, time.Second}}
	assert.Assert(t, other.Parameters()["checksum"] != Replay{At: second}.Parameters()["checksum"])
}

// instants is a process whose instants are its own elements.
type instants []time.Duration

func (p instants) Times(int) ([]time.Duration, error) { return p, nil }
func (instants) Name() string                         { return "instants" }
func (instants) Parameters() map[string]string        { return nil }

func TestSchedule(t *testing.T) {
	got, err := Schedule(instants{0, 0, 5}, 3)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []time.Duration{0, 0, 5})
	for _, c := range []struct {
		process Process
		n       int
		want    string
	}{
		{instants{0, 1}, 3, "2 times for 3 requests"},
		{instants{-1, 1}, 2, "times out of order: want increasing times, from 0 on"},
		{instants{2, 1}, 2, "times out of order: want increasing times, from 0 on"},
		{Poisson{}, 1, "rate 0"},
	} {
		_, err := Schedule(c.process, c.n)
		assert.ErrorContains(t, err, c.want)
	}
}
