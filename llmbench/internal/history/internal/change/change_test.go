package change

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"
)

func indexes(points []Point) []int {
	all := []int{}
	for _, p := range points {
		all = append(all, p.Index)
	}
	return all
}

// simulated returns n values with 2 % noise. From index at on, they are larger by the share step.
func simulated(seed uint64, n, at int, step float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 100 * (1 + 0.02*rng.NormFloat64())
		if i >= at {
			xs[i] *= 1 + step
		}
	}
	return xs
}

var defaults = Options{Window: 50, P: 0.0005, Min: 0.01}

func TestStepsArePlaced(t *testing.T) {
	placed, quiet := 0, 0
	for seed := range uint64(500) {
		at := 10 + int(seed%40)
		points := Points(simulated(seed, 60, at, 0.05), defaults)
		for _, p := range points {
			if p.Index >= at-2 && p.Index <= at+2 {
				placed++
				break
			}
		}
		if len(Points(simulated(seed, 60, 0, 0), defaults)) == 0 {
			quiet++
		}
	}
	t.Logf("of 500 series of 60 commits: a step of 5 %% is within 2 commits in %d, and none is found in %d without a step", placed, quiet)
	assert.Check(t, placed >= 450)
	assert.Check(t, quiet >= 475)
}

func TestShortSeries(t *testing.T) {
	for n := range 4 {
		for _, xs := range [][]float64{make([]float64, n), []float64{1, 2, 3}[:min(n, 3)]} {
			assert.Equal(t, len(Points(xs, defaults)), 0, fmt.Sprint(xs))
		}
	}
	assert.DeepEqual(t, indexes(Points([]float64{1, 1, 1, 2, 2, 2}, defaults)), []int{3})
}

// BenchmarkPoints finds the change points of 10,000 values that change after every 100.
func BenchmarkPoints(b *testing.B) {
	xs := simulated(1, 10000, 0, 0)
	for i := range xs {
		if i/100%2 == 1 {
			xs[i] *= 1.05
		}
	}
	for b.Loop() {
		Points(xs, defaults)
	}
	b.ReportMetric(float64(len(xs)*b.N)/b.Elapsed().Seconds(), "points/s")
}
