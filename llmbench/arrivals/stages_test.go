package arrivals

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestStages compares evenly spaced arrivals with instants that are computed by hand, to the nanosecond.
func TestStages(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		stages []Stage
		want   []time.Duration
	}{
		{[]Stage{{For: 2 * s, Rate: 2}}, []time.Duration{0, 500 * ms, s, 1500 * ms}},
		{[]Stage{{For: s, Rate: 2}, {For: s, Rate: 4}}, []time.Duration{0, 500 * ms, s, 1250 * ms, 1500 * ms, 1750 * ms}},
		{[]Stage{{For: s, Rate: 2}, {For: 3 * s}, {For: s, Rate: 1}}, []time.Duration{0, 500 * ms, 4 * s}}, // a pause
		{[]Stage{{For: 300 * ms, Rate: 2}, {For: 700 * ms, Rate: 2}}, []time.Duration{0, 500 * ms}},        // a part of a request carries over
		// With a ramp from 0, the n-th request comes at the square root of n: t^2/2 * 2/s^2.
		{[]Stage{{For: 3 * s, Ramp: Linear, To: 6}}, []time.Duration{0, s, 1414213562, 1732050808, 2 * s, 2236067977, 2449489743, 2645751311, 2828427125}},
		// With a ramp down to 0 there are as many requests. The schedule is mirrored: it begins with the
		// one that would come at the end.
		{[]Stage{{For: 3 * s, Rate: 6, Ramp: Linear}}, []time.Duration{0, 3*s - 2828427125, 3*s - 2645751311, 3*s - 2449489743, 3*s - 2236067977, s, 3*s - 1732050808, 3*s - 1414213562, 2 * s}},
		// 2^t requests per second: the n-th comes when 2^t = 1 + n ln 2.
		{[]Stage{{For: 3 * s, Rate: 1, Ramp: Exponential, To: 8}}, func() (all []time.Duration) {
			for n := range 11 { // 7/ln 2 = 10.1
				all = append(all, time.Duration(math.Round(1e9*math.Log2(1+float64(n)*math.Ln2))))
			}
			return all
		}()},
		{[]Stage{{For: 2 * s, Rate: 2, Ramp: Exponential, To: 2}}, []time.Duration{0, 500 * ms, s, 1500 * ms}},
		{[]Stage{{For: 2 * s, Rate: 2, To: 2}}, []time.Duration{0, 500 * ms, s, 1500 * ms}},
	} {
		arrivals := Stages{Stages: c.stages, Shape: math.Inf(1)}
		n, err := arrivals.Requests()
		assert.NilError(t, err)
		got, err := arrivals.Times(n)
		assert.NilError(t, err)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v.Times(%d) = %v; want %v", arrivals, n, got, c.want)
		}
	}
}

// TestStagesRandom checks the numbers of requests in each stage and in each second of a ramp,
// for several shapes, and that a seed always gives the same instants.
func TestStagesRandom(t *testing.T) {
	stages := []Stage{
		{For: 100 * time.Second, Rate: 20},
		{For: 100 * time.Second, Rate: 20, Ramp: Linear, To: 100},
		{For: 50 * time.Second},
		{For: 100 * time.Second, Rate: 100, Ramp: Exponential, To: 10},
		{For: 100 * time.Second, Rate: 10, Ramp: Linear, To: 70},
	}
	for _, shape := range []float64{0, 0.5, 4, math.Inf(1)} {
		for seed := range uint64(20) {
			a := Stages{Stages: stages, Shape: shape, Seed: seed}
			n, err := a.Requests()
			assert.NilError(t, err)
			assert.Equal(t, n, 2000+6000+int(math.Ceil(90/math.Ln10*100))+4000)
			times, err := Schedule(a, n)
			assert.NilError(t, err)
			again, err := a.Times(n)
			assert.NilError(t, err)
			assert.Assert(t, slices.Equal(times, again))
			in := func(from, to int) (n int) {
				for _, at := range times {
					if at >= time.Duration(from)*time.Second && at < time.Duration(to)*time.Second {
						n++
					}
				}
				return n
			}
			assert.Equal(t, in(200, 250), 0, "requests in the pause")
			assert.Equal(t, in(0, 450), n)
			for _, c := range []struct {
				from, to int
				want     float64
			}{
				{0, 100, 2000}, {100, 150, 1500 + 500}, {150, 200, 2500 + 1500}, {250, 300, (100 - math.Sqrt(1000)) / math.Ln10 * 100},
				{300, 350, (math.Sqrt(1000) - 10) / math.Ln10 * 100}, {400, 450, 2750},
			} {
				deviation := math.Sqrt(c.want) // standard deviation of a Poisson process
				switch {
				case math.IsInf(shape, 1):
					deviation = 0.5
				case shape != 0:
					deviation /= math.Sqrt(shape)
				}
				if got := float64(in(c.from, c.to)); math.Abs(got-c.want) > 4.5*deviation+1 {
					t.Errorf("shape %v, seed %d: %v requests in seconds %d to %d; want %.1f", shape, seed, got, c.from, c.to, c.want)
				}
			}
		}
	}
}

// TestStagesStay checks that the schedule of a seed does not change, like TestArrivalsStay.
func TestStagesStay(t *testing.T) {
	a := Stages{Stages: []Stage{{For: time.Second, Rate: 2}, {For: time.Second, Rate: 2, Ramp: Linear, To: 4}}, Seed: 1}
	got, err := a.Times(5)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []time.Duration{0, 680274091, 939368951, 1465684238, 1732050808})
}

func TestStagesErrors(t *testing.T) {
	two := []Stage{{For: time.Second, Rate: 10}, {For: time.Second, Rate: 5}}
	for _, c := range []struct {
		stages []Stage
		shape  float64
		n      int
		want   string
	}{
		{nil, 0, 1, "stages: none"},
		{two, 0, 16, "stages: 16 requests: want at most 15"},
		{two, 0, 0, "0 requests: want at least 1"},
		{two, -1, 15, "shape -1"},
		{[]Stage{{Rate: 1}}, 0, 1, "stage 1: for 0s: want above 0"},
		{[]Stage{{For: math.MaxInt64, Rate: 1}}, 0, 1, "stages: 9.223e+09 s in total: want at most 4.612e+09 s"},
		{[]Stage{{For: time.Second, Rate: math.NaN()}}, 0, 1, "stage 1: rate NaN to 0"},
		{[]Stage{{For: time.Second, Rate: 1, Ramp: Linear, To: math.Inf(1)}}, 0, 1, "rate 1 to +Inf"},
		{[]Stage{{For: time.Second, Rate: -1}}, 0, 1, "rate -1 to 0"},
		{[]Stage{{For: time.Second, Rate: 1, To: 2}}, 0, 1, "without a ramp"},
		{[]Stage{{For: time.Second, Rate: 1, Ramp: "steep", To: 2}}, 0, 1, `ramp "steep"`},
		{[]Stage{{For: time.Second, Ramp: Exponential, To: 2}}, 0, 1, "exponential ramp from rate 0 to 2"},
		{[]Stage{{For: time.Second, Rate: 1e300}}, 0, 1, "1e+300 requests: want at most 1e+09"},
	} {
		_, err := Stages{Stages: c.stages, Shape: c.shape}.Times(c.n)
		assert.ErrorContains(t, err, c.want)
	}
	// A schedule may have fewer requests than all stages together, but a pass must reach the last stage.
	for n := 1; n <= 15; n++ {
		times, err := Stages{Stages: two, Shape: math.Inf(1)}.Times(n)
		assert.NilError(t, err)
		assert.Equal(t, len(times), n)
		err = Stages{Stages: two}.CheckCount(n)
		if n > 10 {
			assert.NilError(t, err)
			assert.Equal(t, times[10], time.Second)
		} else {
			assert.ErrorContains(t, err, fmt.Sprintf("stages: %d requests end before the last of 2 stages: want 11 to 15", n))
		}
	}
	err := Stages{Stages: append(two, Stage{For: time.Second})}.CheckCount(15)
	assert.ErrorContains(t, err, "stages: the last one has no request: want a rate above 0")
}

func TestParseStages(t *testing.T) {
	got, err := ParseStages("10:1m, 10..50:90s,50..5:1m:exp,0:5s,0..1e1:5s")
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []Stage{
		{For: time.Minute, Rate: 10},
		{For: 90 * time.Second, Rate: 10, Ramp: Linear, To: 50},
		{For: time.Minute, Rate: 50, Ramp: Exponential, To: 5},
		{For: 5 * time.Second},
		{For: 5 * time.Second, Ramp: Linear, To: 10},
	})
	assert.Equal(t, Stages{Stages: got[:2]}.MeanRate(), (600+2700)/150.0)
	for _, text := range []string{"", "10", "10:", ":1m", "x:1m", "10:1", "10:1m:exp", "10..:1m", "10..x:1m", "-1:1m", "10:-1m", "10:1m,", "0..5:1m:exp", "10:1m:lin", "NaN:1m", "1e9:1h"} {
		if got, err := ParseStages(text); err == nil {
			t.Errorf("ParseStages(%q) = %+v; want an error", text, got)
		}
	}
}

func FuzzParseStages(f *testing.F) {
	f.Add("10:1m,10..50:90s,50..5:1m:exp", 0.5)
	f.Add("0..3:1s,0:1s,1:1s", math.Inf(1))
	f.Add("1e-3..1e-4:1h:exp", 0.0)
	f.Fuzz(func(t *testing.T, text string, shape float64) {
		stages, err := ParseStages(text)
		if err != nil {
			return
		}
		var again []string
		for _, g := range stages {
			again = append(again, g.String())
		}
		if same, err := ParseStages(strings.Join(again, ",")); err != nil || !slices.Equal(same, stages) {
			t.Errorf("%q is %q, which is %v, %v", text, again, same, err)
		}
		a := Stages{Stages: stages, Shape: shape}
		n, err := a.Requests()
		if err != nil || n < 1 {
			t.Fatalf("%q holds %d requests, %v", text, n, err)
		}
		if n > 1e4 {
			return
		}
		times, err := Schedule(a, n)
		if err != nil { // an invalid shape, or a pause at the end
			return
		}
		var length time.Duration
		for _, g := range stages {
			length += g.For
		}
		if times[n-1] > length {
			t.Errorf("%+v: the last at %v of %v", a, times[n-1], length)
		}
	})
}
